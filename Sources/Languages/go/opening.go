package pushcrypt

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"example.com/pushcrypt/internal/jsontext"
)

const longestPush = 65536

// A HeldKey is a device key with its end: the last millisecond at which a retiring key opens. The zero time is none.
type HeldKey struct {
	Key *DeviceKey
	End time.Time
}

func (held HeldKey) opens(now uint64) bool {
	end, ok := milliseconds(held.End)
	return held.End.IsZero() || ok && now <= end
}

// A Receiver is what opens pushes: an app's bundle id, never a value from a push [O-0.2], its device keys and its trust. PushType is that
// with which the push came, by default Alert: a message that was sealed as another is refused.
type Receiver struct {
	Topic    string
	Keys     []HeldKey
	Trust    *Trust
	PushType PushType
}

// An Opened message is authentic and fresh.
//
// The app's guard decides by Provider and MessageID whether it was shown before; this package has none. Whatever the guard says, the app,
// under one lock, stores what is stored for the provider key and the topic, merged with Learned [O-9.1]; a pending Device key becomes
// active [O-9.2]; and a conflict is reported to the app [T-3].
type Opened struct {
	// Payload is as it was sealed. Its member pushcrypt holds keys of files: no log or other code may get it.
	Payload    []byte
	MessageID  MessageID
	SentAt     time.Time
	TimeToLive time.Duration
	// Provider is the pin under which it verified.
	Provider ProviderPublicKey
	// Epoch: a guard counts what it remembers of lower epochs than the floor in Learned as absent.
	Epoch uint32
	// Learned is what is known of the provider now, the message's certificate included.
	Learned Learned
	// HasCertificateConflict tells that another certificate of its epoch is known: of a restored store, or a stolen provider key.
	HasCertificateConflict bool
	Device                 DevicePublicKey
}

// ExpiresAt returns the last millisecond at which the message may be shown.
func (opened *Opened) ExpiresAt() time.Time { return opened.SentAt.Add(opened.TimeToLive) }

// Open opens a push as received, and changes nothing: see Opened. It reads nothing of the push but the envelope [O-0.1]. The zero time is
// the present.
func (receiver Receiver) Open(push []byte, at time.Time) (*Opened, error) {
	if len(push) > longestPush {
		return nil, refuse(MalformedNotification, "the push has over 65536 bytes")
	}
	members, err := jsontext.ParseObject(push)
	if err != nil {
		return nil, refuse(MalformedNotification, err.Error())
	}
	text := members.Get("ENCRYPTED_DATA")
	if !text.IsString() {
		return nil, refuse(NotEncrypted, "ENCRYPTED_DATA is missing or not a string")
	}
	envelope, err := ParseEnvelope(text.Text)
	if err != nil {
		return nil, err
	}
	return receiver.OpenEnvelope(envelope, at)
}

// OpenEnvelope opens an envelope: steps 3 to 7 of Docs/Format.md, Opening.
func (receiver Receiver) OpenEnvelope(envelope *Envelope, at time.Time) (*Opened, error) {
	now, ok := milliseconds(at)
	if !ok {
		return nil, refuse(InvalidTime, "the clock is before 1970")
	}
	return receiver.open(envelope, now)
}

func (receiver Receiver) open(envelope *Envelope, now uint64) (*Opened, error) {
	if err := checkTopic(receiver.Topic); err != nil {
		return nil, err
	}
	header, enc, sealed := envelope.bytes[:5], envelope.bytes[5:37], envelope.bytes[37:]

	// Step 3. Exactly one key is tried [O-3.2].
	var key *DeviceKey
	for _, held := range receiver.Keys {
		if held.Key.public.id == *(*[4]byte)(header[1:]) && held.opens(now) {
			key = held.Key
			break
		}
	}
	if key == nil {
		return nil, refuse(UnknownRecipientKey, "this device does not have the key; have it register again")
	}

	// Step 4.
	context, err := setupBaseR(enc, key, envelopeInfo(header, receiver.Topic))
	if err != nil {
		return nil, err
	}
	inner, err := context.aead.Open(nil, context.nonce, sealed, nil)
	if err != nil {
		return nil, errNotAuthentic()
	}

	// Step 5.
	end := bodyOffset + int(binary.BigEndian.Uint16(inner[97:]))
	if end > len(inner) {
		return nil, errNotAuthentic()
	}
	kind, epoch, sentAt, timeToLive := inner[contentOffset], u32(inner), u64(inner[85:]), u32(inner[93:])
	certificate, payload, err := certificateIn(kind, epoch, inner[bodyOffset:end])
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(inner[contentOffset:])
	isFrom := func(pin ProviderPublicKey) bool {
		known, signing := receiver.Trust.Learned(pin), pin.Bytes()
		if epoch > 0 {
			signing = certificate.signingKey()
			// The one that is stored was verified before.
			if certificate != known.Certificate && certificate.check(pin, receiver.Topic) != nil {
				return false
			}
		}
		message := signedMessage(header, enc, key.public.publicKey, pin, signing, epoch, receiver.Topic, hash)
		return verifies(signing, inner[4:68], message) && known.after(certificate).opens(certificate, sentAt, now)
	}
	var provider ProviderPublicKey
	for _, pin := range receiver.Trust.pins {
		if provider.isZero() && isFrom(pin) {
			provider = pin
		}
	}
	var padding byte
	for _, value := range inner[end:] {
		padding |= value
	}
	if provider.isZero() || padding != 0 {
		return nil, errNotAuthentic()
	}

	// Step 6.
	if class := kind & kindClass; class < 1 || class > 3 {
		return nil, refuse(UnsupportedMessage, "authentic, but of an unknown kind; update this package")
	} else if class != receiver.PushType.class() {
		return nil, refuse(WrongPushClass, "authentic, but sealed for another push type; somebody sent it as this one")
	}
	if timeToLive < 1 || timeToLive > longestTimeToLive || sentAt > largestTime {
		return nil, refuse(UnsupportedMessage, "authentic, but its times are out of range")
	}
	if now > later(sentAt, timeToLive) {
		return nil, refuse(Expired, "authentic, but past its time to live")
	}
	if sentAt > later(now, clockTolerance) {
		return nil, refuse(NotYetValid, "authentic, but sent more than 24 hours from now; one clock is wrong")
	}

	// Step 7.
	if _, err := checkedPayload(payload); err != nil {
		return nil, err
	}
	known := receiver.Trust.Learned(provider)
	return &Opened{
		payload, *(*MessageID)(inner[69:85]), timeOf(sentAt), time.Duration(timeToLive) * time.Second, provider, epoch, known.after(certificate),
		certificate.conflicts(known.Certificate), key.public,
	}, nil
}

