package pushcrypt

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/pushcrypt/internal/jsontext"
)

// Records with which a phone and its provider exchange public keys: Docs/FormatRecords.md. The app provides the channel, which must
// authenticate both ends.
const (
	// The suite of the keys that this package seals to, and the prefix of those of suite 2.
	suiteNumber    = 1
	prefix2        = "pcrx1"
	mostSuites     = 16
	longestVersion = 64
	mostForeign    = 16
	generationStep = 1024
)

// A DeviceRecord is a phone's registration: from a phone to its provider.
type DeviceRecord struct {
	PublicKey DevicePublicKey
	// Device is the id under which the provider keeps the device; if empty, the provider names it.
	Device string
	// Suites that the device opens; by default that of the key.
	Suites []uint8
	// Topic is the app's bundle id; empty if the key is not bound to one.
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
	Withdrawal, Grant  string
}

// A ProviderRecord has a provider's key: from a provider to its phones.
type ProviderRecord struct {
	PublicKey  ProviderPublicKey
	Topic      string
	Generation uint64
	Created    time.Time
	// Certificate is the current one; the zero value at epoch 0.
	Certificate Certificate
}

// A Reply is a provider's answer to a record: it has either Acknowledged or Refused.
type Reply struct {
	// Acknowledged is the key that the provider seals to from now on.
	Acknowledged DevicePublicKey
	// Refused is the reason: 1 to 64 lower-case letters, digits and hyphens.
	Refused  string
	Provider ProviderPublicKey
	// Certificate is the provider's current one, from epoch 1 on [D-26].
	Certificate Certificate
	// Suites of which the phone may make a key, by default 1.
	Suites []uint8
	// PushKey is the public key with which the provider signs requests to a relay; nil for none.
	PushKey ed25519.PublicKey
	// RefusedCertificate says why a certificate that came is ignored [D-20].
	RefusedCertificate Code
	// Foreign has the members of the record that name a key which the provider never had [D-22].
	Foreign []string
}

// The JSON of records. A pointer is absent if it is nil.
type recordJSON struct {
	Version      int      `json:"version,omitempty"`
	Device       string   `json:"device,omitempty"`
	PublicKey    string   `json:"public_key,omitempty"`
	KeyID        string   `json:"key_id,omitempty"`
	Suite        int      `json:"suite,omitempty"`
	Suites       []int    `json:"suites,omitempty"`
	Topic        string   `json:"topic,omitempty"`
	Generation   *uint64  `json:"generation,omitempty"`
	Created      *uint64  `json:"created,omitempty"`
	Acknowledged string   `json:"acknowledged,omitempty"`
	Refused      string   `json:"refused,omitempty"`
	Provider     string   `json:"provider,omitempty"`
	Certificate  string   `json:"certificate,omitempty"`
	AppVersion   string   `json:"app_version,omitempty"`
	Token        string   `json:"token,omitempty"`
	Environment  string   `json:"environment,omitempty"`
	Withdrawal   string   `json:"withdrawal,omitempty"`
	Grant        string   `json:"grant,omitempty"`
	PushKey      string   `json:"push_key,omitempty"`
	Foreign      []string `json:"foreign,omitempty"`
}

func (record recordJSON) encode() ([]byte, error) {
	var output bytes.Buffer
	encoder := json.NewEncoder(&output)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(record)
	return bytes.TrimSuffix(output.Bytes(), []byte("\n")), err
}

func brokenRecord(what string) error {
	return refuse(MalformedRecord, what+" breaks the rules of records; see Docs/FormatRecords.md")
}

// ParseDeviceRecord reads a record. The rules of a provider follow: CheckRegistration.
func ParseDeviceRecord(data []byte) (*DeviceRecord, error) {
	// First what is no text of a key, then those, last what follows of the keys.
	fields := newFields(data)
	key, id, provider := fields.needed("public_key"), fields.text("key_id"), fields.text("provider")
	suite := suiteOf(key)
	fields.suite(suite)
	device, version, topic := fields.text("device"), fields.text("app_version"), fields.topic()
	fields.require(!fields.has("device") || isDeviceID(device), "device")
	fields.require(!fields.has("app_version") || isLabel(version, longestVersion), "app_version")
	record := &DeviceRecord{
		Device: device, Suites: fields.suites(suite), Topic: topic, Generation: fields.generation(), Created: fields.created(), AppVersion: version,
		Token: fields.text("token"), Environment: fields.text("environment"), Withdrawal: fields.text("withdrawal"), Grant: fields.text("grant"),
	}
	fields.require(!fields.has("token") || len(record.Token) >= 2 && len(record.Token) <= 200 && len(record.Token)%2 == 0 && isHex(record.Token), "token")
	fields.require(!fields.has("environment") || record.Environment == "production" || record.Environment == "development", "environment")
	fields.require(!fields.has("withdrawal") || len(record.Withdrawal) == 32 && isHex(record.Withdrawal), "withdrawal")
	fields.require(!fields.has("grant") || isGrant(record.Grant), "grant")
	record.Certificate, _ = fields.certificate()
	if fields.err != nil {
		return nil, fields.err
	}
	var err error
	if record.PublicKey, err = ParseDevicePublicKey(key); err != nil {
		return nil, err
	}
	if fields.has("provider") {
		if record.Provider, err = ParseProviderPublicKey(provider); err != nil {
			return nil, err
		}
	}
	fields.require(!fields.has("key_id") || id == record.PublicKey.ID(), "key_id")
	return record, fields.err
}

