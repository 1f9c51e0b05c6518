package pushcrypt

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
)

// A StoredDevice is what a provider keeps of a device, under its id, Device. Store it as JSON, which has secrets. What a record gave has the
// meaning that it has there. Its Certificate is not kept.
type StoredDevice struct {
	DeviceRecord
	// User is "" if the provider knows none. It is never taken from a record.
	User string
	// IsRemoved says that the device was removed: key, generation and user are kept [D-38], and nothing is sealed to it.
	IsRemoved bool
	// EndedGrant is the one that the relay ended, until the phone brings another.
	EndedGrant string
}

// ParseStoredDevice reads what MarshalJSON wrote.
func ParseStoredDevice(data []byte) (*StoredDevice, error) {
	fields := newFields(data, MalformedRecord)
	fields.most = format.LargestTime
	device := &StoredDevice{
		User:      fields.checked("user", func(text string) bool { return text != "" }),
		IsRemoved: fields.flag("removed"), EndedGrant: fields.checked("ended_grant", isGrant),
	}
	record, err := fields.deviceRecord()
	device.DeviceRecord = *record
	return device, err
}

// MarshalJSON returns the device with the members of a record, user, removed and ended_grant.
func (device StoredDevice) MarshalJSON() ([]byte, error) {
	output := device.output()
	output.Add("user", device.User)
	output.Add("removed", device.IsRemoved)
	output.Add("ended_grant", device.EndedGrant)
	_, err := ParseStoredDevice(output.Bytes())
	return output.Bytes(), err
}

// UnmarshalJSON is ParseStoredDevice.
func (device *StoredDevice) UnmarshalJSON(data []byte) error {
	return unmarshal(device, data, ParseStoredDevice)
}

// Removed returns what to store instead of a device that is removed now [D-38]. A record that the phone sent before does not bring it back:
// Accept refuses one whose sequence, a time, is not over a day from now (stale-record).
func (device StoredDevice) Removed() *StoredDevice {
	now, _ := timeOrNow(time.Time{})
	return device.ended(core.Largest(device.Sequence, now+24*3_600_000))
}

// WithoutGrant returns the device after the relay answered 410 to a push with this grant; itself if a record has brought another since. Accept
// does not take the grant again, and its reply tells the phone to fetch another [D-33].
func (device StoredDevice) WithoutGrant(grant string) *StoredDevice {
	if device.Grant == grant {
		device.EndedGrant, device.Grant = grant, ""
	}
	return &device
}

// ended returns what is kept of a removed device, with another sequence.
func (device StoredDevice) ended(sequence uint64) *StoredDevice {
	record := DeviceRecord{
		PublicKey: device.PublicKey, Device: device.Device, Topic: device.Topic, Suites: device.Suites, Generation: device.Generation,
		Created: device.Created, UpdateKey: device.UpdateKey, Sequence: sequence,
	}
	return &StoredDevice{DeviceRecord: record, User: device.User, IsRemoved: true}
}

// Devices is how Accept looks into your store, in the transaction in which you store what it returns.
type Devices interface {
	// Find returns what you hold under an id, also of a removed device; nil if you never knew it.
	Find(device string) (*StoredDevice, error)
	// Holders returns all that you hold with the key, or with the token unless that is "": under any id and of any user.
	Holders(key DevicePublicKey, token string) ([]*StoredDevice, error)
}

// AcceptOptions are what else Accept needs to know.
type AcceptOptions struct {
	// Topic is the app's bundle id. It is required.
	Topic string
	// Provider is your provider key. It is required.
	Provider ProviderPublicKey
	// NoUser says that the session has no user: then the user is "", and only then.
	NoUser bool
	// Device is your id for the device, for records that name none.
	Device string
	// OwnKeys are all provider keys you ever had, Provider among them or not.
	OwnKeys []ProviderPublicKey
	// Certificate is your current one, the zero value at epoch 0. It goes into the reply [D-37].
	Certificate Certificate
	// Issued are all certificates that you issued and that are not below the current floor. From epoch 1 on nil does not ask for StaleStore.
	Issued []Certificate
	// Replace says that your operator says that the device was set up again.
	Replace bool
	// PushKey is the public key with which you sign requests to a relay; nil for none.
	PushKey ed25519.PublicKey
}

// Accepted is what follows from a record.
type Accepted struct {
	// Device has registered, or has ended.
	Device *StoredDevice
	// Changes are what to store: Device, and what is left of others that had its key or token. Each replaces what you hold under its id.
	Changes []*StoredDevice
	// Reply is what to send to the phone, once that is stored.
	Reply *Reply
	// StaleStore is a certificate by your key that you did not issue [D-36]; otherwise the zero value. Your store is an older copy, or somebody
	// else has your provider key: make it the Proven of the next Plan.
	StaleStore Certificate
	// Foreign has the members that name a key you never had [D-35]: the phone trusts somebody else.
	Foreign []string
	// Warnings are sentences for your operator: about the two before this, and what of the record was stored as something else.
	Warnings []string
}

