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

// A Receiver is what opens pushes: an app's bundle id, never a value from a push [O-0.2], its device keys and its trust.
type Receiver struct {
	Topic string
	Keys  []HeldKey
	Trust *Trust
}

// An Opened message is authentic and fresh.
//
// The app's guard decides by Sender and MessageID whether it was shown before; this package has none. Whatever the guard says, the app,
// under one lock, lets the currently stored trust follow the accepted Statements, with the topic and the time of the opening, and stores
// it [O-9.1]; a pending Device key becomes active [O-9.2]; and the conflicts in Told are reported to the app, [R-19].
type Opened struct {
	// Payload is as it was sealed. Its member pushcrypt holds keys of files: no log or other code may get it.
	Payload    []byte
	MessageID  MessageID
	SentAt     time.Time
	TimeToLive time.Duration
	Sender     SenderPublicKey
	Device     DevicePublicKey
	Statements [][]byte
	Told       []Code
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
	statements, payload := split(inner[contentOffset], inner[bodyOffset:end])
	hash := sha256.Sum256(inner[contentOffset:])
	var sender *SenderPublicKey
	var candidates []SenderPublicKey
	var accepted [][]byte
	var told []Code
	for read, again := statements, true; again; read = withoutRecoveries(read) {
		var after *Trust
		after, accepted, told = receiver.Trust.follow(read, receiver.Topic, now)
		candidates = after.candidates(inner[:4], now)
		recovered := len(withoutRecoveries(accepted)) < len(accepted)
		if !recovered {
			candidates = append(candidates, receiver.Trust.candidates(inner[:4], now)...)
		}
		for index := range candidates {
			message := signedMessage(header, enc, key.public.publicKey, candidates[index].publicKey, receiver.Topic, hash)
			if candidates[index].verifies(inner[4:68], message) {
				sender = &candidates[index]
				break
			}
		}
		// Again without recoveries: they would revoke the key of a phone that was enrolled since.
		again = sender == nil && recovered
	}
	if len(candidates) == 0 && len(told) > 0 {
		return nil, refuse(told[0], "a key that the phone trusts signed two different statements; see Docs/KeyRotation.md")
	}
	var padding byte
	for _, value := range inner[end:] {
		padding |= value
	}
	if sender == nil || padding != 0 {
		return nil, errNotAuthentic()
	}

	// Step 6.
	sentAt, timeToLive := u64(inner[85:]), u32(inner[93:])
	if inner[contentOffset] != contentPayload && inner[contentOffset] != contentStatements {
		return nil, refuse(UnsupportedMessage, "authentic, but of an unknown type; update this package")
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
	return &Opened{
		payload, *(*MessageID)(inner[69:85]), timeOf(sentAt), time.Duration(timeToLive) * time.Second, *sender, key.public, accepted, told,
	}, nil
}

// split returns the statements and the payload of a body. If the statements cannot be read, there is no payload either [O-7.1]; the trust
// ignores those of an unknown version.
func split(contentType byte, body []byte) (statements [][]byte, payload []byte) {
	if contentType != contentStatements {
		return nil, body
	}
	if len(body) == 0 || body[0] < 1 || body[0] > mostStatements || len(body) < 1+statementLength*int(body[0]) {
		return nil, nil
	}
	count := int(body[0])
	for body = body[1:]; count > 0; count-- {
		statements, body = append(statements, body[:statementLength]), body[statementLength:]
	}
	return statements, body
}

func withoutRecoveries(statements [][]byte) (rotations [][]byte) {
	for _, statement := range statements {
		if statement[0] != versionRecovery {
			rotations = append(rotations, statement)
		}
	}
	return rotations
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

// Withdraws returns the ids of the messages to withdraw: of this sender, or of a key that it had before [O-8.11], [O-8.12].
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
