// Package pushcrypttest opens what package pushcrypt seals, as a phone would: for tests, as net/http/httptest is.
//
// It is not part of the stable surface, and not for phones in production: it has no replay guard, no key store and no notifications.
package pushcrypttest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
)

// decode reads the text of an envelope [O-2.1] to [O-2.5].
func decode(text string) ([]byte, error) {
	malformed := refuse(pushcrypt.MalformedEnvelope, "ENCRYPTED_DATA is not an envelope; it was cut, or encoded twice")
	data := core.Decode(text)
	if len(data) == 0 || len(text) > format.LongestEnvelopeText {
		return nil, malformed
	}
	if hex.EncodeToString(data[:1]) != core.SuiteX25519 {
		return nil, refuse(pushcrypt.UnsupportedSuite, "the envelope's suite is not known; update this package")
	}
	for _, bucket := range format.Buckets {
		if len(data) == bucket+format.EnvelopeOverhead {
			return data, nil
		}
	}
	return nil, malformed
}

// A HeldKey is a device key with its end: the last millisecond at which a retiring key opens. The zero time is none.
type HeldKey struct {
	Key *DeviceKey
	End time.Time
}

// A Receiver is what opens pushes.
type Receiver struct {
	// Topic is the app's bundle id, never a value from a push [O-0.2].
	Topic string
	Keys  []HeldKey
	Trust Trust
	// PushType is that with which the push came; the zero value is Alert. A message that was sealed as another is refused.
	PushType pushcrypt.PushType
}

// An Opened message is authentic and fresh. Whether it was shown before is a replay guard's matter.
type Opened struct {
	// Payload is as it was sealed. Its member pushcrypt holds keys of files: no log or other code may get it.
	Payload    []byte
	MessageID  pushcrypt.MessageID
	SentAt     time.Time
	TimeToLive time.Duration
	// Provider is the pin under which it verified.
	Provider pushcrypt.ProviderPublicKey
	Epoch    uint32
	// Learned is what is known of the provider now, the message's certificate included: pass it to Trust.Learn.
	Learned Learned
	// HasCertificateConflict tells that another certificate of its epoch is known: of a restored store, or a stolen provider key.
	HasCertificateConflict bool
	// Device is the key that opened it.
	Device pushcrypt.DevicePublicKey
}

// Format prints nothing of the payload, whatever the verb.
func (opened Opened) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "Opened(%s, epoch %d)", opened.MessageID, opened.Epoch)
}

// Open opens a push as received, and changes nothing: see Opened. It reads nothing of the push but the envelope [O-0.1]. The zero time is
// the present.
func (receiver Receiver) Open(push []byte, at time.Time) (*Opened, error) {
	if len(push) > format.LongestPush {
		return nil, refuse(pushcrypt.MalformedNotification, "the push has over 65,536 bytes")
	}
	members, err := jsontext.ParseObject(push)
	if err != nil {
		return nil, refuse(pushcrypt.MalformedNotification, err.Error())
	}
	text, ok := members["ENCRYPTED_DATA"].(string)
	if !ok {
		return nil, refuse(pushcrypt.NotEncrypted, "ENCRYPTED_DATA is missing or not a string")
	}
	return receiver.OpenEnvelope(text, at)
}

func errNotAuthentic() error {
	return refuse(pushcrypt.AuthenticationFailed,
		"the message was changed, or not sealed by a pinned provider for this app and device; compare topic and keys on both ends")
}

