package pushcrypt

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"example.com/pushcrypt/internal/curve"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
	"example.com/pushcrypt/internal/wire"
)

// A DeviceRecord is a phone's registration, from a phone to its provider: Docs/FormatRecords.md. A string that is "" is absent.
type DeviceRecord struct {
	PublicKey DevicePublicKey
	// Device is the id under which the provider keeps the device; if "", the provider names it.
	Device string
	// Suites that the device opens; nil stands for that of the key.
	Suites []int
	// Topic is the app's bundle id; "" if the key is not bound to one.
	Topic string
	// Generation counts the keys of the device, from 1.
	Generation uint64
	// Created is the zero time if it is not known.
	Created time.Time
	// Provider is the provider key that the device has pinned, and Certificate the highest that it knows; zero values if not.
	Provider    ProviderPublicKey
	Certificate Certificate
	// AppVersion is the app's, as text.
	AppVersion string
	// Token is that of APNs in hexadecimal digits, and Environment where it is valid: production or development.
	Token, Environment string
	// Withdrawal is a secret with which the phone can end the device, and Grant a relay's permission.
	Withdrawal, Grant string
}

// A ProviderRecord has a provider's key: from a provider to its phones.
type ProviderRecord struct {
	PublicKey  ProviderPublicKey
	Topic      string
	Generation uint64
	// Created is the zero time if it is not known.
	Created time.Time
	// Certificate is the current one; the zero value at epoch 0.
	Certificate Certificate
}

// A Reply is a provider's answer to a record: it has either Acknowledged or Refused. Accept and RefusingReply make it.
type Reply struct {
	// Acknowledged is the key that the provider seals to from now on.
	Acknowledged DevicePublicKey
	// Refused is the reason: 1 to 64 lower-case letters, digits and hyphens.
	Refused Code
	// Provider is the provider key; the zero value if it is not said.
	Provider ProviderPublicKey
	// Certificate is the provider's current one, from epoch 1 on [D-26].
	Certificate Certificate
	// Suites of which the phone may make a key; nil stands for 1.
	Suites []int
	// PushKey is the public key with which the provider signs requests to a relay; nil for none.
	PushKey ed25519.PublicKey
	// Foreign has the members of the record that name a key which the provider never had [D-22].
	Foreign []string
	// RefusedCertificate says why a certificate that came is ignored [D-20]. It is not written.
	RefusedCertificate Code
}

var (
	tokenPattern      = regexp.MustCompile(`^(?:[0-9a-f]{2}){1,100}$`)
	withdrawalPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)
	grantPattern      = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	reasonPattern     = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
)

// ParseDeviceRecord reads a record [D-1] to [D-14], [D-27] to [D-31]. Accept has the rules of a provider. (malformed-record, malformed-key,
// wrong-checksum, wrong-kind-of-key, weak-key)
func ParseDeviceRecord(data []byte) (*DeviceRecord, error) {
	return newFields(data, MalformedRecord).deviceRecord()
}

func (fields *fieldReader) deviceRecord() (*DeviceRecord, error) {
	// First what is no text of a key, then those, last what follows of the keys.
	suite := 1
	if strings.HasPrefix(fields.text("public_key"), format.PrefixPostQuantumPublic+"1") {
		suite = 2
	}
	fields.require(fields.has("public_key"), "public_key")
	fields.suite(suite)
	record := &DeviceRecord{
		Device: fields.checked("device", isDeviceID), Suites: fields.suites(suite), Topic: fields.topic(), Generation: fields.number("generation", 1),
		Created:    fields.created(),
		AppVersion: fields.checked("app_version", func(text string) bool { return wire.IsLabel(text, format.LongestAppVersion) }),
		Token:      fields.checked("token", tokenPattern.MatchString), Withdrawal: fields.checked("withdrawal", withdrawalPattern.MatchString),
		Environment: fields.checked("environment", func(text string) bool { return text == "production" || text == "development" }),
		Grant:       fields.checked("grant", func(text string) bool { return len(text) <= format.LongestGrant && grantPattern.MatchString(text) }),
	}
	record.Certificate, _ = fields.certificate()
	id := fields.text("key_id")
	_ = fields.text("provider")
	record.PublicKey, record.Provider = fields.deviceKey("public_key"), fields.providerKey("provider")
	fields.require(!fields.has("key_id") || id == record.PublicKey.ID(), "key_id")
	return record, fields.err
}

// MarshalJSON returns the record as it is sent. What ParseDeviceRecord refuses is not written.
func (record DeviceRecord) MarshalJSON() ([]byte, error) {
	output := record.output()
	_, err := ParseDeviceRecord(output.Bytes())
	return output.Bytes(), err
}

func (record DeviceRecord) output() (output jsontext.Output) {
	output.Add("device", record.Device)
	output.Add("public_key", record.PublicKey.String())
	output.Add("key_id", record.PublicKey.ID())
	output.Add("suite", uint64(record.PublicKey.Suite()))
	output.Add("suites", integers(record.Suites))
	output.Add("topic", record.Topic)
	output.Add("generation", record.Generation)
	addTime(&output, record.Created)
	output.Add("provider", record.Provider.String())
	output.Add("certificate", record.Certificate.String())
	output.Add("app_version", record.AppVersion)
	output.Add("token", record.Token)
	output.Add("environment", record.Environment)
	output.Add("withdrawal", record.Withdrawal)
	output.Add("grant", record.Grant)
	return output
}

