package pushcrypt

// A HeldDevice is what a provider holds of a device.
type HeldDevice struct {
	// PublicKey is the text of its key, which may be of suite 2, pcrx1….
	PublicKey  string
	Generation uint64
	// Topic is empty if the provider holds none.
	Topic string
	// User is empty if the provider knows none.
	User string
}

// A Registration is a record as a provider gets it, with what it holds.
type Registration struct {
	Record *DeviceRecord
	// Held is what the provider holds of the record's device; nil if it does not know it.
	Held *HeldDevice
	// User is the user whose session sent the record, never a member of it; empty for a session without a user.
	User string
	// Elsewhere is another device under which the provider holds the record's key; nil if there is none.
	Elsewhere *HeldDevice
	// Replace says that the provider's operator says that the device was set up again.
	Replace bool
	// HasKey tells whether the provider has or had a sender or recovery key; nil does not ask.
	HasKey func(key [32]byte) bool
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
	if !registration.Replace && held.Topic != "" && record.Topic != "" && held.Topic != record.Topic {
		return nil, refuse(TopicMismatch, "the device is held for another app")
	}
	owner := registration.User
	if owner == "" {
		owner = held.User
	}
	if registration.Elsewhere != nil && (owner == "" || registration.Elsewhere.User != owner) {
		return nil, refuse(KeyTaken, "another device, not of the same user, has this key")
	}
	if registration.HasKey == nil {
		return nil, nil
	}
	if !record.Sender.isZero() && !registration.HasKey(record.Sender.bytes) {
		foreign = append(foreign, "sender")
	}
	for _, key := range record.Recovery {
		if !registration.HasKey(key.bytes) {
			return append(foreign, "recovery"), nil
		}
	}
	return foreign, nil
}

// Pins are the sender that a phone has pinned, the zero value if none, and its recovery keys.
type Pins struct {
	Sender   SenderPublicKey
	Recovery []RecoveryPublicKey
}

// Apply tells what a phone does with a reply to the record of a key: whether the key is confirmed, and what it trusts then [D-12],
// [D-13], [D-20]. The last two say whether the app has such a key built in.
func (reply *Reply) Apply(key DevicePublicKey, pins Pins, senderBuiltIn, recoveryBuiltIn bool) (confirms bool, after Pins) {
	if reply.Acknowledged != key {
		return false, pins
	}
	if !pins.Sender.isZero() || senderBuiltIn || reply.Sender.isZero() {
		return true, pins
	}
	recovery := pins.Recovery
	if len(recovery) == 0 && !recoveryBuiltIn {
		recovery = append([]RecoveryPublicKey(nil), reply.Recovery...)
	}
	return true, Pins{reply.Sender, recovery}
}
