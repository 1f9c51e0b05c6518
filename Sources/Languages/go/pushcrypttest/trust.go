package pushcrypttest

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/curve25519"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
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

// SecretText returns the key's text, as secret as the key.
func (key *DeviceKey) SecretText() string {
	return core.WriteKey(key.secret, format.PrefixDeviceSecret)
}

// Format prints the public half, whatever the verb.
func (key DeviceKey) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "DeviceKey(%s)", key.public) }

// Learned is the highest certificate and the highest floor of a provider key and an app, for all accounts [T-6]. Its zero value is nothing.
type Learned struct {
	Certificate pushcrypt.Certificate `json:"certificate"`
	Floor       uint32                `json:"floor"`
}

// Merged returns the maximum of each: stores may come in any order.
func (known Learned) Merged(other Learned) Learned {
	if bytes.Compare(other.Certificate.Bytes(), known.Certificate.Bytes()) > 0 {
		known.Certificate = other.Certificate
	}
	if other.Floor > known.Floor {
		known.Floor = other.Floor
	}
	return known
}

// after is [T-3]; without a certificate nothing changes.
func (known Learned) after(certificate pushcrypt.Certificate) Learned {
	return known.Merged(Learned{certificate, certificate.Floor()})
}

// opens is [T-4], once the message's own certificate was taken into account. The zero time of a certificate's end is never.
func (known Learned) opens(certificate pushcrypt.Certificate, sentAt, now time.Time) bool {
	end, highest, epoch := certificate.ExpiresAt(), known.Certificate, certificate.Epoch()
	if !end.IsZero() && (sentAt.After(end) || now.After(end.Add(format.ExpiryTolerance*time.Second))) {
		return false
	}
	return epoch >= known.Floor && (epoch == highest.Epoch() || !now.After(highest.GraceUntil()))
}

// conflicts tells whether both are of one epoch and say different things.
func conflicts(one, other pushcrypt.Certificate) bool {
	return !other.IsZero() && one.Epoch() == other.Epoch() && !bytes.Equal(one.Bytes()[:format.ClaimLength], other.Bytes()[:format.ClaimLength])
}

// A Trust has the pins of one account, for one app, and what the phone has learned of provider keys there, whatever the account. What is
// learned only grows. One goroutine at a time may change a Trust. It is stored as JSON.
type Trust struct {
	// Pins are the account's: one provider key, or two while the app changes its provider key by a release [T-5].
	Pins []pushcrypt.ProviderPublicKey `json:"pins"`
	// Learned may be nil.
	Learned map[pushcrypt.ProviderPublicKey]Learned `json:"learned"`
}

// check refuses wrong pins. (unusable-key, too-many-pins)
func (trust *Trust) check() error {
	for index, pin := range trust.Pins {
		if pin.IsZero() {
			return refuse(pushcrypt.UnusableKey, "a pin is no key: this is the zero value")
		}
		if index >= format.MostPins || index > 0 && pin == trust.Pins[0] {
			return refuse(pushcrypt.TooManyPins, "an account has one or two pins, of different provider keys; unpin one")
		}
	}
	return nil
}

// Learn merges what came of a message [O-9.1].
func (trust *Trust) Learn(key pushcrypt.ProviderPublicKey, known Learned) {
	if trust.Learned == nil {
		trust.Learned = map[pushcrypt.ProviderPublicKey]Learned{}
	}
	if !known.Certificate.IsZero() {
		trust.Learned[key] = trust.Learned[key].Merged(known)
	}
}

// Accept learns a certificate of a reply, for the first pin that verifies it, and tells whether something was raised. A certificate-conflict
// is learned all the same: another certificate of its epoch is known, of a restored store or a stolen provider key.
func (trust *Trust) Accept(certificate pushcrypt.Certificate, topic string) (raised bool, err error) {
	if err = trust.check(); err != nil {
		return false, err
	}
	err = refuse(pushcrypt.BadCertificateSignature, "no provider is pinned")
	for _, pin := range trust.Pins {
		if err = certificate.Verify(pin, topic); err != nil {
			continue
		}
		known := trust.Learned[pin]
		trust.Learn(pin, known.after(certificate))
		if conflicts(certificate, known.Certificate) {
			return false, refuse(pushcrypt.CertificateConflict, "another certificate of this epoch is known")
		}
		return certificate.Epoch() > known.Certificate.Epoch() || certificate.Floor() > known.Floor, nil
	}
	return false, err
}

// ApplyReply does what a phone does with a reply to the record of a key [D-12], [D-13], [D-20]: whether the key is confirmed, and a code to tell
// the app of, "" for none. isBuiltIn says whether the app has a provider key built in.
func ApplyReply(reply *pushcrypt.Reply, key pushcrypt.DevicePublicKey, trust *Trust, topic string, isBuiltIn bool) (confirms bool, told pushcrypt.Code) {
	confirms = !key.IsZero() && reply.Acknowledged == key
	if !confirms && !reply.Acknowledged.IsZero() {
		return false, ""
	}
	if confirms && len(trust.Pins) == 0 && !isBuiltIn && !reply.Provider.IsZero() {
		trust.Pins = []pushcrypt.ProviderPublicKey{reply.Provider}
	}
	if reply.Certificate.IsZero() || len(trust.Pins) == 0 {
		return confirms, reply.RefusedCertificate
	}
	var refused *pushcrypt.Error
	if _, err := trust.Accept(reply.Certificate, topic); errors.As(err, &refused) {
		told = refused.Code
	}
	return confirms, told
}