// certificateIn returns the certificate with which the body of a message of epoch 1 or more begins, and of no other [O-5.2], and the rest.
func certificateIn(kind byte, epoch uint32, body []byte) (certificate Certificate, payload []byte, err error) {
	if kind&kindReserved != 0 || (kind&kindCertified != 0) != (epoch > 0) {
		return Certificate{}, nil, errNotAuthentic()
	}
	if epoch == 0 {
		return Certificate{}, body, nil
	}
	if len(body) < certificateLength {
		return Certificate{}, nil, errNotAuthentic()
	}
	certificate, err = NewCertificate(body[:certificateLength])
	if err != nil || certificate.Epoch() != epoch {
		return Certificate{}, nil, errNotAuthentic()
	}
	return certificate, body[certificateLength:], nil
}

// checkedPayload parses a payload by [J-1] to [J-7].
func checkedPayload(payload []byte) (*jsontext.Value, error) {
	members, err := jsontext.ParseObject(payload)
	if err != nil {
		return nil, refuse(MalformedPayload, err.Error())
	}
	if aps := members.Get("aps"); aps == nil || aps.Kind != jsontext.Object {
		return nil, refuse(MalformedPayload, "the payload has no aps object")
	}
	return members, nil
}

// reserved returns the member pushcrypt, which is nil if there is none; of a payload that never opened too.
func (opened *Opened) reserved() *jsontext.Value {
	members, err := jsontext.ParseObject(opened.Payload)
	if err != nil {
		return nil
	}
	return members.Present("pushcrypt")
}

// Attachments returns the references to files, and a code for each item that was dropped to.
func (opened *Opened) Attachments() (references []Reference, dropped []Code) {
	own := opened.reserved()
	list := own.Present("attachments")
	switch {
	case own == nil || own.Kind == jsontext.Object && list == nil:
		return nil, nil
	case own.Kind != jsontext.Object || list.Kind != jsontext.Array:
		return nil, []Code{MalformedReference}
	}
	elements := list.Elements
	if len(elements) > mostAttachments {
		elements = elements[:mostAttachments]
	}
	for index := range elements {
		if reference, err := readReference(&elements[index]); err == nil {
			references = append(references, reference)
		} else {
			dropped = append(dropped, MalformedReference)
		}
	}
	if len(list.Elements) > mostAttachments {
		dropped = append(dropped, TooManyAttachments)
	}
	return references, dropped
}

// FullBody returns the reference of a text that was too long for the push; nil if there is none, [A-31].
func (opened *Opened) FullBody() (*Reference, error) {
	value := opened.reserved().Present("body")
	if value == nil {
		return nil, nil
	}
	reference, err := readReference(value)
	if err == nil {
		err = checkFullBody(reference)
	}
	if err != nil {
		return nil, err
	}
	return &reference, nil
}

// Withdraws returns the ids of the messages to withdraw: of this provider [O-8.11], [O-8.12].
func (opened *Opened) Withdraws() []MessageID {
	names := opened.reserved().Present("withdraw")
	if names == nil || names.Kind != jsontext.Array {
		return nil
	}
	var ids []MessageID
	seen := map[MessageID]bool{opened.MessageID: true}
	for index, name := range names.Elements {
		if index == mostWithdrawn {
			break
		}
		if id := NamedMessageID(name.Text); name.Kind == jsontext.String && name.Text != "" && !seen[id] {
			ids, seen[id] = append(ids, id), true
		}
	}
	return ids
}

// IsDropped tells whether the message is not to be shown [O-8.15].
func (opened *Opened) IsDropped() bool {
	drop := opened.reserved().Get("drop")
	return drop != nil && drop.Kind == jsontext.True
}

// Person returns the person that the notification is from, nil if there is none, and the code of an avatar that is left out [N-9].
func (opened *Opened) Person() (person *Person, dropped []Code) {
	value := opened.reserved().Present("sender")
	if value == nil || value.Kind != jsontext.Object {
		return nil, nil
	}
	return readPerson(value)
}
