package pushcrypt

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"log"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/pushcrypt/internal/jsontext"
	"example.com/pushcrypt/internal/vector"
)

// A Sealer seals payloads for the devices of one app. Any number of goroutines may use one.
type Sealer struct {
	signing     *signing
	topic       string
	placeholder Placeholder
}

// NewSealer creates a sealer for an app's bundle id, without a suffix such as .voip, of which the standard logger is told.
//
// The signer is a *ProviderKey, or from epoch 1 on a *Credential. Either key may be elsewhere, such as in a key service: it is a crypto.Signer
// then, which gives one signature here. Each of its signatures is checked.
func NewSealer(signer crypto.Signer, topic string, placeholder Placeholder) (*Sealer, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	if strings.HasSuffix(topic, ".voip") {
		log.Print("pushcrypt: the topic is the app's bundle id, without .voip; phones would not open this")
	}
	if err := placeholder.check(); err != nil {
		return nil, err
	}
	own, err := newSigning(signer)
	if err != nil {
		return nil, err
	}
	if !own.certificate.IsZero() {
		if err := own.certificate.check(own.provider, topic); err != nil {
			return nil, err
		}
	}
	return &Sealer{own, topic, placeholder}, nil
}

// Provider returns the provider key that phones have pinned.
func (sealer *Sealer) Provider() ProviderPublicKey { return sealer.signing.provider }

// Topic returns the app's bundle id.
func (sealer *Sealer) Topic() string { return sealer.topic }

// Format prints no secret, whatever the verb.
func (sealer Sealer) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "Sealer(%s, %s)", sealer.signing.provider, sealer.topic)
}

// A SealedPush is what to send to Apple instead of the original payload.
type SealedPush struct {
	// Payload is the complete JSON, the body of the request.
	Payload []byte
	// Envelope is the value of ENCRYPTED_DATA, for clients that write aps themselves.
	Envelope  string
	MessageID MessageID
	Recipient DevicePublicKey
	PushType  PushType
	// ExpiresAt is the last millisecond at which a phone shows the message.
	ExpiresAt time.Time
	// Widest is the length of the longest form that a client may re-encode the payload to.
	Widest int
}

// Fingerprint names the envelope in logs, also in the phone's.
func (push *SealedPush) Fingerprint() string { return Fingerprint(push.Envelope) }

// message is what options say of one message.
type message struct {
	pushType    PushType
	name        *string
	timeToLive  time.Duration
	at          time.Time
	attachments []Reference
	fullBody    *Reference
	person      *Person
	withdrawing []string
	isDropped   bool
	sentExactly bool
}

// An Option of one message.
type Option func(*message)

// WithPushType says what the push will be sent as, by default Alert.
func WithPushType(pushType PushType) Option { return func(m *message) { m.pushType = pushType } }

// WithName names the message, the same in every retry, so that a phone shows it once. Without it each is new.
func WithName(name string) Option { return func(m *message) { m.name = &name } }

// WithTimeToLive says for how long phones show the message, whole seconds, by default the most, 30 days. Unless it is a call, the end is
// rounded up to ten minutes, because the relay reads apns-expiration.
func WithTimeToLive(duration time.Duration) Option {
	return func(m *message) { m.timeToLive = duration }
}

// WithTime says when the message is sent, by default now.
func WithTime(at time.Time) Option { return func(m *message) { m.at = at } }

// WithAttachments adds files, at most 8, already stored. They are part of the encrypted payload, and of its size.
func WithAttachments(references ...Reference) Option {
	return func(m *message) { m.attachments = append(m.attachments, references...) }
}

// WithFullBody adds the whole text, if the payload's own body is only its beginning.
func WithFullBody(reference Reference) Option { return func(m *message) { m.fullBody = &reference } }

// WithPerson says whom the notification is from.
func WithPerson(person Person) Option { return func(m *message) { m.person = &person } }

// Withdrawing names earlier messages to this device that it takes off the screen, at most 64.
func Withdrawing(names ...string) Option {
	return func(m *message) { m.withdrawing = append(m.withdrawing, names...) }
}

// Dropped says that nothing is to be shown.
func Dropped() Option { return func(m *message) { m.isDropped = true } }