// OpenEnvelope opens the value of ENCRYPTED_DATA: steps 2 to 7 of Docs/Format.md, Opening.
func (receiver Receiver) OpenEnvelope(text string, at time.Time) (*Opened, error) {
	envelope, err := decode(text)
	if err != nil {
		return nil, err
	}
	now, ok := core.Milliseconds(at)
	if !ok {
		return nil, refuse(pushcrypt.InvalidTime, "the clock is before 1970")
	}
	if !core.IsTopic(receiver.Topic) {
		return nil, refuse(pushcrypt.WrongTopic, "the topic is not a bundle id: 1 to 255 ASCII letters, digits, '.' and '-'")
	}
	if err := receiver.Trust.check(); err != nil {
		return nil, err
	}
	header, enc, sealed := envelope[:5], envelope[5:37], envelope[37:]

	// Step 3. Exactly one key is tried [O-3.2].
	var key *DeviceKey
	for _, held := range receiver.Keys {
		end, ok := core.Milliseconds(held.End)
		if key == nil && held.Key != nil && held.Key.public.ID() == hex.EncodeToString(header[1:]) && (held.End.IsZero() || ok && now <= end) {
			key = held.Key
		}
	}
	if key == nil {
		return nil, refuse(pushcrypt.UnknownRecipientKey, "this device does not have the key; have it register again")
	}

	// Step 4.
	aead, nonce, err := core.Setup(key.secret, enc, enc, key.public.Bytes(), core.EnvelopeInfo(header, receiver.Topic))
	if err != nil {
		return nil, errNotAuthentic()
	}
	inner, err := aead.Open(nil, nonce, sealed, nil)
	if err != nil {
		return nil, errNotAuthentic()
	}

	// Step 5.
	end := format.InnerBody + int(binary.BigEndian.Uint16(inner[97:]))
	if end > len(inner) {
		return nil, errNotAuthentic()
	}
	kind, epoch := inner[format.InnerContent], binary.BigEndian.Uint32(inner)
	sentAt, timeToLive := binary.BigEndian.Uint64(inner[85:]), binary.BigEndian.Uint32(inner[93:])
	certificate, payload, err := certificateIn(kind, epoch, inner[format.InnerBody:end])
	if err != nil {
		return nil, err
	}
	isFrom := func(pin pushcrypt.ProviderPublicKey) bool {
		known, signing := receiver.Trust.Learned[pin], pin.Bytes()
		if epoch > 0 {
			signing = certificate.SigningKey()
			if certificate.Verify(pin, receiver.Topic) != nil {
				return false
			}
		}
		message := core.SignedMessage(header, enc, key.public.Bytes(), pin.Bytes(), signing, epoch, receiver.Topic, inner[format.InnerContent:])
		return core.Verifies(signing, inner[4:68], message) && known.after(certificate).opens(certificate, core.Time(sentAt), core.Time(now))
	}
	var provider pushcrypt.ProviderPublicKey
	for _, pin := range receiver.Trust.Pins {
		if provider.IsZero() && isFrom(pin) {
			provider = pin
		}
	}
	if provider.IsZero() || len(bytes.Trim(inner[end:], "\x00")) > 0 {
		return nil, errNotAuthentic()
	}

	// Step 6.
	if err := receiver.check(kind&format.KindClass, sentAt, timeToLive, now); err != nil {
		return nil, err
	}

	// Step 7.
	members, err := jsontext.ParseObject(payload)
	if err != nil || jsontext.Object(members["aps"]) == nil {
		return nil, refuse(pushcrypt.MalformedPayload, "the payload is not strict JSON, or has no aps object")
	}
	known := receiver.Trust.Learned[provider]
	return &Opened{
		payload, *(*pushcrypt.MessageID)(inner[69:85]), core.Time(sentAt), time.Duration(timeToLive) * time.Second, provider, epoch,
		known.after(certificate), conflicts(certificate, known.Certificate), key.public,
	}, nil
}

// check is step 6 of opening: class and times.
func (receiver Receiver) check(class byte, sentAt uint64, timeToLive uint32, now uint64) error {
	pushType := receiver.PushType
	if pushType == "" {
		pushType = pushcrypt.Alert
	}
	switch {
	case class < 1 || class > 3:
		return refuse(pushcrypt.UnsupportedMessage, "authentic, but of an unknown kind; update this package")
	case class != format.PushTypes[string(pushType)].Class:
		return refuse(pushcrypt.WrongPushClass, "authentic, but sealed for another push type; somebody sent it as this one")
	case timeToLive < 1 || timeToLive > format.LongestTimeToLive || sentAt > format.LargestTime:
		return refuse(pushcrypt.UnsupportedMessage, "authentic, but its times are out of range")
	case now > core.Later(sentAt, uint64(timeToLive)):
		return refuse(pushcrypt.Expired, "authentic, but past its time to live")
	case sentAt > core.Later(now, format.ClockTolerance):
		return refuse(pushcrypt.NotYetValid, "authentic, but sent more than 24 hours from now; one clock is wrong")
	}
	return nil
}

// certificateIn returns the certificate with which the body of a message of epoch 1 or more begins, and of no other [O-5.2], and the rest.
func certificateIn(kind byte, epoch uint32, body []byte) (certificate pushcrypt.Certificate, payload []byte, err error) {
	isCertified := kind&format.KindCertified != 0
	if kind&format.KindReserved != 0 || isCertified != (epoch > 0) || isCertified && len(body) < format.CertificateLength {
		return certificate, nil, errNotAuthentic()
	}
	if !isCertified {
		return certificate, body, nil
	}
	certificate, err = pushcrypt.NewCertificate(body[:format.CertificateLength])
	if err != nil || certificate.Epoch() != epoch {
		return certificate, nil, errNotAuthentic()
	}
	return certificate, body[format.CertificateLength:], nil
}

func refuse(code pushcrypt.Code, text string) error { return &pushcrypt.Error{Code: code, Text: text} }
