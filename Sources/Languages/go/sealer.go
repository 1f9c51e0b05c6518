package pushcrypt

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
	"example.com/pushcrypt/Sources/Languages/go/internal/jsontext"
)

// A Sealer seals payloads for the devices of one app. Any number of goroutines may use one.
type Sealer struct {
	signing  *signing
	topic    string
	defaults message
}

// NewSealer creates a sealer for an app's bundle id, without a suffix such as .voip. The options hold for all messages, unless Seal is given
// others; those that concern one message alone are refused.
//
// The key is a *ProviderKey, or from epoch 1 on a *Credential.
func NewSealer(key Key, topic string, options ...Option) (*Sealer, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	first := message{title: format.StandardTitle, pushType: Alert, timeToLive: format.LongestTimeToLive * time.Second}
	defaults, err := first.with(options)
	if err != nil {
		return nil, err
	}
	if defaults.id != nil || !defaults.at.IsZero() || len(defaults.withdrawals) > 0 {
		return nil, refuse(InvalidRequest, "a message id, a time and withdrawals are those of one message; give them to Seal")
	}
	own, err := signingOf(key)
	if err == nil && !own.certificate.IsZero() {
		err = own.certificate.Verify(own.provider, topic)
	}
	if err != nil {
		return nil, err
	}
	return &Sealer{own, topic, *defaults}, nil
}

func checkTopic(topic string) error {
	if !core.IsTopic(topic) {
		return refuse(WrongTopic, "the topic is not a bundle id: 1 to 255 ASCII letters, digits, '.' and '-'")
	}
	return nil
}

// Provider returns the provider key that phones have pinned.
func (sealer *Sealer) Provider() ProviderPublicKey {
	if sealer.isZero() {
		return ProviderPublicKey{}
	}
	return sealer.signing.provider
}

// Certificate returns the certificate that each message carries; the zero value at epoch 0.
func (sealer *Sealer) Certificate() Certificate {
	if sealer.isZero() {
		return Certificate{}
	}
	return sealer.signing.certificate
}

// Topic returns the app's bundle id.
func (sealer *Sealer) Topic() string {
	if sealer.isZero() {
		return ""
	}
	return sealer.topic
}

// isZero tells whether this is nil or the zero value, which seals nothing.
func (sealer *Sealer) isZero() bool { return sealer == nil || sealer.signing == nil }

// Format prints no secret, whatever the verb.
func (sealer Sealer) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "Sealer(%s, %s)", sealer.Provider(), sealer.topic)
}

// A MessageID names one message; a retry has the same.
type MessageID [16]byte

// String returns 32 hexadecimal digits.
func (id MessageID) String() string { return hex.EncodeToString(id[:]) }

// A Push is what to send to Apple instead of the original payload: but for the provider's authentication, the request.
// The relay reads all of it.
type Push struct {
	// Payload is the complete JSON, the body of the request.
	Payload []byte
	// Envelope is the value of ENCRYPTED_DATA, for clients that write aps themselves.
	Envelope  string
	MessageID MessageID
	// Topic is that of the request: with .voip for a call.
	Topic    string
	PushType PushType
	Priority int
	// ExpiresAt is the last millisecond at which a phone shows the message.
	ExpiresAt time.Time
	// Expiration is until when APNs keeps the push; the zero time for one attempt, as a time to live of 0 asks for.
	Expiration time.Time
	// CollapseID is a hash of the device, and of the message or the collapse name: the same from every server, whatever key signs.
	CollapseID string
	// Token is the device's, "" if it has none, and Environment where it is valid.
	Token, Environment string
	// Grant is the device's permission to push by a relay; "" without one.
	Grant string
	// Widest is the length, in bytes, of the longest form that a client may re-encode the payload to.
	Widest int
}

// Format prints no token and no grant, whatever the verb.
func (push Push) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "push %s", push.MessageID) }

