package pushcrypt

import (
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"regexp"
	"time"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
	"example.com/pushcrypt/Sources/Languages/go/internal/jsontext"
)

// answerLife is for how long a message can be answered, in milliseconds.
const answerLife = 31 * 86_400_000

// An AnswerSecret is what a provider has to open answers, 32 random bytes for each app: Docs/FormatRecords.md, "Answers". A thief of it
// reads and forges answers, but no messages. It is not printed.
type AnswerSecret struct{ bytes []byte }

// GenerateAnswerSecret creates a secret from the system's random source.
func GenerateAnswerSecret() *AnswerSecret { return &AnswerSecret{core.Random(32)} }

// NewAnswerSecret creates a secret from its 32 bytes. (malformed-key)
func NewAnswerSecret(secret []byte) (*AnswerSecret, error) {
	if len(secret) != 32 {
		return nil, refuse(MalformedKey, fmt.Sprintf("an answer secret has 32 bytes, not %d", len(secret)))
	}
	return &AnswerSecret{append([]byte(nil), secret...)}, nil
}

// SecretBytes returns the 32 bytes, nil for no secret: store them where only the provider reads them.
func (secret *AnswerSecret) SecretBytes() []byte {
	if secret == nil {
		return nil
	}
	return append([]byte(nil), secret.bytes...)
}

// Format prints nothing of the secret, whatever the verb.
func (secret AnswerSecret) Format(state fmt.State, _ rune) { fmt.Fprint(state, "answer secret") }

// member returns the member answer of a payload.
func (secret *AnswerSecret) member(device []byte, topic string, id MessageID, sentAt uint64) string {
	answerID := core.AnswerID(secret.bytes, device, topic, id[:], sentAt)
	return core.Encode(append(answerID[:16:16], core.AnswerKey(secret.bytes, device, topic, answerID)...))
}

// WithAnswers lets the phone answer the message: see OpenAnswer. The name of the message is then never used for another payload.
func WithAnswers(secret *AnswerSecret) Option {
	if secret == nil {
		secret = &AnswerSecret{}
	}
	return func(m *message) { m.answers = secret }
}

// An Answer is what a user did with a notification. It proves nothing to others.
type Answer struct {
	// Device is the key of the device that answered.
	Device DevicePublicKey
	// MessageID is that of the Push.
	MessageID MessageID
	// SentAt is when the message was sealed.
	SentAt time.Time
	// Action is the action's id.
	Action string
	// Text is what the user typed; nil for nothing.
	Text *string
	// At is when the user answered, by the phone's clock.
	At time.Time
}

// An AnswerOpener opens the answers of an app.
type AnswerOpener struct {
	// Topic is the app's bundle id.
	Topic string
	// Secrets are the app's secret, and for 32 days those before it.
	Secrets []*AnswerSecret
	// Devices are the keys of the device, or of all devices, the replaced ones for 32 days.
	Devices []DevicePublicKey
	// Within is the time after sealing in which an answer counts, such as 10 minutes for an approval; 0 for 31 days.
	Within time.Duration
}

var hexID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Open opens an answer, the text that the app sent. The zero time is now. Nothing is kept: a caller that wants one answer keeps the first of a
// message. (malformed-envelope, unsupported-message, unknown-recipient-key, authentication-failed, malformed-payload, expired)
func (opener AnswerOpener) Open(text string, at time.Time) (*Answer, error) {
	now, err := timeOrNow(at)
	if err != nil {
		return nil, err
	}
	if err := checkTopic(opener.Topic); err != nil {
		return nil, err
	}
	answer := core.Decode(text)
	if !core.IsAnswerLength(len(answer)) {
		return nil, refuse(MalformedEnvelope, "the answer was cut, encoded again, or has a wrong length")
	}
	if answer[0] != 1 {
		return nil, refuse(UnsupportedMessage, "the answer is of a later version; update this package")
	}
	code, advice := UnknownRecipientKey, "the answer is from a device whose key is not given"
	for _, device := range opener.Devices {
		if device.IsZero() || device.ID() != hex.EncodeToString(answer[17:21]) {
			continue
		}
		code, advice = AuthenticationFailed, "the answer was changed, or is of another app or secret"
		for _, secret := range opener.Secrets {
			if secret == nil || len(secret.bytes) == 0 {
				return nil, refuse(UnusableKey, "there is no answer secret: this is nil or the zero value")
			}
			if plain := core.OpenAnswer(core.AnswerKey(secret.bytes, device.Bytes(), opener.Topic, answer[1:17]), answer); plain != nil {
				return opener.read(secret, device, answer[1:17], plain, now)
			}
		}
	}
	return nil, refuse(code, advice)
}

func (opener AnswerOpener) read(secret *AnswerSecret, device DevicePublicKey, id, plain []byte, now uint64) (*Answer, error) {
	text := core.UnpadAnswer(plain)
	if text == nil {
		return nil, refuse(AuthenticationFailed, "the answer's length or padding is wrong")
	}
	members, err := jsontext.ParseObject(text)
	if err != nil {
		return nil, refuse(MalformedPayload, "the answer is not a JSON object by the rules of the format")
	}
	name, _ := members["message_id"].(string)
	action, _ := members["action"].(string)
	sentAt, isSent := jsontext.Integer(members["sent_at"], format.LargestTime)
	answered, isAt := jsontext.Integer(members["at"], format.LargestTime)
	reply, isText := members["text"].(string)
	hasText := members["text"] != nil
	if !hexID.MatchString(name) || len(action) < 1 || len(action) > core.LongestAction || !isSent || !isAt || hasText != isText {
		return nil, refuse(MalformedPayload, "a member of the answer is missing, or has another form")
	}
	made := &Answer{Device: device, SentAt: core.Time(sentAt), Action: action, At: core.Time(answered)}
	hex.Decode(made.MessageID[:], []byte(name))
	if hasText {
		made.Text = &reply
	}
	// A key of another message opens no answer to this one.
	if subtle.ConstantTimeCompare(core.AnswerID(secret.bytes, device.Bytes(), opener.Topic, made.MessageID[:], sentAt), id) != 1 {
		return nil, refuse(AuthenticationFailed, "the answer is to another message")
	}
	life := uint64(answerLife)
	if within := uint64(opener.Within.Milliseconds()); opener.Within > 0 && within < life {
		life = within
	}
	// A negative time is one that has passed, such as that until a deadline.
	if opener.Within < 0 || now > sentAt+life {
		return nil, refuse(Expired, "the time for an answer to this message has ended")
	}
	return made, nil
}
