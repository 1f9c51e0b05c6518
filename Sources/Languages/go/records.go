package pushcrypt

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
	"example.com/pushcrypt/Sources/Languages/go/internal/jsontext"
)

// A DeviceRecord is a phone's registration, from a phone to its provider: Docs/FormatRecords.md. A string that is "" is absent.
type DeviceRecord struct {
	PublicKey DevicePublicKey
	// Device is the id under which the provider keeps the device; if "", the provider names it: AcceptOptions.Device.
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
	// Grant is a relay's permission.
	Grant string
	// UpdateKey signs the device's records without a session; nil for none.
	UpdateKey ed25519.PublicKey
	// Sequence numbers the records: a later one has a higher one. 0 if there is none.
	Sequence uint64
}

// A Reply is a provider's answer to a record: it has one of Acknowledged, Refused and Ended. Accept, AcceptEnd and Refusal make them.
type Reply struct {
	// Acknowledged is the key that the provider seals to from now on.
	Acknowledged DevicePublicKey
	// Refused is the reason: 1 to 64 lower-case letters, digits and hyphens.
	Refused Code
	// Ended is the device that has logged out.
	Ended string
	// Sequence is the held one, with the reason StaleRecord.
	Sequence uint64
	// Provider is the provider key; the zero value if it is not said.
	Provider ProviderPublicKey
	// Certificate is the provider's current one, from epoch 1 on [D-37].
	Certificate Certificate
	// PushKey is the public key with which the provider signs requests to a relay, and NextPushKey the one that will follow; nil for none.
	PushKey, NextPushKey ed25519.PublicKey
	// GrantEnded says that the relay has ended the record's grant.
	GrantEnded bool
	// Foreign has the members of the record that name a key which the provider never had [D-35].
	Foreign []string
}

var (
	tokenPattern  = regexp.MustCompile(`^(?:[0-9a-f]{2}){1,100}$`)
	noncePattern  = regexp.MustCompile(`^[A-Za-z0-9_-]{21}[AQgw]$`)
	grantPattern  = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	placePattern  = regexp.MustCompile(`^(?:production|development)$`)
	reasonPattern = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	// The texts of a record, with their rules.
	recordTexts = []struct {
		name   string
		accept func(string) bool
		field  func(*DeviceRecord) *string
	}{
		{"device", isDeviceID, func(record *DeviceRecord) *string { return &record.Device }},
		{"topic", core.IsTopic, func(record *DeviceRecord) *string { return &record.Topic }},
		{"app_version", isVersion, func(record *DeviceRecord) *string { return &record.AppVersion }},
		{"token", tokenPattern.MatchString, func(record *DeviceRecord) *string { return &record.Token }},
		{"environment", placePattern.MatchString, func(record *DeviceRecord) *string { return &record.Environment }},
		{"grant", isGrant, func(record *DeviceRecord) *string { return &record.Grant }},
	}
)

// ParseDeviceRecord reads a record [D-1] to [D-20]. Accept has the rules of a provider. (malformed-record, malformed-key,
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
	record := &DeviceRecord{Suites: fields.suites(suite), Generation: fields.number("generation", 1), Created: fields.created()}
	for _, one := range recordTexts {
		*one.field(record) = fields.checked(one.name, one.accept)
	}
	record.Certificate, record.Sequence = fields.certificate(), fields.number("sequence", 0)
	fields.require(!fields.has("sequence") || 0 < record.Sequence && record.Sequence <= fields.most, "sequence")
	fields.checked("nonce", noncePattern.MatchString)
	fields.require(!fields.has("ended"), "ended")
	id, _, _ := fields.text("key_id"), fields.text("provider"), fields.text("update_key")
	record.PublicKey, record.Provider = read(fields, "public_key", ParseDevicePublicKey), read(fields, "provider", ParseProviderPublicKey)
	record.UpdateKey = read(fields, "update_key", parseVerifyingKey)
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
	output.Add("public_key", record.PublicKey.String())
	output.Add("key_id", record.PublicKey.ID())
	output.Add("suite", uint64(record.PublicKey.Suite()))
	output.Add("suites", record.Suites)
	output.Add("generation", record.Generation)
	output.Add("created", record.Created)
	output.Add("provider", record.Provider.String())
	output.Add("certificate", record.Certificate.String())
	for _, one := range recordTexts {
		output.Add(one.name, *one.field(&record))
	}
	output.Add("update_key", core.Encode(record.UpdateKey))
	output.AddNumber("sequence", record.Sequence)
	return output
}

// UnmarshalJSON is ParseDeviceRecord.
func (record *DeviceRecord) UnmarshalJSON(data []byte) error {
	return unmarshal(record, data, ParseDeviceRecord)
}

// Format prints no token and no grant, whatever the verb.
func (record DeviceRecord) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "device %q, %s, generation %d", record.Device, record.PublicKey, record.Generation)
}

// MarshalJSON writes a reply; one that breaks a rule of Docs/FormatRecords.md is an error.
func (reply Reply) MarshalJSON() ([]byte, error) {
	isOne := reply.Ended == "" && reply.Acknowledged.IsZero() != (reply.Refused == "") ||
		isDeviceID(reply.Ended) && reply.Acknowledged.IsZero() && reply.Refused == ""
	isKey := func(key ed25519.PublicKey) bool { return key == nil || core.IsVerifying(key) }
	isReason := reply.Refused == "" || reasonPattern.MatchString(string(reply.Refused))
	if !isOne || !isReason || len(reply.Foreign) > format.MostForeign {
		return nil, refuse(MalformedRecord, "a reply acknowledges a key, has a reason or ends a device, and has up to 16 foreign members")
	}
	if !isKey(reply.PushKey) || !isKey(reply.NextPushKey) {
		return nil, errWeak()
	}
	var output jsontext.Output
	output.Add("version", uint64(1))
	output.Add("acknowledged", reply.Acknowledged.String())
	output.Add("refused", string(reply.Refused))
	output.Add("ended", reply.Ended)
	output.AddNumber("sequence", reply.Sequence)
	output.Add("provider", reply.Provider.String())
	output.Add("certificate", reply.Certificate.String())
	output.Add("push_key", core.Encode(reply.PushKey))
	output.Add("next_push_key", core.Encode(reply.NextPushKey))
	output.Add("grant", map[bool]string{true: "ended"}[reply.GrantEnded])
	output.Add("foreign", reply.Foreign)
	return output.Bytes(), output.Err
}

