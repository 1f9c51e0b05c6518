package pushcrypttest

import (
	"bytes"
	"encoding/json"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/format"
)

// Learned is the highest certificate and the highest floor of a provider key and an app, for all accounts [T-6]. Its zero value is nothing.
type Learned struct {
	Certificate pushcrypt.Certificate
	Floor       uint32
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

// A Change is what an accepted certificate did.
type Change int

// What an accepted certificate did [T-3].
const (
	Unchanged Change = iota
	// Raised: it is higher than what was known.
	Raised
	// Conflict: another certificate of its epoch is known, of a restored store or a stolen provider key. Tell the app.
	Conflict
)

// A Trust has the pins of one account, for one app, and what the phone has learned of provider keys there.
//
// An account has one pin, or two while the app changes its provider key by a release [T-5]. What is learned belongs to the provider key and
// the app, whatever the account, and only grows. One goroutine at a time may change a Trust. It is stored as JSON.
type Trust struct {
	pins    []pushcrypt.ProviderPublicKey
	learned map[pushcrypt.ProviderPublicKey]Learned
}

// NewTrust returns the trust of one account. What is learned of other provider keys may be among the rest; nil is nothing.
func NewTrust(pins []pushcrypt.ProviderPublicKey, learned map[pushcrypt.ProviderPublicKey]Learned) (*Trust, error) {
	trust := &Trust{append([]pushcrypt.ProviderPublicKey(nil), pins...), map[pushcrypt.ProviderPublicKey]Learned{}}
	for index, pin := range pins {
		if pin.IsZero() {
			return nil, refuse(pushcrypt.UnusableKey, "a pin is no key: this is the zero value")
		}
		if index >= format.MostPins || index > 0 && pin == pins[0] {
			return nil, refuse(pushcrypt.TooManyPins, "an account has one or two pins, of different provider keys; unpin one")
		}
	}
	for key, known := range learned {
		if key.IsZero() {
			return nil, refuse(pushcrypt.UnusableKey, "what is learned belongs to a key, and this is the zero value")
		}
		trust.learned[key] = known
	}
	return trust, nil
}

// Pins returns the provider keys of the account.
func (trust *Trust) Pins() []pushcrypt.ProviderPublicKey {
	return append([]pushcrypt.ProviderPublicKey(nil), trust.pins...)
}

// Learned returns what is known of a provider key, pinned or not.
func (trust *Trust) Learned(key pushcrypt.ProviderPublicKey) Learned { return trust.learned[key] }

// Learn merges what came of a message [O-9.1].
func (trust *Trust) Learn(key pushcrypt.ProviderPublicKey, known Learned) {
	if !key.IsZero() {
		trust.learned[key] = trust.learned[key].Merged(known)
	}
}

// Accept learns a certificate of a reply, for the first pin that verifies it.
func (trust *Trust) Accept(certificate pushcrypt.Certificate, topic string) (Change, error) {
	if err := checkTopic(topic); err != nil {
		return Unchanged, err
	}
	refused := refuse(pushcrypt.BadCertificateSignature, "no provider is pinned")
	for _, pin := range trust.pins {
		if refused = certificate.Verify(pin, topic); refused != nil {
			continue
		}
		known := trust.learned[pin]
		trust.Learn(pin, known.after(certificate))
		switch {
		case conflicts(certificate, known.Certificate):
			return Conflict, nil
		case certificate.Epoch() > known.Certificate.Epoch() || certificate.Floor() > known.Floor:
			return Raised, nil
		}
		return Unchanged, nil
	}
	return Unchanged, refused
}

// The JSON of a Trust.
type trustJSON struct {
	Pins    []pushcrypt.ProviderPublicKey `json:"pins"`
	Learned []learnedJSON                 `json:"learned"`
}

type learnedJSON struct {
	Provider    pushcrypt.ProviderPublicKey `json:"provider"`
	Certificate *pushcrypt.Certificate      `json:"certificate,omitempty"`
	Floor       uint32                      `json:"floor"`
}

// MarshalJSON returns pins and what was learned.
func (trust *Trust) MarshalJSON() ([]byte, error) {
	output := trustJSON{Pins: trust.Pins()}
	for key, known := range trust.learned {
		one := learnedJSON{Provider: key, Floor: known.Floor}
		if !known.Certificate.IsZero() {
			certificate := known.Certificate
			one.Certificate = &certificate
		}
		output.Learned = append(output.Learned, one)
	}
	return json.Marshal(output)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (trust *Trust) UnmarshalJSON(data []byte) error {
	var input trustJSON
	if err := json.Unmarshal(data, &input); err != nil {
		return err
	}
	learned := map[pushcrypt.ProviderPublicKey]Learned{}
	for _, one := range input.Learned {
		known := Learned{Floor: one.Floor}
		if one.Certificate != nil {
			known.Certificate = *one.Certificate
		}
		learned[one.Provider] = known
	}
	read, err := NewTrust(input.Pins, learned)
	if err == nil {
		*trust = *read
	}
	return err
}

// ApplyReply does what a phone does with a reply to the record of a key [D-12], [D-13], [D-20]: whether the key is confirmed, and a code to tell
// the app of, "" for none. isBuiltIn says whether the app has a provider key built in.
func ApplyReply(reply *pushcrypt.Reply, key pushcrypt.DevicePublicKey, trust *Trust, topic string, isBuiltIn bool) (confirms bool, told pushcrypt.Code) {
	confirms = !key.IsZero() && reply.Acknowledged == key
	if !confirms && !reply.Acknowledged.IsZero() {
		return false, ""
	}
	if confirms && len(trust.pins) == 0 && !isBuiltIn && !reply.Provider.IsZero() {
		trust.pins = []pushcrypt.ProviderPublicKey{reply.Provider}
	}
	if reply.Certificate.IsZero() || len(trust.pins) == 0 {
		return confirms, reply.RefusedCertificate
	}
	change, err := trust.Accept(reply.Certificate, topic)
	if change == Conflict {
		told = pushcrypt.CertificateConflict
	}
	if refused, ok := err.(*pushcrypt.Error); ok {
		told = refused.Code
	}
	return confirms, told
}
