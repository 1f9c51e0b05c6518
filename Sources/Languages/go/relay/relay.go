// Package relay signs requests of a self-hosted server to the relay of its app's publisher: Docs/Relay.md of the project.
//
//	public, key, err := ed25519.GenerateKey(nil) // once; public goes into AcceptOptions.PushKey
//	message, err := relay.NewMessage(push)
//	request, err := relay.NewRequest("https://push.example.com", key, []relay.Message{message}, time.Time{})
//
// Post it, follow no redirect, and wait for 30 seconds. Post only to origins in your own configuration.
package relay

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
)

const (
	path         = "/v1/push"
	answersPath  = "/v1/answers/take"
	label        = "pushcrypt/1 relay request\x00"
	mostMessages = 45
	mostDone     = 200
	longestWait  = 25 * time.Second
)

var origins = regexp.MustCompile(`^https?://[a-z0-9.:\[\]-]{1,247}$`)

// A Message is one push, as a relay takes it.
type Message struct {
	// Grant is the device's.
	Grant string `json:"grant"`
	// Data is the envelope.
	Data string `json:"data"`
	// Kind is "alert" or "background".
	Kind string `json:"kind,omitempty"`
	// Priority is 10, 5 or 1; 0 for the kind's own.
	Priority int `json:"priority,omitempty"`
	// Expiration is until when APNs keeps the push, in seconds since 1970; 0 for one attempt.
	Expiration int64 `json:"expiration,omitempty"`
	// CollapseID has 1 to 64 visible ASCII characters; "" for none.
	CollapseID string `json:"collapse_id,omitempty"`
	// Sound is one that the publisher configured, such as "default"; "" for none.
	Sound string `json:"sound,omitempty"`
	// ContentAvailable wakes the app as well.
	ContentAvailable bool `json:"content_available,omitempty"`
}

// Format prints no grant, whatever the verb.
func (message Message) Format(state fmt.State, _ rune) { fmt.Fprint(state, "relay message") }

// NewMessage makes a message of a push that was sealed for a device with a grant. The relay writes what the phone shows if it cannot open the push:
// of the placeholder only the sound is used. (push-type-not-sealable for a call, invalid-request without a grant)
func NewMessage(push *pushcrypt.Push) (Message, error) {
	if push == nil || push.Grant == "" {
		return Message{}, refuse(pushcrypt.InvalidRequest, "there is no push, or the device has no grant: wait for its next record")
	}
	kind := string(push.PushType)
	if kind != "alert" && kind != "background" {
		return Message{}, refuse(pushcrypt.PushTypeNotSealable, "a relay passes alerts and background pushes on, and no calls")
	}
	message := Message{Grant: push.Grant, Data: push.Envelope, Kind: kind, Priority: push.Priority, CollapseID: push.CollapseID}
	if !push.Expiration.IsZero() {
		message.Expiration = push.Expiration.Unix()
	}
	if kind == "alert" {
		var clear struct {
			APS struct {
				Sound            any  `json:"sound"`
				ContentAvailable *any `json:"content-available"`
			} `json:"aps"`
		}
		if err := json.Unmarshal(push.Payload, &clear); err != nil {
			return Message{}, refuse(pushcrypt.MalformedPayload, "the push is not what Seal returned")
		}
		message.Sound, _ = clear.APS.Sound.(string)
		message.ContentAvailable = clear.APS.ContentAvailable != nil
	}
	return message, nil
}

// A Request is a signed POST.
type Request struct {
	// URL is the relay's.
	URL string
	// Header has the push key, the time and the signature.
	Header http.Header
	// Body is sent unchanged.
	Body []byte
}

// Format prints no grant, whatever the verb.
func (request Request) Format(state fmt.State, _ rune) { fmt.Fprint(state, "request to ", request.URL) }

// NewRequest signs a request with 1 to 45 messages by a push key. The zero time is now; after the refusal "clock" add the difference that its
// "now" shows. (invalid-request, unusable-key, invalid-time)
func NewRequest(origin string, key ed25519.PrivateKey, messages []Message, at time.Time) (*Request, error) {
	if len(messages) < 1 || len(messages) > mostMessages {
		return nil, refuse(pushcrypt.InvalidRequest, fmt.Sprintf("a request has 1 to %d messages, not %d", mostMessages, len(messages)))
	}
	return post(origin, path, key, map[string][]Message{"messages": messages}, at)
}

// NewAnswersRequest signs a request for the answers that phones have left for a push key, texts for AnswerOpener.Open. If there are none, the relay
// waits for up to 25 seconds; allow that much more for the response. The relay forgets the texts in done, up to 200 of the last response; others come
// again, for an hour. (invalid-request, unusable-key, invalid-time)
func NewAnswersRequest(origin string, key ed25519.PrivateKey, wait time.Duration, done []string, at time.Time) (*Request, error) {
	if wait < 0 || wait > longestWait || len(done) > mostDone {
		return nil, refuse(pushcrypt.InvalidRequest, fmt.Sprintf("a relay waits for 0 to %v, and up to %d texts are done", longestWait, mostDone))
	}
	names := make([]string, len(done))
	for index, text := range done {
		hash := sha256.Sum256([]byte(text))
		names[index] = core.Encode(hash[:16])
	}
	type content struct {
		Wait int64    `json:"wait"`
		Done []string `json:"done"`
	}
	return post(origin, answersPath, key, content{int64(wait / time.Second), names}, at)
}

func post(origin, path string, key ed25519.PrivateKey, content any, at time.Time) (*Request, error) {
	if !origins.MatchString(origin) {
		return nil, refuse(pushcrypt.InvalidRequest, "the origin is not like https://push.example.com: lower case, without a path")
	}
	if len(key) != ed25519.PrivateKeySize {
		return nil, refuse(pushcrypt.UnusableKey, "there is no push key")
	}
	public := ed25519.PublicKey(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
	if at.IsZero() {
		at = time.Now()
	}
	if at.UnixMilli() < 0 || at.UnixMilli() > format.LargestTime {
		return nil, refuse(pushcrypt.InvalidTime, "the time is before 1970 or too late; set the clock")
	}
	body, err := json.Marshal(content)
	if err != nil {
		return nil, refuse(pushcrypt.InvalidRequest, "a message is no JSON")
	}
	signature := ed25519.Sign(key, signed(origin, path, public, uint64(at.UnixMilli()), body))
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("Pushcrypt-Key", core.Encode(public))
	header.Set("Pushcrypt-Time", strconv.FormatInt(at.UnixMilli(), 10))
	header.Set("Pushcrypt-Signature", core.Encode(signature))
	return &Request{origin + path, header, body}, nil
}

func signed(origin, path string, key []byte, at uint64, body []byte) []byte {
	hash := sha256.Sum256(body)
	message := core.AppendText(core.AppendText([]byte(label), origin), path)
	message = binary.BigEndian.AppendUint64(append(message, key...), at)
	return append(message, hash[:]...)
}

func refuse(code pushcrypt.Code, text string) error { return &pushcrypt.Error{Code: code, Text: text} }