// isInvisible tells whether a character is in one of the ranges, whatever Go's tables say.
func isInvisible(character rune) bool {
	for at := 0; at < len(format.InvisibleCharacters); at += 2 {
		if format.InvisibleCharacters[at] <= int(character) && int(character) <= format.InvisibleCharacters[at+1] {
			return true
		}
	}
	return false
}

// isDeviceID is [D-20].
func isDeviceID(text string) bool {
	return core.IsLabel(text, format.LongestDeviceID) && strings.IndexFunc(text, isInvisible) < 0 && strings.Trim(text, " ") != "" &&
		!strings.HasPrefix(text, format.PrefixDevicePublic+"1") && !strings.HasPrefix(text, format.PrefixPostQuantumPublic+"1")
}

func isVersion(text string) bool { return core.IsLabel(text, format.LongestAppVersion) }

func isGrant(text string) bool {
	return len(text) <= format.LongestGrant && grantPattern.MatchString(text)
}

// parseVerifyingKey reads the text of an Ed25519 key without a kind [D-13].
func parseVerifyingKey(text string) (ed25519.PublicKey, error) {
	key := core.Decode(text)
	if len(key) != ed25519.PublicKeySize {
		return nil, refuse(MalformedKey, "a key is not 32 bytes in base64url")
	}
	if !core.IsVerifying(key) {
		return nil, errWeak()
	}
	return key, nil
}

// A fieldReader reads the members of a record, and keeps the first broken rule. A member that is null counts as absent [D-6].
type fieldReader struct {
	members map[string]any
	code    Code
	// most is the highest sequence.
	most uint64
	err  error
}

func newFields(data []byte, code Code) *fieldReader {
	members, err := jsontext.ParseObject(data)
	if err != nil {
		err = refuse(code, err.Error())
	}
	return &fieldReader{members, code, format.LargestTime - 1, err}
}

// unmarshal is the UnmarshalJSON of a type that has a function to parse it.
func unmarshal[T any](into *T, data []byte, parse func([]byte) (*T, error)) error {
	read, err := parse(data)
	if err == nil {
		*into = *read
	}
	return err
}

func (fields *fieldReader) require(condition bool, what string) {
	if !condition && fields.err == nil {
		fields.err = refuse(fields.code, what+" is missing or breaks a rule; copy the whole text")
	}
}

func (fields *fieldReader) has(name string) bool { return fields.members[name] != nil }

// text returns a string; "" if it is absent.
func (fields *fieldReader) text(name string) string {
	return fields.checked(name, func(string) bool { return true })
}

// checked returns a string that passes a rule; "" if it is absent.
func (fields *fieldReader) checked(name string, accept func(string) bool) string {
	text, ok := fields.members[name].(string)
	fields.require(!fields.has(name) || ok && accept(text), name)
	return text
}

// read reads the text of a key or a certificate, after everything before was found right; absent is the zero value.
func read[T any](fields *fieldReader, name string, parse func(string) (T, error)) (value T) {
	if text := fields.text(name); fields.err == nil && fields.has(name) {
		value, fields.err = parse(text)
	}
	return value
}

func (fields *fieldReader) number(name string, absent uint64) uint64 {
	if !fields.has(name) {
		return absent
	}
	number, ok := jsontext.Integer(fields.members[name], format.LargestTime)
	fields.require(ok, name)
	return number
}

// list returns the elements of an array that is not empty; nil if it is absent.
func (fields *fieldReader) list(name string, most int) []any {
	elements, _ := fields.members[name].([]any)
	fields.require(!fields.has(name) || 1 <= len(elements) && len(elements) <= most, name)
	return elements
}

func (fields *fieldReader) flag(name string) bool {
	value, ok := fields.members[name].(bool)
	fields.require(!fields.has(name) || ok, name)
	return value
}

func (fields *fieldReader) version() { fields.require(fields.number("version", 0) == 1, "version") }

func (fields *fieldReader) created() (at time.Time) {
	if fields.has("created") {
		at = core.Time(fields.number("created", 0))
	}
	return at
}

// suite reads [D-3].
func (fields *fieldReader) suite(own int) {
	fields.require(!fields.has("suite") || fields.members["suite"] == json.Number(strconv.Itoa(own)), "suite")
}

// suites reads [D-7]; own is the suite of the record's key.
func (fields *fieldReader) suites(own int) (suites []int) {
	if !fields.has("suites") {
		return []int{own}
	}
	last := 0
	for _, element := range fields.list("suites", format.MostSuites) {
		suite, ok := jsontext.Integer(element, format.LargestSuite)
		fields.require(ok && int(suite) > last, "suites")
		last = int(suite)
		suites = append(suites, last)
	}
	fields.require(contains(suites, own), "suites")
	return suites
}

// certificate reads a certificate. One that breaks [T-1] counts as absent [D-12].
func (fields *fieldReader) certificate() Certificate {
	certificate, _ := ParseCertificate(fields.text("certificate"))
	return certificate
}