// SentExactly says that the client sends the payload byte for byte, so that its own length counts.
func SentExactly() Option { return func(m *message) { m.sentExactly = true } }

// SealValue seals a payload that is a value, written by encoding/json. A value that this would change, a string that is not UTF-8, is
// refused, and so are equal names.
func (sealer *Sealer) SealValue(payload any, device DevicePublicKey, options ...Option) (*SealedPush, error) {
	data, err := jsontext.Encode(payload, 0)
	if err != nil {
		return nil, refuse(MalformedPayload, err.Error())
	}
	return sealer.Seal(data, device, options...)
}

// Seal seals an APNs payload for one device. The JSON is kept byte for byte, but for white space between tokens.
func (sealer *Sealer) Seal(payload []byte, device DevicePublicKey, options ...Option) (*SealedPush, error) {
	message := message{pushType: Alert, timeToLive: longestTimeToLive * time.Second}
	for _, option := range options {
		option(&message)
	}
	limit, largest, err := message.pushType.limits()
	if err != nil {
		return nil, err
	}
	if device.Suite() != suiteNumber {
		return nil, refuse(UnsupportedSuite, "the key is of suite 2, to which this package does not seal")
	}
	sentAt, ok := milliseconds(message.at)
	seconds := message.timeToLive / time.Second
	if !ok || sentAt > largestTime || seconds*time.Second != message.timeToLive || seconds < 1 || seconds > longestTimeToLive {
		return nil, refuse(InvalidTime, "the time to live is 1 second to 30 days, whole seconds, and the clock after 1970")
	}
	checked, err := newPayload(payload, message.pushType)
	if err != nil {
		return nil, err
	}
	body, err := message.body(sealer.signing.certificate, checked.json)
	if err != nil {
		return nil, err
	}
	bucket := 0
	for _, size := range buckets {
		if bodyOffset+len(body) <= size && size <= largest {
			bucket = size
			break
		}
	}
	if bucket == 0 {
		return nil, refuse(PayloadTooLarge, fmt.Sprintf(
			"the payload, with attachments and certificate, has %d bytes, %d too many", len(body), len(body)+bodyOffset-largest))
	}
	clear := sealer.placeholder.clearPart(checked, message.pushType)
	textLength := base64.RawURLEncoding.EncodedLen(outsideLength + bucket)
	widest := widestLength(string(clear)+clearEnd) + textLength
	length := widest
	if message.sentExactly {
		length = len(clear) + len(clearEnd) + textLength
	}
	if length > limit {
		return nil, refuse(PushTooLarge, fmt.Sprintf("the push would have up to %d bytes, over %d; shorten the placeholder", length, limit))
	}
	life := roundedTimeToLive(sentAt, uint64(seconds), message.pushType)
	id, err := sealer.messageID(&message, body, sentAt)
	if err != nil {
		return nil, err
	}
	envelope, err := sealer.encrypt(message.content(sealer.signing.certificate, body, id, sentAt, life, bucket), device)
	if err != nil {
		return nil, err
	}
	json := append(append(clear, envelope...), clearEnd...)
	return &SealedPush{json, envelope, id, device, message.pushType, timeOf(sentAt + 1000*life), widest}, nil
}

// body returns the certificate, then the payload with the member pushcrypt.
func (m *message) body(certificate Certificate, payload []byte) ([]byte, error) {
	var body []byte
	if !certificate.IsZero() {
		body = certificate.Bytes()
	}
	reserved, err := m.reserved()
	if err != nil {
		return nil, err
	}
	body = append(body, payload...)
	if len(reserved) == 0 {
		return body, nil
	}
	// The payload has aps, so it is not empty.
	return append(append(append(body[:len(body)-1], `,"pushcrypt":{`...), reserved...), "}}"...), nil
}

