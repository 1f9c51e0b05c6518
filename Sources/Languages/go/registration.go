package pushcrypt

import "errors"

// A HeldDevice is what a provider holds of a device.
type HeldDevice struct {
	// PublicKey is the text of its key, which may be of suite 2, pcrx1….
	PublicKey  string
	Generation uint64
	// Topic is empty if the provider holds none.
	Topic string
	// User is empty if the provider knows none.
	User string
	// IsRemoved says that the device was removed: what was learned of it is kept [D-34].
	IsRemoved bool
}

// A Registration is a record as a provider gets it, with what it holds.
type Registration struct {
	Record *DeviceRecord
	// Held is what the provider holds of the record's device, also of a removed one; nil if it never knew it.
	Held *HeldDevice
	// User is the user whose session sent the record, never a member of it; empty for a session without a user.
	User string
	// Elsewhere is another device under which the provider holds the record's key; nil if there is none.
	Elsewhere *HeldDevice
	// Replace says that the provider's operator says that the device was set up again.
	Replace bool
	// HasKey tells whether the provider has or had a provider key; nil does not ask.
	HasKey func(key ProviderPublicKey) bool
}

// Check decides whether a provider accepts a record [D-7], [D-8], [D-15], [D-17], [D-18], [D-22],
// [D-23], [D-24].
//
// A refusal's code is the reason of the Reply. Otherwise the provider stores the record, in the same transaction in which it read what it
// holds, removes the key elsewhere, and keeps the held topic and user if the record and the session have none. The result is the members
// of the record that name a key which the provider never had, for Reply.Foreign: tell your operator.
func (registration *Registration) Check() (foreign []string, err error) {
	record, held := registration.Record, registration.Held
	if held == nil {
		held = &HeldDevice{}
	}
	isKnown, isSameKey := registration.Held != nil, held.PublicKey == record.PublicKey.String()
	if !registration.Replace {
		switch {
		case held.User != "" && registration.User != "" && held.User != registration.User:
			return nil, refuse(UserMismatch, "the device is another user's")
		case held.User != "" && registration.User == "" && !isSameKey:
			return nil, refuse(UserMismatch, "the device is a user's, and a session without a user has another key")
		case isKnown && (record.Generation < held.Generation || record.Generation == held.Generation && !isSameKey):
			return nil, refuse(GenerationRollback, "the record is older than the one held")
		case record.Generation > held.Generation && record.Generation-held.Generation > generationStep:
			return nil, refuse(GenerationTooHigh, "the generation is over 1,024 above the one held")
		case suiteOf(held.PublicKey) > record.PublicKey.Suite():
			return nil, refuse(SuiteDowngrade, "the device has a post-quantum key, and this one is not")
		}
	}
	if record.PublicKey.Suite() != suiteNumber && !isSameKey {
		return nil, refuse(UnsupportedSuite, "the key is of suite 2, to which this package does not seal")
	}
	if !registration.Replace && !held.IsRemoved && held.Topic != "" && record.Topic != "" && held.Topic != record.Topic {
		return nil, refuse(TopicMismatch, "the device is held for another app")
	}
	owner := registration.User
	if owner == "" {
		owner = held.User
	}
	if registration.Elsewhere != nil && (owner == "" || registration.Elsewhere.User != owner) {
		return nil, refuse(KeyTaken, "another device, not of the same user, has this key")
	}
	if registration.HasKey == nil || record.Provider.isZero() || registration.HasKey(record.Provider) {
		return nil, nil
	}
	return []string{"provider"}, nil
}

// ShowsStaleStore tells whether a record has a certificate by the provider's own key that the provider did not issue [D-33]. Then its store
// is an old one, or somebody else has the provider key: tell your operator. A certificate by another key is ignored.
func (record *DeviceRecord) ShowsStaleStore(provider ProviderPublicKey, topic string, issued []Certificate) bool {
	for _, one := range issued {
		if one.claim() == record.Certificate.claim() {
			return false
		}
	}
	return !record.Certificate.IsZero() && record.Certificate.check(provider, topic) == nil
}

// Apply does what a phone does with a reply to the record of a key [D-12], [D-13], [D-20]: whether the key is confirmed, and a code to tell
// the app of. Store what changes in the trust in one transaction. isBuiltIn says whether the app has a provider key built in.
func (reply *Reply) Apply(key DevicePublicKey, trust *Trust, topic string, isBuiltIn bool) (confirms bool, told Code) {
	confirms = reply.Acknowledged == key
	if !confirms && !reply.Acknowledged.isZero() {
		return false, ""
	}
	if confirms && len(trust.pins) == 0 && !isBuiltIn && !reply.Provider.isZero() {
		trust.pins = []ProviderPublicKey{reply.Provider}
	}
	if reply.Certificate.IsZero() || len(trust.pins) == 0 {
		return confirms, reply.RefusedCertificate
	}
	change, err := trust.Accept(reply.Certificate, topic)
	var refused *Error
	if errors.As(err, &refused) {
		return confirms, refused.Code
	}
	if change == Conflict {
		return confirms, CertificateConflict
	}
	return confirms, ""
}