// Accept decides about a record, by [D-22], [D-25], [D-27] to [D-33] and [D-35] to [D-38]. The user is the one whose session sent the record. What
// the record lacks stays as it was held. An error's code is the reason for Refusal; an error that is no *Error is a fault of yours, such as a
// look-up that returns another device. (user-mismatch, stale-record, generation-rollback, generation-too-high, suite-downgrade,
// unsupported-suite, topic-mismatch, key-taken)
func Accept(record *DeviceRecord, devices Devices, user string, options *AcceptOptions) (*Accepted, error) {
	if record == nil || record.PublicKey.IsZero() {
		return nil, refuse(MalformedRecord, "there is no record, or no key in it")
	}
	if err := options.check(devices); err != nil {
		return nil, err
	}
	if (user == "") != options.NoUser {
		return nil, errors.New("pushcrypt: the user is empty; set AcceptOptions.NoUser for a session without a user, and only then")
	}
	id := record.Device
	if id == "" {
		id = options.Device
	}
	if !isDeviceID(id) {
		return nil, refuse(MalformedRecord, "the record names no device; set AcceptOptions.Device to your id for it")
	}
	held, err := find(devices, id)
	if err != nil {
		return nil, err
	}
	if err := record.refusal(held, user, options); err != nil {
		return nil, err
	}
	device := record.merged(id, held, user, options)
	changes, err := device.displacing(devices, held, options)
	if err != nil {
		return nil, err
	}
	reply := &Reply{Acknowledged: record.PublicKey, Provider: options.Provider, Certificate: options.Certificate, PushKey: options.PushKey}
	own := append([]ProviderPublicKey{{}, options.Provider}, options.OwnKeys...)
	if !contains(own, record.Provider) {
		reply.Foreign = []string{"provider"}
	}
	reply.GrantEnded = record.Grant != "" && record.Grant == device.EndedGrant
	accepted := &Accepted{Device: device, Changes: changes, Reply: reply, StaleStore: options.unknown(record.Certificate, device.Topic), Foreign: reply.Foreign}
	if len(accepted.Foreign) > 0 {
		accepted.warn(id + " names a provider key that you never had: somebody else has enrolled the phone")
	}
	if !accepted.StaleStore.IsZero() {
		accepted.warn(id + " shows a certificate that you never issued: your store is an old copy, or somebody has your provider key")
	}
	if record.Token != "" && record.Environment == "" {
		accepted.warn(id + " has a token without an environment: it is stored as one of production")
	}
	return accepted, nil
}

// AcceptEnd decides about what a phone posts after a log-out, without a session: an end, signed under its update key [D-23] to [D-26]. It returns
// nil without an error for any other record, which is for Accept. (malformed-record, unknown-device, bad-record-signature, stale-record)
func AcceptEnd(record, signature []byte, devices Devices, options *AcceptOptions) (*Accepted, error) {
	if err := options.check(devices); err != nil {
		return nil, err
	}
	fields := newFields(record, MalformedRecord)
	if fields.members["ended"] != true {
		return nil, nil
	}
	id, nonce := fields.checked("device", isDeviceID), fields.checked("nonce", noncePattern.MatchString)
	isWhole := id != "" && nonce != "" && fields.number("sequence", 0) == format.LargestTime && fields.has("provider")
	fields.require(isWhole, "a member of an end")
	provider := read(fields, "provider", ParseProviderPublicKey)
	if fields.err != nil {
		return nil, fields.err
	}
	held, err := find(devices, id)
	if err != nil {
		return nil, err
	}
	if held == nil || held.IsRemoved {
		return nil, refuse(UnknownDevice, "there is no such device, or it was removed")
	}
	context := held.Topic
	if context == "" {
		context = options.Topic
	}
	message := append(core.AppendText([]byte("pushcrypt/1 record\x00\x02"), context), provider.Bytes()...)
	if !core.Verifies(held.UpdateKey, signature, append(message, record...)) {
		return nil, refuse(BadRecordSignature, "the device's update key did not sign this end, or signed it for another app")
	}
	if held.Sequence == format.LargestTime {
		return nil, stale(held)
	}
	device := held.ended(format.LargestTime)
	reply := &Reply{Ended: id, Provider: options.Provider, Certificate: options.Certificate, PushKey: options.PushKey}
	return &Accepted{Device: device, Changes: []*StoredDevice{device}, Reply: reply}, nil
}

func find(devices Devices, id string) (*StoredDevice, error) {
	held, err := devices.Find(id)
	if err == nil && held != nil && (held.Device != id || held.PublicKey.IsZero()) {
		err = fmt.Errorf("pushcrypt: Find(%q) returned %q: one phone would get what is another's", id, held.Device)
	}
	return held, err
}

func stale(held *StoredDevice) *Error {
	return &Error{Code: StaleRecord, Text: "the record is not later than the last one of the device, or its removal", Sequence: held.Sequence}
}

func (accepted *Accepted) warn(text string) { accepted.Warnings = append(accepted.Warnings, text) }

// Refusal is the answer to a record that Accept, AcceptEnd or ParseDeviceRecord refused. The certificate is the current one, the zero value at epoch 0. An
// error that is not of this package is "internal-error".
func Refusal(err error, certificate Certificate) *Reply {
	reply, refused := &Reply{Refused: "internal-error", Certificate: certificate}, (*Error)(nil)
	if errors.As(err, &refused) {
		reply.Refused, reply.Sequence = refused.Code, refused.Sequence
	}
	return reply
}

