package pushcrypt

import (
	"crypto/ed25519"
	"time"

	"example.com/pushcrypt/internal/format"
)

// A StoredDevice is what a provider keeps of a device, under the id in its record. Store it as JSON, which has secrets. What a record gave has
// the meaning that it has there. Its Certificate is not kept.
type StoredDevice struct {
	DeviceRecord
	// User is "" if the provider knows none. It is never taken from a record.
	User string
	// IsRemoved says that the device was removed: key, generation and user are kept [D-38].
	IsRemoved bool
}

// ParseStoredDevice reads what MarshalJSON wrote.
func ParseStoredDevice(data []byte) (*StoredDevice, error) {
	fields := newFields(data, MalformedRecord)
	device := &StoredDevice{User: fields.text("user"), IsRemoved: fields.flag("removed")}
	record, err := fields.deviceRecord()
	device.DeviceRecord = *record
	return device, err
}

// MarshalJSON returns the device with the members of a record, user and removed.
func (device StoredDevice) MarshalJSON() ([]byte, error) {
	output := device.output()
	output.Add("user", device.User)
	output.Add("removed", device.IsRemoved)
	_, err := ParseStoredDevice(output.Bytes())
	return output.Bytes(), err
}

// UnmarshalJSON is ParseStoredDevice.
func (device *StoredDevice) UnmarshalJSON(data []byte) error {
	return unmarshal(device, data, ParseStoredDevice)
}

// Removed returns what to store instead of a device that is removed now [D-38]. What the phone sent before, or says within a day, is older.
func (device StoredDevice) Removed() *StoredDevice {
	record := DeviceRecord{PublicKey: device.PublicKey, Device: device.Device, Generation: device.Generation, UpdateKey: device.UpdateKey}
	record.Sequence = larger(device.Sequence, uint64(time.Now().Add(24*time.Hour).UnixMilli()))
	return &StoredDevice{DeviceRecord: record, User: device.User, IsRemoved: true}
}

// AcceptOptions are what else Accept needs to know. The zero value, and nil, is nothing.
type AcceptOptions struct {
	// Topic is the app's bundle id; "" accepts any.
	Topic string
	// Provider is your provider key. Without it, the keys and certificates that a record names are not checked.
	Provider ProviderPublicKey
	// OwnKeys are all provider keys you ever had, Provider among them or not.
	OwnKeys []ProviderPublicKey
	// Certificate is your current one, the zero value at epoch 0. It goes into the reply [D-37].
	Certificate Certificate
	// Issued are all certificates that you issued and that are not below the current floor. From epoch 1 on nil does not ask for StaleStore.
	Issued []Certificate
	// Elsewhere is the device with another id under which you hold the record's key; nil if there is none.
	Elsewhere *StoredDevice
	// Replace says that your operator says that the device was set up again.
	Replace bool
	// PushKey is the public key with which you sign requests to a relay; nil for none.
	PushKey ed25519.PublicKey
}

// Accepted is what follows from a record. Store it all in the transaction in which you read what you hold.
type Accepted struct {
	// Device is what to store. If the record has no id, set Device.Device to one of yours.
	Device *StoredDevice
	// Reply is what to send to the phone, once Device is stored.
	Reply *Reply
	// RemovesElsewhere says that Elsewhere has lost its key: store Elsewhere.Removed().
	RemovesElsewhere bool
	// StaleStore is a certificate by your key that you did not issue [D-36]; otherwise the zero value. Your store is an older copy, or somebody
	// else has your provider key: tell your operator, and make it the Proven of the next Plan.
	StaleStore Certificate
	// Foreign has the members that name a key you never had [D-35]: the phone trusts somebody else. Tell your operator.
	Foreign []string
}