// URL is where APNs gets the push; "" if the device has no token.
func (push *Push) URL() string {
	host := map[bool]string{true: format.DevelopmentHost, false: format.ProductionHost}[push.Environment == "development"]
	if push.Token == "" {
		return ""
	}
	return "https://" + host + "/3/device/" + push.Token
}

// Fingerprint names the envelope in logs, also in the phone's.
func (push *Push) Fingerprint() string { return Fingerprint(push.Envelope) }

// Fingerprint names an envelope, by its text, in the logs of a provider and of phones. Never decide anything by it.
func Fingerprint(envelope string) string {
	hash := sha256.Sum256([]byte(envelope))
	return hex.EncodeToString(hash[:4])
}

// Header returns the headers of the HTTP/2 request.
func (push *Push) Header() http.Header {
	expiration := int64(0)
	if !push.Expiration.IsZero() {
		expiration = push.Expiration.Unix()
	}
	return http.Header{
		"Apns-Topic": {push.Topic}, "Apns-Push-Type": {string(push.PushType)}, "Apns-Priority": {strconv.Itoa(push.Priority)},
		"Apns-Expiration": {strconv.FormatInt(expiration, 10)}, "Apns-Collapse-Id": {push.CollapseID},
	}
}

// Seal seals an APNs payload for one device, as you have stored it. The JSON is kept, but for white space between tokens and needless escapes.
// The collapse id outlives the keys: it is a hash of the device's id. (removed-device, topic-mismatch, unusable-key, unsupported-suite, and what the
// options and the payload break)
func (sealer *Sealer) Seal(payload []byte, device *StoredDevice, options ...Option) (*Push, error) {
	if sealer.isZero() {
		return nil, refuse(UnusableKey, "there is no sealer: this is nil or the zero value; use NewSealer")
	}
	m, err := sealer.defaults.with(options)
	if err != nil {
		return nil, err
	}
	if err := sealer.checkDevice(device); err != nil {
		return nil, err
	}
	sentAt, err := timeOrNow(m.at)
	if err != nil {
		return nil, err
	}
	seconds := m.timeToLive / time.Second
	if seconds*time.Second != m.timeToLive || seconds < 0 || seconds > format.LongestTimeToLive {
		return nil, refuse(InvalidTime, "the time to live is 0 seconds to 30 days, whole seconds")
	}
	certificate := sealer.signing.certificate
	if !certificate.IsZero() && sentAt > certificate.expiresAt() {
		return nil, refuse(InvalidTime, "the certificate has expired, and no phone believes this key any more; rotate it")
	}
	return sealer.seal(m, payload, device, sentAt, roundedTimeToLive(sentAt, uint64(seconds), m.pushType))
}

// Withdraw seals the smallest message that takes earlier ones of these names, at most 64, off a device's screen. It is a background push, which
// shows nothing, and which iOS may bring later. With the filtering entitlement an alert with WithWithdraws and WithDrop is quicker.
func (sealer *Sealer) Withdraw(ids []string, device *StoredDevice, options ...Option) (*Push, error) {
	own := append([]Option{WithPushType(Background), WithWithdraws(ids...), WithDrop()}, options...)
	return sealer.Seal([]byte(`{"aps":{}}`), device, own...)
}

func (sealer *Sealer) checkDevice(device *StoredDevice) error {
	switch {
	case device == nil || device.PublicKey.IsZero():
		return refuse(UnusableKey, "there is no device, or it has no key: give the one that you have stored")
	case device.IsRemoved:
		return refuse(RemovedDevice, "the device was removed, and nothing is sealed to it any more")
	case !isDeviceID(device.Device):
		return refuse(InvalidRequest, "the device has no id of 1 to 255 bytes: give the one that you have stored")
	case device.Topic != sealer.topic:
		return refuse(TopicMismatch, "the device has registered for another app than this sealer's")
	case device.PublicKey.Suite() != 1:
		return refuse(UnsupportedSuite, "the key is of suite 2, to which this package does not seal")
	}
	return nil
}

