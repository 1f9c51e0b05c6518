// Package pushcrypttest opens what package pushcrypt seals, as a phone would: for tests, as net/http/httptest is.
//
// It is not part of the stable surface, and not for phones: it remembers no message, certificate or key.
package pushcrypttest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"golang.org/x/crypto/curve25519"

	"example.com/pushcrypt/Sources/Languages/go"
	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
	"example.com/pushcrypt/Sources/Languages/go/internal/jsontext"
)

// A DeviceKey is a device's secret key: PCR-SECRET-1…, 32 bytes. It is not printed. The zero value is no key.
type DeviceKey struct {
	secret []byte
	public pushcrypt.DevicePublicKey
}

// GenerateDeviceKey creates a key from the system's random source.
func GenerateDeviceKey() *DeviceKey {
	return core.Sure(NewDeviceKey(core.Random(format.KeyLength)))
}

// NewDeviceKey creates a key from 32 bytes.
func NewDeviceKey(secret []byte) (*DeviceKey, error) {
	if len(secret) != format.KeyLength {
		return nil, refuse(pushcrypt.MalformedKey, "a key has 32 bytes")
	}
	data, err := curve25519.X25519(secret, curve25519.Basepoint)
	if err != nil {
		return nil, refuse(pushcrypt.WeakKey, "the key gives no public key")
	}
	public, err := pushcrypt.NewDevicePublicKey(data)
	return &DeviceKey{append([]byte(nil), secret...), public}, err
}

// ParseDeviceKey reads a key's text; one newline at its end is dropped.
func ParseDeviceKey(text string) (*DeviceKey, error) {
	secret, code, advice := core.ReadKey(text, format.PrefixDeviceSecret)
	if code != "" {
		return nil, refuse(pushcrypt.Code(code), advice)
	}
	return NewDeviceKey(secret)
}

// PublicKey returns the public half.
func (key *DeviceKey) PublicKey() pushcrypt.DevicePublicKey { return key.public }

// Device returns a device with this key as a provider has it stored, for Seal.
func (key *DeviceKey) Device(topic string) *pushcrypt.StoredDevice {
	return &pushcrypt.StoredDevice{DeviceRecord: pushcrypt.DeviceRecord{Device: "phone1", PublicKey: key.public, Topic: topic, Generation: 1}}
}

// SecretText returns the key's text, as secret as the key.
func (key *DeviceKey) SecretText() string {
	return core.WriteKey(key.secret, format.PrefixDeviceSecret)
}

// Format prints the public half, whatever the verb.
func (key DeviceKey) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "DeviceKey(%s)", key.public) }

// A Phone opens pushes.
type Phone struct {
	// Topic is the app's bundle id.
	Topic string
	Key   *DeviceKey
	// Provider is the provider key that the phone has pinned.
	Provider pushcrypt.ProviderPublicKey
	// PushType is that with which the push came; the zero value is Alert. A message that was sealed as another is refused.
	PushType pushcrypt.PushType
}

// An Opened message is authentic.
type Opened struct {
	// Payload is as it was sealed. Its member pushcrypt holds keys of files.
	Payload   []byte
	MessageID pushcrypt.MessageID
	SentAt    time.Time
	// ExpiresAt is the last millisecond at which a phone shows it.
	ExpiresAt time.Time
}

// Format prints nothing of the payload, whatever the verb.
func (opened Opened) Format(state fmt.State, _ rune) {
	fmt.Fprint(state, "Opened(", opened.MessageID, ")")
}

// Open opens a push as received. The zero time is the present. (malformed-payload, malformed-envelope, unknown-recipient-key,
// authentication-failed, wrong-push-class, expired, invalid-time, or the code of a certificate)
func (phone Phone) Open(push []byte, at time.Time) (*Opened, error) {
	members, err := jsontext.ParseObject(push)
	if err != nil {
		return nil, refuse(pushcrypt.MalformedPayload, err.Error())
	}
	text, _ := members["ENCRYPTED_DATA"].(string)
	envelope, isSize := core.Decode(text), false
	for _, bucket := range format.Buckets {
		isSize = isSize || len(envelope) == bucket+format.EnvelopeOverhead
	}
	now, code, advice := core.TimeOrNow(at)
	switch {
	case !isSize:
		return nil, refuse(pushcrypt.MalformedEnvelope, "ENCRYPTED_DATA is not an envelope; it was cut, or encoded twice")
	case code != "":
		return nil, refuse(pushcrypt.Code(code), advice)
	case phone.Key == nil || hex.EncodeToString(envelope[:5]) != core.SuiteX25519+phone.Key.public.ID():
		return nil, refuse(pushcrypt.UnknownRecipientKey, "the message is not for this device's key")
	}
	header, enc, recipient, provider := envelope[:5], envelope[5:37], phone.Key.public.Bytes(), phone.Provider.Bytes()
	aead, nonce, err := core.Setup(phone.Key.secret, enc, enc, recipient, core.EnvelopeInfo(header, phone.Topic))
	if err != nil {
		return nil, errNotAuthentic()
	}
	inner, err := aead.Open(nil, nonce, envelope[37:], nil)
	if err != nil {
		return nil, errNotAuthentic()
	}
	kind, epoch, signing, certified := inner[format.InnerContent], binary.BigEndian.Uint32(inner), provider, uint32(0)
	body := inner[format.InnerBody:][:binary.BigEndian.Uint16(inner[97:])]
	if kind&format.KindCertified != 0 {
		certificate, err := pushcrypt.NewCertificate(body[:format.CertificateLength])
		if err == nil {
			err = certificate.Verify(phone.Provider, phone.Topic)
		}
		if err != nil {
			return nil, err
		}
		body, signing, certified = body[format.CertificateLength:], certificate.SigningKey(), certificate.Epoch()
	}
	message := core.SignedMessage(header, enc, recipient, provider, signing, epoch, phone.Topic, inner[format.InnerContent:])
	if certified != epoch || !core.Verifies(signing, inner[4:format.InnerContent], message) {
		return nil, errNotAuthentic()
	}
	if phone.PushType == "" {
		phone.PushType = pushcrypt.Alert
	}
	if kind&format.KindClass != format.PushTypes[string(phone.PushType)].Class {
		return nil, refuse(pushcrypt.WrongPushClass, "authentic, but sealed for another push type")
	}
	sentAt := binary.BigEndian.Uint64(inner[85:])
	expiresAt := core.Later(sentAt, uint64(binary.BigEndian.Uint32(inner[93:])))
	if now > expiresAt {
		return nil, refuse(pushcrypt.Expired, "authentic, but past its time to live")
	}
	return &Opened{body, *(*pushcrypt.MessageID)(inner[69:85]), core.Time(sentAt), core.Time(expiresAt)}, nil
}

func errNotAuthentic() error {
	return refuse(pushcrypt.AuthenticationFailed, "the message was changed, or is of another provider, app or device; compare topic and keys on both ends")
}

func refuse(code pushcrypt.Code, text string) error { return &pushcrypt.Error{Code: code, Text: text} }