// JSON returns the record as it is sent.
func (record *DeviceRecord) JSON() ([]byte, error) {
	output := recordJSON{
		Device: record.Device, PublicKey: record.PublicKey.String(), KeyID: record.PublicKey.ID(), Suite: int(record.PublicKey.Suite()), Suites: []int{},
		Topic: record.Topic, Generation: &record.Generation, Created: milliseconds53(record.Created), Provider: optionalText(record.Provider),
		Certificate: certificateText(record.Certificate), AppVersion: record.AppVersion, Token: record.Token, Environment: record.Environment,
		Withdrawal: record.Withdrawal, Grant: record.Grant,
	}
	for _, suite := range record.Suites {
		output.Suites = append(output.Suites, int(suite))
	}
	data, err := output.encode()
	if err == nil {
		// What this package refuses to read is not written either.
		_, err = ParseDeviceRecord(data)
	}
	return data, err
}

// ParseProviderRecord reads a record.
func ParseProviderRecord(data []byte) (*ProviderRecord, error) {
	fields := newFields(data)
	fields.suite(suiteNumber)
	key, id := fields.needed("public_key"), fields.text("key_id")
	record := &ProviderRecord{Topic: fields.topic(), Generation: fields.generation(), Created: fields.created()}
	record.Certificate, _ = fields.certificate()
	if fields.err != nil {
		return nil, fields.err
	}
	var err error
	if record.PublicKey, err = ParseProviderPublicKey(key); err != nil {
		return nil, err
	}
	fields.require(!fields.has("key_id") || id == record.PublicKey.ID(), "key_id")
	return record, fields.err
}

// JSON returns the record as it is sent.
func (record *ProviderRecord) JSON() ([]byte, error) {
	data, err := recordJSON{
		PublicKey: record.PublicKey.String(), KeyID: record.PublicKey.ID(), Topic: record.Topic, Generation: &record.Generation,
		Created: milliseconds53(record.Created), Certificate: certificateText(record.Certificate),
	}.encode()
	if err == nil {
		_, err = ParseProviderRecord(data)
	}
	return data, err
}

// ParseReply reads a reply.
func ParseReply(data []byte) (*Reply, error) {
	fields := newFields(data)
	version, ok := fields.members.Present("version").Integer(1)
	fields.require(ok && version == 1, "version")
	acknowledged, refused, provider := fields.text("acknowledged"), fields.text("refused"), fields.text("provider")
	fields.require(fields.has("acknowledged") != fields.has("refused"), "the choice of acknowledged or refused")
	fields.require(!fields.has("refused") || isReason(refused), "refused")
	reply := &Reply{Refused: refused, Suites: fields.suites(0), Foreign: fields.texts("foreign", mostForeign)}
	reply.Certificate, reply.RefusedCertificate = fields.certificate()
	pushKey := fields.text("push_key")
	if fields.err != nil {
		return nil, fields.err
	}
	var err error
	if fields.has("acknowledged") {
		if reply.Acknowledged, err = ParseDevicePublicKey(acknowledged); err != nil {
			return nil, err
		}
	}
	if fields.has("provider") {
		if reply.Provider, err = ParseProviderPublicKey(provider); err != nil {
			return nil, err
		}
	}
	if fields.has("push_key") {
		var key [32]byte
		if !read32(pushKey, &key) {
			return nil, refuse(MalformedKey, "push_key is not 32 bytes in base64url")
		}
		if err := checkVerifyingKey(key[:]); err != nil {
			return nil, err
		}
		reply.PushKey = key[:]
	}
	return reply, nil
}

// JSON returns the reply as it is sent.
func (reply *Reply) JSON() ([]byte, error) {
	output := recordJSON{
		Version: 1, Refused: reply.Refused, Provider: optionalText(reply.Provider), Certificate: certificateText(reply.Certificate), Foreign: reply.Foreign,
	}
	if len(reply.PushKey) > 0 {
		output.PushKey = base64.RawURLEncoding.EncodeToString(reply.PushKey)
	}
	for _, suite := range reply.Suites {
		output.Suites = append(output.Suites, int(suite))
	}
	if !reply.Acknowledged.isZero() {
		output.Acknowledged = reply.Acknowledged.String()
	}
	data, err := output.encode()
	if err == nil {
		_, err = ParseReply(data)
	}
	return data, err
}