// seal seals a message whose times are right.
func (sealer *Sealer) seal(m *message, data []byte, stored *StoredDevice, sentAt, life uint64) (*Push, error) {
	device := stored.PublicKey
	limits, ok := format.PushTypes[string(m.pushType)]
	if !ok {
		return nil, refuse(PushTypeNotSealable, "alert, background and voip can be sealed; the system reads others itself")
	}
	minimal, aps, err := checkPayload(data, m.pushType)
	if err != nil {
		return nil, err
	}
	reserved, err := m.reserved("")
	if err != nil {
		return nil, err
	}
	body := sealer.body(minimal, reserved)
	hash := sha256.Sum256(body)
	id := *(*MessageID)(sealer.signing.draw(format.LabelMessageID, binary.BigEndian.AppendUint64(nil, sentAt), hash[:]))
	if m.id != nil {
		id = core.NamedMessageID(*m.id)
	}
	if m.answers != nil {
		if len(m.answers.bytes) == 0 {
			return nil, refuse(UnusableKey, "there is no answer secret: this is the zero value")
		}
		answer := m.answers.member(device.Bytes(), sealer.topic, id, sentAt)
		if reserved, err = m.reserved(answer); err != nil {
			return nil, err
		}
		body = sealer.body(minimal, reserved)
	}
	// The limits leave room for a certificate even if there is none [S-5].
	length := len(body) - len(sealer.signing.certificate.Bytes())
	excess := format.InnerBody + format.CertificateLength + length - limits.Bucket
	if excess > 0 {
		return nil, refuse(PayloadTooLarge, fmt.Sprintf("the payload, with attachments, has %d bytes, %d too many", length, excess))
	}
	bucket, longest := smallestBucket(len(body)), smallestBucket(format.CertificateLength+length)
	clear := m.clearPart(aps)
	widest := widestLength(string(clear) + clearEnd)
	length = widest + textLength(longest)
	if m.isExact {
		length = len(clear) + len(clearEnd) + textLength(longest)
	}
	if length > limits.Limit {
		return nil, refuse(PushTooLarge, fmt.Sprintf("the push would have up to %d bytes, over %d; shorten the title", length, limits.Limit))
	}
	content := append(make([]byte, 0, bucket), limits.Class)
	if !sealer.signing.certificate.IsZero() {
		content[0] |= format.KindCertified
	}
	content = binary.BigEndian.AppendUint64(append(content, id[:]...), sentAt)
	content = core.AppendText(binary.BigEndian.AppendUint32(content, uint32(life)), string(body))
	envelope, err := sealer.encrypt(content[:bucket-format.InnerContent], device)
	if err != nil {
		return nil, err
	}
	push := &Push{
		Payload: append(append(clear, envelope...), clearEnd...), Envelope: envelope, MessageID: id, Topic: sealer.topic, PushType: m.pushType,
		Priority: m.priority, ExpiresAt: core.Time(sentAt + 1000*life), CollapseID: collapseID(sealer.signing.provider, sealer.topic, stored.Device, m.collapseName, id, device),
		Token: stored.Token, Environment: stored.Environment, Grant: stored.Grant, Widest: widest + textLength(bucket),
	}
	if m.timeToLive != 0 {
		push.Expiration = push.ExpiresAt
	}
	if m.expiration != nil {
		push.Expiration = *m.expiration
	}
	if m.pushType == VoIP {
		push.Topic += ".voip"
	}
	if push.Priority == 0 {
		push.Priority = map[bool]int{true: 5, false: 10}[m.pushType == Background]
	}
	return push, nil
}

// smallestBucket returns the smallest bucket for a body, which fits one [S-6].
func smallestBucket(length int) int {
	at := 0
	for format.InnerBody+length > format.Buckets[at] {
		at++
	}
	return format.Buckets[at]
}

