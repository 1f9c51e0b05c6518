package pushcrypt

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"time"

	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
)

const pairingLife = 10 * time.Minute

// A Pairing is a code for one phone, and what came of it, as a server without accounts stores it: Docs/FormatPairing.md. Its JSON has the
// secret, so only the server may read it. It is not printed. NewPairing makes one; the zero value opens nothing.
type Pairing struct {
	// Provider is the provider key that the code names.
	Provider ProviderPublicKey
	// URL is where the phone posts, and Topic the app's bundle id.
	URL, Topic string
	// Created is when the code was made. It ends 10 minutes later [P-3].
	Created time.Time
	// Claimed is when a phone paired; the zero time before. Its answer ends 10 minutes later [P-6].
	Claimed time.Time
	// Device is the id of the device that paired.
	Device string

	reply  string
	secret []byte
}

// NewPairing makes a code. The url is https, or http to localhost or a private, link-local or loopback address [P-2]. The zero time is now.
// (invalid-request, wrong-topic, unusable-key, invalid-time)
func NewPairing(provider ProviderPublicKey, url, topic string, at time.Time) (*Pairing, error) {
	now, err := pairingTime(at)
	switch {
	case err != nil:
		return nil, err
	case !core.IsPairingURL(url):
		return nil, refuse(InvalidRequest, "the url is not https, or http to a private address, without user and fragment")
	case !core.IsTopic(topic):
		return nil, refuse(WrongTopic, "the topic is not a bundle id: 1 to 255 ASCII letters, digits, '.' and '-'")
	case provider.IsZero():
		return nil, refuse(UnusableKey, "there is no provider key: this is the zero value")
	}
	return &Pairing{Provider: provider, URL: url, Topic: topic, Created: now, secret: core.Random(core.PairingSecret)}, nil
}

// ParsePairing reads what MarshalJSON wrote. (malformed-record, or the code of a key)
func ParsePairing(data []byte) (*Pairing, error) {
	fields := newFields(data, MalformedRecord)
	secret := core.Decode(fields.checked("secret", regexp.MustCompile(`^[A-Za-z0-9_-]{21}[AQgw]$`).MatchString))
	pairing := &Pairing{URL: fields.checked("url", core.IsPairingURL), Topic: fields.checked("topic", core.IsTopic), secret: secret}
	for _, name := range []string{"secret", "url", "topic", "provider", "created"} {
		fields.require(fields.has(name), name)
	}
	pairing.Created, pairing.Device, pairing.reply = fields.created(), fields.text("device"), fields.text("reply")
	if fields.has("claimed") {
		pairing.Claimed = core.Time(fields.number("claimed", 0))
	}
	fields.require(fields.has("claimed") == fields.has("device") && fields.has("device") == fields.has("reply"), "the claim")
	pairing.Provider = read(fields, "provider", ParseProviderPublicKey)
	if fields.err == nil && fields.has("reply") {
		_, fields.err = ParseReply([]byte(pairing.reply))
	}
	return pairing, fields.err
}

// MarshalJSON returns what to store. Delete it when the code has ended.
func (pairing Pairing) MarshalJSON() ([]byte, error) {
	var output jsontext.Output
	output.Add("secret", core.Encode(pairing.secret))
	output.Add("url", pairing.URL)
	output.Add("topic", pairing.Topic)
	output.Add("provider", pairing.Provider.String())
	output.Add("created", pairing.Created)
	output.Add("claimed", pairing.Claimed)
	output.Add("device", pairing.Device)
	output.Add("reply", pairing.reply)
	_, err := ParsePairing(output.Bytes())
	return output.Bytes(), err
}

// UnmarshalJSON is ParsePairing.
func (pairing *Pairing) UnmarshalJSON(data []byte) error {
	return unmarshal(pairing, data, ParsePairing)
}

// ID returns what PairingID finds in the phone's request, 16 hexadecimal digits.
func (pairing Pairing) ID() string { return hex.EncodeToString(pairing.exchange().ID()) }

// Code returns the text for a QR code. Anyone who sees it can pair: show it to its user alone.
func (pairing Pairing) Code() string {
	data := append(append([]byte{1}, pairing.secret...), core.PairingFingerprint(pairing.Provider.Bytes())...)
	return "pushcrypt:1?" + core.Encode(data) + "&" + pairing.URL
}

// Format prints the id, whatever the verb.
func (pairing Pairing) Format(state fmt.State, _ rune) { fmt.Fprint(state, "pairing ", pairing.ID()) }