// fields are the members of a record, with the first broken rule. A member that is null counts as absent [D-6].
type fields struct {
	members *jsontext.Value
	err     error
}

func newFields(data []byte) *fields {
	members, err := jsontext.ParseObject(data)
	if err != nil {
		err = refuse(MalformedRecord, err.Error())
	}
	return &fields{members, err}
}

func (fields *fields) require(condition bool, what string) {
	if !condition && fields.err == nil {
		fields.err = brokenRecord(what)
	}
}

func (fields *fields) has(name string) bool { return fields.members.Present(name) != nil }

func (fields *fields) text(name string) string {
	value := fields.members.Present(name)
	if value == nil {
		return ""
	}
	fields.require(value.IsString(), name)
	return value.Text
}

func (fields *fields) needed(name string) string {
	fields.require(fields.has(name), name)
	return fields.text(name)
}

func (fields *fields) number(name string, absent uint64) uint64 {
	value := fields.members.Present(name)
	if value == nil {
		return absent
	}
	number, ok := value.Integer(largestTime)
	fields.require(ok, name)
	return number
}

func (fields *fields) generation() uint64 { return fields.number("generation", 1) }

func (fields *fields) created() time.Time {
	if !fields.has("created") {
		return time.Time{}
	}
	return timeOf(fields.number("created", 0))
}

func (fields *fields) texts(name string, most int) []string {
	value := fields.members.Present(name)
	if value == nil {
		return nil
	}
	fields.require(value.Kind == jsontext.Array && 1 <= len(value.Elements) && len(value.Elements) <= most, name)
	var texts []string
	for _, element := range value.Elements {
		fields.require(element.Kind == jsontext.String, name)
		texts = append(texts, element.Text)
	}
	return texts
}

func (fields *fields) topic() string {
	topic := fields.text("topic")
	fields.require(!fields.has("topic") || isTopic(topic), "topic")
	return topic
}

// suite reads [D-3].
func (fields *fields) suite(own uint8) {
	suite := fields.members.Present("suite")
	number, ok := suite.Integer(uint64(own))
	fields.require(suite == nil || ok && number == uint64(own) && suite.Text == strconv.Itoa(int(own)), "suite")
}

// suites reads [D-9], with the suite of a record's key; 0 for a reply.
func (fields *fields) suites(own uint8) []uint8 {
	value := fields.members.Present("suites")
	if value == nil {
		if own == 0 {
			own = suiteNumber
		}
		return []uint8{own}
	}
	fields.require(value.Kind == jsontext.Array && 1 <= len(value.Elements) && len(value.Elements) <= mostSuites, "suites")
	var suites []uint8
	last, hasOwn := uint64(0), own == 0
	for index := range value.Elements {
		suite, ok := value.Elements[index].Integer(255)
		fields.require(ok && suite > last, "suites")
		suites, last, hasOwn = append(suites, uint8(suite)), suite, hasOwn || suite == uint64(own)
	}
	fields.require(hasOwn, "suites")
	return suites
}

// certificate reads a certificate. One that breaks [T-1] counts as absent [D-31]; its code comes with it.
func (fields *fields) certificate() (Certificate, Code) {
	text := fields.text("certificate")
	if !fields.has("certificate") {
		return Certificate{}, ""
	}
	certificate, err := ParseCertificate(text)
	var refused *Error
	if errors.As(err, &refused) {
		return Certificate{}, refused.Code
	}
	return certificate, ""
}

// isDeviceID is [D-14].
func isDeviceID(text string) bool {
	return isLabel(text, longestLabel) && strings.IndexFunc(text, isInvisible) < 0 && !strings.HasPrefix(text, "pcr1") && !strings.HasPrefix(text, prefix2) && strings.Trim(text, " ") != ""
}

// isInvisible tells whether no id may have a character.
func isInvisible(character rune) bool {
	return unicode.In(character, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

func isGrant(text string) bool {
	for _, c := range []byte(text) {
		if !isAlphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return 1 <= len(text) && len(text) <= 1024
}

func suiteOf(publicKey string) uint8 {
	if strings.HasPrefix(publicKey, prefix2) {
		return 2
	}
	return suiteNumber
}

func isReason(text string) bool {
	for _, c := range []byte(text) {
		if !('a' <= c && c <= 'z') && !('0' <= c && c <= '9') && c != '-' {
			return false
		}
	}
	return 1 <= len(text) && len(text) <= 64 && utf8.ValidString(text)
}

func optionalText(key ProviderPublicKey) string {
	if key.isZero() {
		return ""
	}
	return key.String()
}

func certificateText(certificate Certificate) string {
	if certificate.IsZero() {
		return ""
	}
	return certificate.String()
}

func milliseconds53(at time.Time) *uint64 {
	if at.IsZero() {
		return nil
	}
	value, _ := milliseconds(at)
	return &value
}