// textLength returns the number of characters of an envelope.
func textLength(bucket int) int {
	return (8*(format.EnvelopeOverhead+bucket) + 5) / 6
}

// body returns the certificate, and the payload with the member pushcrypt.
func (sealer *Sealer) body(minimal, reserved []byte) []byte {
	body := append(sealer.signing.certificate.Bytes(), minimal...)
	if string(reserved) == "{}" {
		return body
	}
	// The payload has aps, so it is not empty.
	return append(append(append(body[:len(body)-1], `,"pushcrypt":`...), reserved...), '}')
}

// reserved returns the member pushcrypt of the payload, {} for none. The message's id is chosen before what it is answered with.
func (m *message) reserved(answer string) ([]byte, error) {
	if len(m.attachments) > format.MostAttachments {
		return nil, refuse(TooManyAttachments, "a notification has at most 8 attachments")
	}
	var output jsontext.Output
	if m.fullBody != nil {
		output.Err = m.fullBody.checkFullBody()
	}
	output.Add("body", m.fullBody)
	output.Add("attachments", m.attachments)
	if m.person != nil && output.Err == nil {
		output.Err = m.person.check()
	}
	output.Add("sender", m.person)
	output.Add("withdraw", m.withdrawals)
	output.Add("drop", m.isDropped)
	output.Add("answer", answer)
	return output.Bytes(), output.Err
}

// encrypt signs and encrypts the inner plaintext from the kind on.
func (sealer *Sealer) encrypt(content []byte, device DevicePublicKey) (string, error) {
	own, recipient, epoch := sealer.signing, device.Bytes(), sealer.signing.certificate.Epoch()
	hash, epochBytes := sha256.Sum256(content), binary.BigEndian.AppendUint32(nil, epoch)
	header, _ := hex.DecodeString(core.SuiteX25519 + device.ID())
	ikmE := own.draw(format.LabelEphemeral, header, recipient, epochBytes, core.AppendText(nil, sealer.topic), hash[:])
	enc, aead, nonce, err := core.SetupS(recipient, core.EnvelopeInfo(header, sealer.topic), ikmE)
	if err != nil {
		return "", errWeak()
	}
	message := core.SignedMessage(header, enc, recipient, own.provider.Bytes(), own.key.PublicKey(), epoch, sealer.topic, content)
	inner := append(append(epochBytes, ed25519.Sign(own.key.private, message)...), content...)
	return core.Encode(aead.Seal(append(header, enc...), nonce, inner, nil)), nil
}

// roundedTimeToLive returns the time to live whose end does not tell the relay when it was chosen; 0, for one attempt, leaves phones' clocks
// ten minutes.
func roundedTimeToLive(sentAt, seconds uint64, pushType PushType) uint64 {
	const unit = format.ExpirationUnit
	if seconds == 0 {
		return unit / 1000
	}
	if pushType == VoIP {
		return seconds
	}
	end := sentAt + 1000*seconds
	life := func(end uint64) uint64 { return (end - sentAt + 999) / 1000 }
	if rounded := life((end + unit - 1) / unit * unit); rounded <= format.LongestTimeToLive {
		return rounded
	}
	return life(end / unit * unit)
}

// collapseID is a hash of the device, and of the message or the name of a group of pushes.
func collapseID(provider ProviderPublicKey, topic, name string, collapseName *string, id MessageID, key DevicePublicKey) string {
	device, pushes := append([]byte{0x02}, key.Bytes()...), append([]byte{0x02}, id[:]...)
	if name != "" {
		device = core.AppendText([]byte{0x01}, name)
	}
	if collapseName != nil {
		pushes = core.AppendText([]byte{0x01}, *collapseName)
	}
	data := core.AppendText(append([]byte(format.LabelCollapse), provider.Bytes()...), topic)
	hash := sha256.Sum256(append(append(data, device...), pushes...))
	return core.Encode(hash[:])
}