// UnmarshalJSON is ParseDeviceRecord.
func (record *DeviceRecord) UnmarshalJSON(data []byte) error {
	return unmarshal(record, data, ParseDeviceRecord)
}

// Format prints no token and no withdrawal, whatever the verb.
func (record DeviceRecord) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "DeviceRecord(%q, %s, generation %d)", record.Device, record.PublicKey, record.Generation)
}

// ParseProviderRecord reads a record.
func ParseProviderRecord(data []byte) (*ProviderRecord, error) {
	fields := newFields(data, MalformedRecord)
	fields.require(fields.has("public_key"), "public_key")
	fields.suite(1)
	_, id := fields.text("public_key"), fields.text("key_id")
	record := &ProviderRecord{Topic: fields.topic(), Generation: fields.number("generation", 1), Created: fields.created()}
	record.Certificate, _ = fields.certificate()
	record.PublicKey = fields.providerKey("public_key")
	fields.require(!fields.has("key_id") || id == record.PublicKey.ID(), "key_id")
	return record, fields.err
}

// MarshalJSON returns the record as it is sent.
func (record ProviderRecord) MarshalJSON() ([]byte, error) {
	var output jsontext.Output
	output.Add("public_key", record.PublicKey.String())
	output.Add("key_id", record.PublicKey.ID())
	output.Add("topic", record.Topic)
	output.Add("generation", record.Generation)
	addTime(&output, record.Created)
	output.Add("certificate", record.Certificate.String())
	_, err := ParseProviderRecord(output.Bytes())
	return output.Bytes(), err
}

// UnmarshalJSON is ParseProviderRecord.
func (record *ProviderRecord) UnmarshalJSON(data []byte) error {
	return unmarshal(record, data, ParseProviderRecord)
}

// ParseReply reads a reply [D-11], [D-19], [D-32].
func ParseReply(data []byte) (*Reply, error) {
	fields := newFields(data, MalformedRecord)
	fields.version()
	_, _, pushKey := fields.text("acknowledged"), fields.text("provider"), fields.text("push_key")
	reply := &Reply{Refused: Code(fields.checked("refused", reasonPattern.MatchString)), Suites: fields.suites(0)}
	fields.require(fields.has("acknowledged") != fields.has("refused"), "the choice of acknowledged or refused")
	if foreign := fields.members.Present("foreign"); foreign != nil {
		fields.require(foreign.Is(jsontext.Array) && 1 <= len(foreign.Elements) && len(foreign.Elements) <= format.MostForeign, "foreign")
		for _, element := range foreign.Elements {
			fields.require(element.Is(jsontext.String), "foreign")
			reply.Foreign = append(reply.Foreign, element.Text)
		}
	}
	reply.Certificate, reply.RefusedCertificate = fields.certificate()
	reply.Acknowledged, reply.Provider = fields.deviceKey("acknowledged"), fields.providerKey("provider")
	if fields.err == nil && fields.has("push_key") {
		key, ok := wire.Decode32(pushKey)
		if !ok {
			return nil, refuse(MalformedKey, "push_key is not 32 bytes in base64url")
		}
		if !curve.IsVerifying(key[:]) {
			return nil, errWeak()
		}
		reply.PushKey = key[:]
	}
	return reply, fields.err
}

// MarshalJSON returns the reply as it is sent.
func (reply Reply) MarshalJSON() ([]byte, error) {
	var output jsontext.Output
	output.Add("version", uint64(1))
	output.Add("acknowledged", reply.Acknowledged.String())
	output.Add("refused", string(reply.Refused))
	output.Add("provider", reply.Provider.String())
	output.Add("certificate", reply.Certificate.String())
	output.Add("push_key", wire.Encode(reply.PushKey))
	output.Add("suites", integers(reply.Suites))
	output.Add("foreign", reply.Foreign)
	_, err := ParseReply(output.Bytes())
	return output.Bytes(), err
}

// UnmarshalJSON is ParseReply.
func (reply *Reply) UnmarshalJSON(data []byte) error { return unmarshal(reply, data, ParseReply) }

// isDeviceID is [D-14].
func isDeviceID(text string) bool {
	isInvisible := func(character rune) bool { return unicode.In(character, unicode.Cf, unicode.Zl, unicode.Zp) }
	return wire.IsLabel(text, format.LongestLabel) && strings.IndexFunc(text, isInvisible) < 0 && strings.Trim(text, " ") != "" &&
		!strings.HasPrefix(text, format.PrefixDevicePublic+"1") && !strings.HasPrefix(text, format.PrefixPostQuantumPublic+"1")
}

// integers returns JSON; nil for none.
func integers(numbers []int) []byte {
	if len(numbers) == 0 {
		return nil
	}
	data, _ := json.Marshal(numbers)
	return data
}

func addTime(output *jsontext.Output, at time.Time) {
	if !at.IsZero() {
		created, _ := wire.Milliseconds(at)
		output.Add("created", created)
	}
}