// reserved returns the members of pushcrypt.
func (m *message) reserved() ([]byte, error) {
	var output []byte
	next := func(text string) {
		if len(output) > 0 {
			output = append(output, ',')
		}
		output = append(output, text...)
	}
	if len(m.attachments) > mostAttachments {
		return nil, refuse(TooManyAttachments, "a notification has at most 8 attachments")
	}
	references := append([]Reference(nil), m.attachments...)
	if m.fullBody != nil {
		if err := checkFullBody(*m.fullBody); err != nil {
			return nil, err
		}
		references = append(references, *m.fullBody)
	}
	for _, reference := range references {
		if err := reference.check(); err != nil {
			return nil, err
		}
	}
	if m.fullBody != nil {
		next(`"body":`)
		output = m.fullBody.append(output)
	}
	for index := range m.attachments {
		if index == 0 {
			next(`"attachments":[`)
		} else {
			output = append(output, ',')
		}
		output = m.attachments[index].append(output)
	}
	if len(m.attachments) > 0 {
		output = append(output, ']')
	}
	if m.person != nil {
		if err := m.person.check(); err != nil {
			return nil, err
		}
		next("")
		output = m.person.append(output)
	}
	name := ""
	if m.name != nil {
		name = *m.name
	}
	if err := checkWithdrawals(m.withdrawing, name); err != nil {
		return nil, err
	}
	if len(m.withdrawing) > 0 {
		next(`"withdraw":`)
		output = appendStrings(output, m.withdrawing)
	}
	if m.isDropped {
		next(`"drop":true`)
	}
	return output, nil
}

func (sealer *Sealer) messageID(m *message, body []byte, sentAt uint64) (MessageID, error) {
	// Drawn for a named message too, so that each seal draws the same.
	r, err := random(32)
	if err != nil {
		return MessageID{}, err
	}
	if m.name != nil {
		if *m.name == "" || !utf8.ValidString(*m.name) {
			return MessageID{}, refuse(InvalidRequest, "the message's name is empty or not UTF-8; leave it out for none")
		}
		return NamedMessageID(*m.name), nil
	}
	hash := sha256.Sum256(body)
	sum := sealer.signing.hedge.sum("message id", r, binary.BigEndian.AppendUint64(nil, sentAt), hash[:])
	return *(*MessageID)(sum[:16]), nil
}

// content returns the inner plaintext from the kind on.
func (m *message) content(certificate Certificate, body []byte, id MessageID, sentAt, life uint64, bucket int) []byte {
	content := append(make([]byte, 0, bucket), m.pushType.class())
	if !certificate.IsZero() {
		content[0] |= kindCertified
	}
	content = binary.BigEndian.AppendUint64(append(content, id[:]...), sentAt)
	content = binary.BigEndian.AppendUint32(content, uint32(life))
	content = binary.BigEndian.AppendUint16(content, uint16(len(body)))
	return append(content, body...)[:bucket-contentOffset]
}

func (sealer *Sealer) encrypt(content []byte, device DevicePublicKey) (string, error) {
	r, err := random(32)
	if err != nil {
		return "", err
	}
	own := sealer.signing
	header, hash := append([]byte{suiteX25519}, device.id[:]...), sha256.Sum256(content)
	epoch := own.certificate.bytes[1:5]
	ikmE := own.hedge.sum("ephemeral", r, header, device.bytes[:], epoch, appendLP16(nil, sealer.topic), hash[:])
	enc, context, err := setupBaseS(device.bytes[:], envelopeInfo(header, sealer.topic), ikmE)
	if err != nil {
		return "", refuse(UnusableKey, "the device's key is missing or gives no secret; parse the registered one")
	}
	signature, err := own.sign(signedMessage(header, enc, device.publicKey, own.provider, own.key, own.certificate.Epoch(), sealer.topic, hash))
	if err != nil {
		return "", err
	}
	inner := append(append(append(make([]byte, 0, contentOffset+len(content)), epoch...), signature...), content...)
	sealed := context.aead.Seal(append(header, enc...), context.nonce, inner, nil)
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// roundedTimeToLive returns the time to live whose end does not tell the relay when it was chosen.
func roundedTimeToLive(sentAt, seconds uint64, pushType PushType) uint64 {
	if vector.SealedLife != 0 {
		return vector.SealedLife
	}
	if pushType == VoIP {
		return seconds
	}
	const unit = 600_000
	end := sentAt + 1000*seconds
	life := func(end uint64) uint64 { return (end - sentAt + 999) / 1000 }
	if rounded := life((end + unit - 1) / unit * unit); rounded <= longestTimeToLive {
		return rounded
	}
	return life(end / unit * unit)
}