func (pairing Pairing) exchange() core.PairingExchange {
	return core.NewPairingExchange(pairing.secret, pairing.URL, pairing.Topic, core.PairingFingerprint(pairing.Provider.Bytes()))
}

// PairingID returns the id of the pairing that a phone's request names. Answer 404 if there is none. (malformed-envelope)
func PairingID(body []byte) (string, error) {
	request := core.DecodePairing(body)
	if request == nil {
		return "", errPairing()
	}
	return hex.EncodeToString(request[:core.PairingID]), nil
}

// A PairingRequest is what a phone posted, once it was opened.
type PairingRequest struct {
	// Record is for Accept; nil if only Answer is left to send: another phone has the code, or the record breaks a rule.
	Record *DeviceRecord
	// Answer is what to answer with status 200, if that is decided, or "". The phone that has paired has one too, and in its Record perhaps
	// a grant.
	Answer string

	pairing Pairing
	request []byte
	at      time.Time
}

// Format prints the pairing's id, whatever the verb.
func (request PairingRequest) Format(state fmt.State, _ rune) {
	fmt.Fprint(state, "request of ", request.pairing)
}

// Open opens what a phone posted. The zero time is now. Answer 404 if it fails, and change nothing [P-4]. (malformed-envelope,
// authentication-failed, invalid-time, or expired for a code that has ended)
//
// If Record is not nil, refuse it with UserMismatch if Answer is "" and you have the device already, unless your operator said that it was set
// up again [P-9]; otherwise give it to Accept. In the transaction in which you read the pairing, store the device and what Seal returns.
func (pairing Pairing) Open(body []byte, at time.Time) (*PairingRequest, error) {
	now, err := pairingTime(at)
	if err != nil {
		return nil, err
	}
	request, start := core.DecodePairing(body), pairing.Created
	if request == nil {
		return nil, errPairing()
	}
	if !pairing.Claimed.IsZero() {
		start = pairing.Claimed
	}
	if !now.Before(start.Add(pairingLife)) {
		return nil, refuse(Expired, "the code has ended")
	}
	plain := pairing.exchange().OpenRequest(request)
	if plain == nil {
		return nil, refuse(AuthenticationFailed, "the request was changed, or is of another code")
	}
	opened := &PairingRequest{pairing: pairing, request: request, at: now}
	record, err := ParseDeviceRecord(plain)
	text := pairing.reply
	switch {
	case err != nil || record.Device == "":
		text = `{"version":1,"refused":"malformed-record"}`
	case text != "" && !pairing.isOf(record):
		text = `{"version":1,"refused":"pairing-used"}`
	default:
		opened.Record = record
	}
	if text != "" {
		opened.Answer = opened.seal(text)
	}
	return opened, nil
}

// isOf tells whether a record is of the phone that has paired.
func (pairing Pairing) isOf(record *DeviceRecord) bool {
	reply, err := ParseReply([]byte(pairing.reply))
	return err == nil && record.Device == pairing.Device && record.PublicKey == reply.Acknowledged
}

// Seal returns the pairing to store in the transaction that stores the device [P-5], and what to answer then. A refusal leaves the code open. If
// there was an Answer, that is it, whatever the reply. (invalid-request if the reply does not acknowledge the record with the code's provider
// key [P-7], malformed-record)
func (request *PairingRequest) Seal(reply *Reply) (*Pairing, string, error) {
	pairing := request.pairing
	if request.Answer != "" || request.Record == nil {
		return &pairing, request.Answer, nil
	}
	text, err := reply.MarshalJSON()
	if err != nil {
		return nil, "", err
	}
	if reply.Refused == "" {
		if reply.Acknowledged != request.Record.PublicKey || reply.Provider != pairing.Provider {
			return nil, "", refuse(InvalidRequest, "the reply does not have the key of the record, or the provider key of the code")
		}
		pairing.Claimed, pairing.Device, pairing.reply = request.at, request.Record.Device, string(text)
	}
	return &pairing, request.seal(string(text)), nil
}

func (request *PairingRequest) seal(text string) string {
	return core.Encode(request.pairing.exchange().SealReply(request.request, []byte(text)))
}

func pairingTime(at time.Time) (time.Time, error) {
	now, ok := core.Milliseconds(at)
	if !ok || now > format.LargestTime {
		return at, refuse(InvalidTime, "the clock is before 1970, or far ahead")
	}
	return core.Time(now), nil
}

func errPairing() error {
	return refuse(MalformedEnvelope, "this is not the base64url of a request, or it is too long")
}
