package pushcrypt

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
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
	// Sender is the key that the device has pinned; the zero value if it is not known.
	Sender   SenderPublicKey
	Recovery []RecoveryPublicKey
	// AppVersion is the app's, as text.
	AppVersion string
}

// A SenderRecord is a provider's announcement of its key: from a provider to its phones.
type SenderRecord struct {
	PublicKey  SenderPublicKey
	Topic      string
	Generation uint64
	Created    time.Time
	Recovery   []RecoveryPublicKey
}

// A Reply is a provider's answer to a record: it has either Acknowledged or Refused.
type Reply struct {
	// Acknowledged is the key that the provider seals to from now on.
	Acknowledged DevicePublicKey
	// Refused is the reason: 1 to 64 lower-case letters, digits and hyphens.
	Refused  string
	Sender   SenderPublicKey
	Recovery []RecoveryPublicKey
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
	Sender       string   `json:"sender,omitempty"`
	Recovery     []string `json:"recovery,omitempty"`
	AppVersion   string   `json:"app_version,omitempty"`
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
	key, id, sender := fields.needed("public_key"), fields.text("key_id"), fields.text("sender")
	suite := suiteOf(key)
	fields.suite(suite)
	device, version, topic := fields.text("device"), fields.text("app_version"), fields.topic()
	fields.require(!fields.has("device") || isDeviceID(device), "device")
	fields.require(!fields.has("app_version") || isLabel(version, longestVersion), "app_version")
	record := &DeviceRecord{
		Device: device, Suites: fields.suites(suite), Topic: topic, Generation: fields.generation(), Created: fields.created(), AppVersion: version,
	}
	recovery := fields.texts("recovery", mostRecoveryKeys)
	if fields.err != nil {
		return nil, fields.err
	}
	var err error
	if record.PublicKey, err = ParseDevicePublicKey(key); err != nil {
		return nil, err
	}
	if fields.has("sender") {
		if record.Sender, err = ParseSenderPublicKey(sender); err != nil {
			return nil, err
		}
	}
	if record.Recovery, err = parseRecovery(recovery); err != nil {
		return nil, err
	}
	fields.require(!fields.has("key_id") || id == record.PublicKey.ID(), "key_id")
	fields.requireDifferent(record.Sender, record.Recovery)
	return record, fields.err
}

// JSON returns the record as it is sent.
func (record *DeviceRecord) JSON() ([]byte, error) {
	output := recordJSON{
		Device: record.Device, PublicKey: record.PublicKey.String(), KeyID: record.PublicKey.ID(), Suite: int(record.PublicKey.Suite()), Suites: []int{},
		Topic: record.Topic, Generation: &record.Generation, Created: milliseconds53(record.Created), Sender: optionalText(record.Sender),
		Recovery: recoveryTexts(record.Recovery), AppVersion: record.AppVersion,
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

// ParseSenderRecord reads a record.
func ParseSenderRecord(data []byte) (*SenderRecord, error) {
	fields := newFields(data)
	fields.suite(suiteNumber)
	key, id := fields.needed("public_key"), fields.text("key_id")
	record := &SenderRecord{Topic: fields.topic(), Generation: fields.generation(), Created: fields.created()}
	recovery := fields.texts("recovery", mostRecoveryKeys)
	if fields.err != nil {
		return nil, fields.err
	}
	var err error
	if record.PublicKey, err = ParseSenderPublicKey(key); err != nil {
		return nil, err
	}
	if record.Recovery, err = parseRecovery(recovery); err != nil {
		return nil, err
	}
	fields.require(!fields.has("key_id") || id == record.PublicKey.ID(), "key_id")
	fields.requireDifferent(record.PublicKey, record.Recovery)
	return record, fields.err
}

// JSON returns the record as it is sent.
func (record *SenderRecord) JSON() ([]byte, error) {
	data, err := recordJSON{
		PublicKey: record.PublicKey.String(), KeyID: record.PublicKey.ID(), Topic: record.Topic, Generation: &record.Generation,
		Created: milliseconds53(record.Created), Recovery: recoveryTexts(record.Recovery),
	}.encode()
	if err == nil {
		_, err = ParseSenderRecord(data)
	}
	return data, err
}

// ParseReply reads a reply.
func ParseReply(data []byte) (*Reply, error) {
	fields := newFields(data)
	version, ok := fields.members.Present("version").Integer(1)
	fields.require(ok && version == 1, "version")
	acknowledged, refused, sender := fields.text("acknowledged"), fields.text("refused"), fields.text("sender")
	fields.require(fields.has("acknowledged") != fields.has("refused"), "the choice of acknowledged or refused")
	fields.require(!fields.has("refused") || isReason(refused), "refused")
	recovery := fields.texts("recovery", mostRecoveryKeys)
	fields.suites(0)
	reply := &Reply{Refused: refused, Foreign: fields.texts("foreign", mostForeign)}
	if fields.err != nil {
		return nil, fields.err
	}
	var err error
	if fields.has("acknowledged") {
		if reply.Acknowledged, err = ParseDevicePublicKey(acknowledged); err != nil {
			return nil, err
		}
	}
	if fields.has("sender") {
		if reply.Sender, err = ParseSenderPublicKey(sender); err != nil {
			return nil, err
		}
	}
	if reply.Recovery, err = parseRecovery(recovery); err != nil {
		return nil, err
	}
	fields.requireDifferent(reply.Sender, reply.Recovery)
	return reply, fields.err
}

// JSON returns the reply as it is sent.
func (reply *Reply) JSON() ([]byte, error) {
	output := recordJSON{
		Version: 1, Refused: reply.Refused, Sender: optionalText(reply.Sender), Recovery: recoveryTexts(reply.Recovery), Foreign: reply.Foreign,
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

// requireDifferent is [K-10]; no recovery key is named twice either.
func (fields *fields) requireDifferent(sender SenderPublicKey, recovery []RecoveryPublicKey) {
	seen := map[[keyLength]byte]bool{sender.bytes: true}
	for _, key := range recovery {
		fields.require(!seen[key.bytes], "one key in two places")
		seen[key.bytes] = true
	}
}

// isDeviceID is [D-14].
func isDeviceID(text string) bool {
	return isLabel(text, longestLabel) && !strings.HasPrefix(text, "pcr1") && !strings.HasPrefix(text, prefix2) && strings.Trim(text, " ") != ""
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

func parseRecovery(texts []string) (keys []RecoveryPublicKey, err error) {
	for _, text := range texts {
		key, err := ParseRecoveryPublicKey(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func recoveryTexts(keys []RecoveryPublicKey) []string {
	var texts []string
	for _, key := range keys {
		texts = append(texts, key.String())
	}
	return texts
}

func optionalText(key SenderPublicKey) string {
	if key.isZero() {
		return ""
	}
	return key.String()
}

func milliseconds53(at time.Time) *uint64 {
	if at.IsZero() {
		return nil
	}
	value, _ := milliseconds(at)
	return &value
}