// Accept decides about a record, by [D-22], [D-27] to [D-32] and [D-35] to [D-38], and merges it with what you hold:
// nil, or what you stored under its id, also of a removed device. The user is the one whose session sent the record; "" for none. What the
// record lacks stays as it was held. An error's code is the reason for RefusingReply. (user-mismatch, generation-rollback, generation-too-high,
// suite-downgrade, unsupported-suite, topic-mismatch, key-taken)
func Accept(record *DeviceRecord, held *StoredDevice, user string, options *AcceptOptions) (*Accepted, error) {
	if options == nil {
		options = &AcceptOptions{}
	}
	if record == nil || record.PublicKey.IsZero() {
		return nil, refuse(MalformedRecord, "there is no record, or no key in it")
	}
	if err := record.refusal(held, user, options); err != nil {
		return nil, err
	}
	device := &StoredDevice{DeviceRecord: *record, User: user}
	device.Certificate = Certificate{}
	if len(device.Suites) == 0 {
		device.Suites = []int{record.PublicKey.Suite()}
	}
	if held != nil {
		device.keep(held, options.Replace || held.IsRemoved)
	}
	if device.Topic == "" {
		device.Topic = options.Topic
	}
	other := options.Elsewhere
	if other != nil && (device.User == "" || other.User != device.User) {
		return nil, refuse(KeyTaken, "another device, not of the same user, has this key")
	}
	reply := &Reply{Acknowledged: record.PublicKey, Provider: options.Provider, Certificate: options.Certificate, PushKey: options.PushKey}
	own := append([]ProviderPublicKey{{}, options.Provider}, options.OwnKeys...)
	if !options.Provider.IsZero() && !contains(own, record.Provider) {
		reply.Foreign = []string{"provider"}
	}
	return &Accepted{device, reply, other != nil, options.unknown(record.Certificate, device.Topic), reply.Foreign}, nil
}

// RefusingReply is the answer to a record that Accept or ParseDeviceRecord refused. The certificate is the current one, the zero value at
// epoch 0. An error that is not of this package is "internal-error".
func RefusingReply(err error, certificate Certificate) *Reply {
	reply := &Reply{Refused: codeOf(err), Certificate: certificate}
	if reply.Refused == "" {
		reply.Refused = "internal-error"
	}
	return reply
}

// refusal is the first rule that a record breaks, but for [D-32].
func (record *DeviceRecord) refusal(held *StoredDevice, user string, options *AcceptOptions) error {
	isKnown := held != nil
	if !isKnown {
		held = &StoredDevice{}
	}
	isSameKey := isKnown && held.PublicKey == record.PublicKey
	if !options.Replace {
		switch {
		case isKnown && user != "" && held.User != user:
			return refuse(UserMismatch, "the device is another user's, or nobody's")
		case held.User != "" && user == "" && !isSameKey:
			return refuse(UserMismatch, "the device is a user's, and a session without a user has another key")
		case isKnown && (record.Generation < held.Generation || record.Generation == held.Generation && !isSameKey):
			return refuse(GenerationRollback, "the record is older than the one held")
		case record.Generation > held.Generation && record.Generation-held.Generation > format.GenerationStep:
			return refuse(GenerationTooHigh, "the generation is over 1,024 above the one held")
		case held.PublicKey.Suite() > record.PublicKey.Suite():
			return refuse(SuiteDowngrade, "the device has a post-quantum key, and this one is not")
		}
	}
	if record.PublicKey.Suite() != 1 && (!isSameKey || held.IsRemoved) {
		return refuse(UnsupportedSuite, "the key is of suite 2, to which this package does not seal")
	}
	heldTopic := held.Topic
	if held.IsRemoved || options.Replace || heldTopic == "" {
		heldTopic = options.Topic
	}
	if record.Topic != "" && heldTopic != "" && record.Topic != heldTopic {
		return refuse(TopicMismatch, "the record is for another app")
	}
	return nil
}

// keep takes over what a record lacks, or only user, update key and sequence. A token has its environment with it.
func (device *StoredDevice) keep(held *StoredDevice, onlyUser bool) {
	if device.User == "" {
		device.User = held.User
	}
	if device.UpdateKey == nil {
		device.UpdateKey = held.UpdateKey
	}
	device.Sequence = larger(device.Sequence, held.Sequence)
	hasToken := device.Token != ""
	for _, one := range recordTexts {
		if into := one.field(&device.DeviceRecord); *into == "" && !onlyUser && !(hasToken && one.name == "environment") {
			*into = *one.field(&held.DeviceRecord)
		}
	}
}

func larger(a, b uint64) uint64 {
	if a < b {
		return b
	}
	return a
}

// unknown returns a certificate by the own key that was never issued [D-36].
func (options *AcceptOptions) unknown(shown Certificate, topic string) Certificate {
	isAsked := options.Issued != nil || options.Certificate.IsZero()
	if !isAsked || shown.IsZero() || shown.Epoch() < options.Certificate.Floor() || shown.Verify(options.Provider, topic) != nil {
		return Certificate{}
	}
	for _, one := range append([]Certificate{options.Certificate}, options.Issued...) {
		if one.claim() == shown.claim() {
			return Certificate{}
		}
	}
	return shown
}
