package pushcrypttest

import (
	"crypto/subtle"
	"strings"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
)

// A PairingCode is a code as a phone reads it: Docs/FormatPairing.md. The app shows the host of its URL and asks the user, posts what Request
// returns there, and follows no redirect.
type PairingCode struct {
	// URL is where to post.
	URL string

	exchange    core.PairingExchange
	fingerprint []byte
}

// ParsePairingCode reads a code. (invalid-request, wrong-topic)
func ParsePairingCode(text, topic string) (*PairingCode, error) {
	code, url, _ := strings.Cut(strings.TrimPrefix(text, "pushcrypt:1?"), "&")
	data := core.Decode(code)
	if !strings.HasPrefix(text, "pushcrypt:1?") || len(data) != 33 || data[0] != 1 || !core.IsPairingURL(url) {
		return nil, refuse(pushcrypt.InvalidRequest, "this is not the code of a server")
	}
	if !core.IsTopic(topic) {
		return nil, refuse(pushcrypt.WrongTopic, "the topic is not a bundle id")
	}
	return &PairingCode{url, core.NewPairingExchange(data[1:17], url, topic, data[17:]), data[17:]}, nil
}

// Request returns what to post; after a lost reply post the same again. (malformed-record)
func (code *PairingCode) Request(record *pushcrypt.DeviceRecord) (string, error) {
	text, err := record.MarshalJSON()
	return code.seal(text, core.Random(16)), err
}

func (code *PairingCode) seal(record, salt []byte) string {
	return core.Encode(code.exchange.SealRequest(record, salt))
}

// Open opens what came back with status 200. (malformed-envelope, malformed-record, and authentication-failed, also for a reply to another
// request or of another provider key [P-8])
func (code *PairingCode) Open(request, reply string) (*pushcrypt.Reply, error) {
	asked, sealed := core.DecodePairing([]byte(request)), core.DecodePairing([]byte(reply))
	if asked == nil || sealed == nil {
		return nil, refuse(pushcrypt.MalformedEnvelope, "this is not the base64url of a reply")
	}
	text := code.exchange.OpenReply(asked, sealed)
	if text == nil {
		return nil, refuse(pushcrypt.AuthenticationFailed, "the reply was changed, or is to another request")
	}
	found, err := pushcrypt.ParseReply(text)
	if err != nil {
		return nil, err
	}
	isRight := found.Refused != ""
	if !found.Provider.IsZero() {
		isRight = subtle.ConstantTimeCompare(core.PairingFingerprint(found.Provider.Bytes()), code.fingerprint) == 1
	}
	if !isRight {
		return nil, refuse(pushcrypt.AuthenticationFailed, "the reply does not have the provider key of the code")
	}
	return found, nil
}
