package pushcrypt

// What a phone knows of the providers that it has pinned: Docs/FormatTrust.md, [T-3] to [T-6].
const (
	longestLife = 31 * 86_400
	mostPins    = 2
)

// Learned is the highest certificate and the highest floor of a provider key and an app, for all accounts [T-6]. Its zero value is nothing.
type Learned struct {
	Certificate Certificate
	Floor       uint32
}

// Merged returns the maximum of each: stores may come in any order.
func (known Learned) Merged(other Learned) Learned {
	if other.Certificate.isHigher(known.Certificate) {
		known.Certificate = other.Certificate
	}
	if other.Floor > known.Floor {
		known.Floor = other.Floor
	}
	return known
}

// after is [T-3]; without a certificate nothing changes.
func (known Learned) after(certificate Certificate) Learned {
	return known.Merged(Learned{certificate, certificate.Floor()})
}

// opens is [T-4], once the message's own certificate was taken into account.
func (known Learned) opens(certificate Certificate, sentAt, now uint64) bool {
	if !certificate.IsZero() && (sentAt > certificate.expiresAt() || now > later(certificate.expiresAt(), longestLife)) {
		return false
	}
	highest, epoch := known.Certificate, certificate.Epoch()
	return epoch >= known.Floor && (epoch == highest.Epoch() || now <= highest.graceUntil())
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
// the app, whatever the account, and only grows: store what is stored, merged with what came of a message or a reply. Removing a pin
// removes none of it. One goroutine at a time may change a Trust.
type Trust struct {
	pins    []ProviderPublicKey
	learned map[ProviderPublicKey]Learned
}

// NewTrust returns the trust of one account. What is learned of other provider keys may be among the rest; it may be nil.
func NewTrust(pins []ProviderPublicKey, learned map[ProviderPublicKey]Learned) (*Trust, error) {
	trust := &Trust{append([]ProviderPublicKey(nil), pins...), map[ProviderPublicKey]Learned{}}
	for index, pin := range pins {
		if pin.isZero() {
			return nil, refuse(MalformedKey, "a pin is no key")
		}
		if index >= mostPins || index > 0 && pin == pins[0] {
			return nil, refuse(TooManyPins, "an account has one or two pins, of different provider keys; unpin one")
		}
	}
	for key, known := range learned {
		trust.learned[key] = known
	}
	return trust, nil
}

// Pins returns the provider keys of the account.
func (trust *Trust) Pins() []ProviderPublicKey {
	return append([]ProviderPublicKey(nil), trust.pins...)
}

// Learned returns what is known of a provider key, pinned or not.
func (trust *Trust) Learned(key ProviderPublicKey) Learned { return trust.learned[key] }

// Learn merges what came of a message [O-9.1].
func (trust *Trust) Learn(key ProviderPublicKey, known Learned) {
	trust.learned[key] = trust.learned[key].Merged(known)
}

// Accept learns a certificate of a reply, for the first pin that verifies it.
func (trust *Trust) Accept(certificate Certificate, topic string) (Change, error) {
	if err := checkTopic(topic); err != nil {
		return Unchanged, err
	}
	var refused error = refuse(BadCertificateSignature, "no provider is pinned")
	for _, pin := range trust.pins {
		if refused = certificate.check(pin, topic); refused != nil {
			continue
		}
		known := trust.learned[pin]
		trust.Learn(pin, known.after(certificate))
		switch {
		case certificate.conflicts(known.Certificate):
			return Conflict, nil
		case certificate.Epoch() > known.Certificate.Epoch() || certificate.Floor() > known.Floor:
			return Raised, nil
		}
		return Unchanged, nil
	}
	return Unchanged, refused
}