// check refuses what is a fault of the program, and not of the record.
func (options *AcceptOptions) check(devices Devices) error {
	switch {
	case devices == nil:
		return errors.New("pushcrypt: Accept needs your store as Devices")
	case options == nil || checkTopic(options.Topic) != nil || options.Provider.IsZero():
		return errors.New("pushcrypt: AcceptOptions need Topic and Provider")
	case options.Device != "" && !isDeviceID(options.Device):
		return errors.New("pushcrypt: AcceptOptions.Device is no id: 1 to 255 bytes without invisible characters")
	case options.PushKey != nil && len(options.PushKey) != ed25519.PublicKeySize:
		return errors.New("pushcrypt: AcceptOptions.PushKey has not 32 bytes")
	}
	return nil
}

// refusal is the first rule that a record breaks, but for [D-32].
func (record *DeviceRecord) refusal(held *StoredDevice, user string, options *AcceptOptions) error {
	isKnown := held != nil
	if !isKnown {
		held = &StoredDevice{}
	}
	isSameKey := isKnown && held.PublicKey == record.PublicKey
	keepsKeys := isSameKey && (record.UpdateKey == nil || bytes.Equal(record.UpdateKey, held.UpdateKey))
	if !options.Replace {
		switch {
		case isKnown && user != "" && held.User != user:
			return refuse(UserMismatch, "the device is another user's, or nobody's")
		case held.User != "" && user == "" && !keepsKeys:
			return refuse(UserMismatch, "the device is a user's, and a session without a user has another key or update key")
		case record.Sequence != 0 && record.Sequence <= held.Sequence:
			return stale(held)
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
	bound := held.Topic
	if held.IsRemoved || options.Replace || bound == "" {
		bound = options.Topic
	}
	if record.Topic != "" && (record.Topic != bound || record.Topic != options.Topic) {
		return refuse(TopicMismatch, "the device is, or was registered, for another app")
	}
	return nil
}

// merged returns the record as it is stored, after what is held.
func (record *DeviceRecord) merged(id string, held *StoredDevice, user string, options *AcceptOptions) *StoredDevice {
	device := &StoredDevice{DeviceRecord: *record, User: user}
	device.Device, device.Certificate = id, Certificate{}
	if len(device.Suites) == 0 {
		device.Suites = []int{record.PublicKey.Suite()}
	}
	if device.Token == "" {
		device.Environment = ""
	} else if device.Environment == "" {
		device.Environment = "production"
	}
	if held != nil {
		device.keep(held, options.Replace)
	}
	if device.Topic == "" {
		device.Topic = options.Topic
	}
	return device
}

// keep takes over what a record lacks; of a device that was removed the user, update key and sequence alone, of one that was set up again the user.
func (device *StoredDevice) keep(held *StoredDevice, isNew bool) {
	if device.User == "" {
		device.User = held.User
	}
	// An end outranks all, but for the operator's word [D-26].
	if !isNew && held.Sequence != format.LargestTime {
		if device.UpdateKey == nil {
			device.UpdateKey = held.UpdateKey
		}
		device.Sequence = core.Largest(device.Sequence, held.Sequence)
	}
	if isNew || held.IsRemoved {
		return
	}
	if device.Created.IsZero() && device.PublicKey == held.PublicKey {
		device.Created = held.Created
	}
	if device.Grant == "" || device.Grant == held.EndedGrant {
		device.Grant, device.EndedGrant = held.Grant, held.EndedGrant
	}
	for _, one := range recordTexts {
		if into := one.field(&device.DeviceRecord); *into == "" {
			*into = *one.field(&held.DeviceRecord)
		}
	}
}

// displacing returns the device, and what is left of others with its key [D-32], or with its token: one phone of one user got each push twice.
func (device *StoredDevice) displacing(devices Devices, held *StoredDevice, options *AcceptOptions) ([]*StoredDevice, error) {
	others, err := devices.Holders(device.PublicKey, device.Token)
	if err != nil {
		return nil, err
	}
	hasKey := held != nil && !held.IsRemoved && !options.Replace && held.PublicKey == device.PublicKey
	changes := []*StoredDevice{device}
	for _, one := range others {
		if one == nil {
			return nil, errors.New("pushcrypt: Holders returned nil as a device")
		}
		isKey, isToken, isUsers := one.PublicKey == device.PublicKey, device.Token != "" && one.Token == device.Token, device.User != "" && one.User == device.User
		switch {
		case !isKey && !isToken:
			return nil, fmt.Errorf("pushcrypt: Holders returned %q, which has another key and another token", one.Device)
		case one.Device == device.Device:
		case one.IsRemoved:
		case isKey && !hasKey && !isUsers:
			return nil, refuse(KeyTaken, "another device, not of the same user, has this key")
		case isKey && !hasKey || isUsers && isToken && one.Topic == device.Topic:
			changes = append(changes, one.ended(one.Sequence))
		}
	}
	return changes, nil
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
