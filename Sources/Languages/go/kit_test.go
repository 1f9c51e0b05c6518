package pushcrypt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
	kit "example.com/pushcrypt/Sources/Languages/go/pushcrypttest"
)

// The test kit of the format: Tests/Data/Vectors/kit. Every member of a test has to be checked.

// must stops a test: its error is a refusal, which run compares, or breaks the test.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func fromHex(text string) []byte { return must(hex.DecodeString(text)) }

func number(text string) uint64 { return must(strconv.ParseUint(text, 10, 64)) }

func clock(text string) time.Time {
	value := number(text)
	return time.Unix(int64(value/1000), int64(value%1000)*1_000_000)
}

func vectors(t testing.TB) string {
	for _, folder := range []string{os.Getenv("PUSHCRYPT_VECTORS"), "../../../Tests/Data/Vectors"} {
		if _, err := os.Stat(filepath.Join(folder, "kit")); folder != "" && err == nil {
			return folder
		}
	}
	t.Skip("THE TEST KIT IS NOT HERE: set PUSHCRYPT_VECTORS to Tests/Data/Vectors of a checkout; nothing of the format was tested")
	return ""
}

func readJSON(t testing.TB, name string, into any) {
	data := must(os.ReadFile(filepath.Join(vectors(t), name)))
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(name, err)
	}
}

// A kitTest is one test of the kit; header has what was not checked yet.
type kitTest struct {
	header map[string][]string
	body   []byte
	expect string
}

func (own *kitTest) list(name string) []string {
	values := own.header[name]
	delete(own.header, name)
	return values
}

func (own *kitTest) one(name string) string {
	values := own.list(name)
	if len(values) > 1 {
		panic("twice " + name)
	}
	return strings.Join(values, "")
}

func pieces(parts []string) (data []byte) {
	for _, part := range parts {
		digits, count, isRepeated := strings.Cut(part, "*")
		times := 1
		if isRepeated {
			times = int(number(count))
		}
		data = append(data, bytes.Repeat(fromHex(digits), times)...)
	}
	return data
}

func readTests(t *testing.T, group string) map[string]*kitTest {
	var file struct {
		Group  string
		Shared map[string]any
		Tests  []map[string]any
	}
	readJSON(t, "kit/"+group+".json", &file)
	tests := map[string]*kitTest{}
	for _, members := range file.Tests {
		own := &kitTest{header: map[string][]string{}}
		for _, part := range []map[string]any{file.Shared, members} {
			for name, value := range part {
				switch value := value.(type) {
				case string:
					own.header[name] = []string{value}
				case []any:
					own.header[name] = nil
					for _, element := range value {
						own.header[name] = append(own.header[name], element.(string))
					}
				default:
					t.Fatalf("%s: %s is no text", group, name)
				}
			}
		}
		name := own.one("name")
		if _, isTwice := tests[name]; isTwice || name == "" {
			t.Fatalf("%s: %q is not the name of one test", group, name)
		}
		own.list("rules")
		own.list("comment")
		own.body = []byte(strings.Join(own.list("body"), "\n"))
		if parts, ok := own.header["pieces"]; ok {
			own.body = pieces(parts)
			delete(own.header, "pieces")
		}
		tests[name] = own
	}
	if file.Group != group || len(tests) == 0 {
		t.Fatal("not the file of a group, or no tests: ", group)
	}
	return tests
}

// outcome turns what a test does into its outcome.
func outcome(do func() string) (found string) {
	defer func() {
		if failure := recover(); failure != nil {
			err, _ := failure.(error)
			var refused *pushcrypt.Error
			if !errors.As(err, &refused) {
				panic(failure)
			}
			found = string(refused.Code)
		}
	}()
	return do()
}

var groups = map[string]func(t *testing.T, own *kitTest) string{
	"certificates": certificates, "plans": plans, "contexts": contexts, "keys": keys, "suite-2-keys": suite2Keys, "references": references,
	"full-bodies": fullBodies, "records": records, "payloads": payloads,
}

// The phone's groups.
var notAsked = []string{
	"attachments", "attachment-lists", "envelopes", "notifications", "posts", "pushes", "replies", "reserved", "sequences", "suite-2-envelopes",
}

func TestKit(t *testing.T) {
	var found, known []string
	for _, path := range must(filepath.Glob(filepath.Join(vectors(t), "kit", "*.json"))) {
		found = append(found, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	for group := range groups {
		known = append(known, group)
	}
	known = append(known, notAsked...)
	sort.Strings(known)
	if !reflect.DeepEqual(found, known) {
		t.Fatalf("the kit has the groups %v, known are %v", found, known)
	}
	for group, ask := range groups {
		for name, own := range readTests(t, group) {
			if group == "records" && reflect.DeepEqual(own.list("seals"), []string{"1 2"}) && own.header["expect"][0] == "accepted" {
				continue // Accepted by providers that seal to suite 2.
			}
			if group == "records" && reflect.DeepEqual(own.list("kind"), []string{"provider"}) {
				continue // Phones read it.
			}
			t.Run(group+"/"+name, func(t *testing.T) { askOne(t, own, ask) })
		}
	}
}

func askOne(t *testing.T, own *kitTest, ask func(t *testing.T, own *kitTest) string) {
	expect := own.list("expect")
	if len(expect) == 0 {
		t.Fatal("no expect")
	}
	own.expect = strings.Join(expect, " ")
	if found := outcome(func() string { return ask(t, own) }); found != own.expect {
		t.Errorf("the outcome is %s, and not %s", found, own.expect)
	}
	for name := range own.header {
		t.Errorf("%s was not checked", name)
	}
}

// The messages are signed well, and the provider did not make their certificates.
func TestCertificatesOfOtherKeysOpenNothing(t *testing.T) {
	tests := readTests(t, "envelopes")
	good := tests["a-message-with-the-first-certificate"]
	own := kit.Phone{Topic: topic, Key: must(kit.ParseDeviceKey(deviceSecret)), Provider: must(pushcrypt.ParseProviderPublicKey(good.one("pin")))}
	setClock(time.UnixMilli(1))
	defer setClock(now)
	opens := func(test *kitTest) bool {
		_, err := own.Open([]byte(fmt.Sprintf(`{"ENCRYPTED_DATA":"%s"}`, test.body)), time.Time{})
		return err == nil
	}
	expect(t, "the first certificate", opens(good), true)
	count := 0
	for name, test := range tests {
		if strings.HasPrefix(name, "a-message-whose-certificate-") {
			count++
			expect(t, name, opens(test), false)
		}
	}
	expect(t, "messages", count > 15, true)
}

// compare compares what is read, as texts, with members of the test.
func (own *kitTest) compare(t *testing.T, found map[string][]string) {
	t.Helper()
	for name, values := range found {
		var present []string
		for _, value := range values {
			if value != "" {
				present = append(present, value)
			}
		}
		if expected := own.list(name); !reflect.DeepEqual(present, expected) {
			t.Errorf("%s is %q, and not %q", name, present, expected)
		}
	}
}

// certificates are asked one at a time, under the first pin that verifies it.
func certificates(t *testing.T, own *kitTest) string {
	var found []string
	pins, topic := own.list("pin"), own.one("context")
	for _, line := range strings.Split(string(own.body), "\n") {
		last := ""
		for _, pin := range pins {
			if last != "accepted" {
				last = outcome(func() string {
					must(0, must(pushcrypt.ParseCertificate(line)).Verify(must(pushcrypt.ParseProviderPublicKey(pin)), topic))
					return "accepted"
				})
			}
		}
		found = append(found, last)
	}
	own.list("learned")
	own.list("learned-after")
	own.expect = strings.NewReplacer("unchanged", "accepted", "certificate-conflict", "accepted").Replace(own.expect)
	return strings.Join(found, " ")
}

func optionalCertificate(text string) pushcrypt.Certificate {
	if text == "" || text == "-" {
		return pushcrypt.Certificate{}
	}
	return must(pushcrypt.ParseCertificate(text))
}

func plans(t *testing.T, own *kitTest) string {
	setClock(clock(own.one("time")))
	defer setClock(now)
	plan := pushcrypt.Plan{
		Stolen: own.one("kind") == "stolen", Current: optionalCertificate(own.one("certificate")),
		Proven: optionalCertificate(own.one("proven")),
	}
	if seconds := own.one("lifetime"); seconds != "" {
		plan.Lifetime = time.Duration(number(seconds)) * time.Second
	}
	for _, line := range own.list("past") {
		certificate, at, _ := strings.Cut(line, " ")
		plan.Past = append(plan.Past, pushcrypt.PastEpoch{Certificate: optionalCertificate(certificate), ReplacedAt: clock(at)})
	}
	claim := must(pushcrypt.ClaimOf(plan))
	for index, name := range []string{"epoch", "floor", "grace-until", "expires-at"} {
		own.compare(t, map[string][]string{name: {fmt.Sprint(claim[index])}})
	}
	return "accepted"
}

func contexts(t *testing.T, own *kitTest) string {
	key := pushcrypt.GenerateProviderKey()
	if _, err := pushcrypt.NewSealer(key, string(own.body)); err != nil {
		return "refused"
	}
	return "accepted"
}

// secretBytes are those of a text that was read.
func secretBytes(text string, kind string) string {
	data, _, _ := core.ReadKey(text, kind)
	return hex.EncodeToString(data)
}

func keys(t *testing.T, own *kitTest) string {
	text, kind, bytes, result := string(own.body), own.one("kind"), own.one("bytes"), map[string][]string{}
	if bytes != "" && strings.HasSuffix(kind, "-public") {
		alone := outcome(func() string {
			if kind == "device-public" {
				must(pushcrypt.NewDevicePublicKey(fromHex(bytes)))
			} else {
				must(pushcrypt.NewProviderPublicKey(fromHex(bytes)))
			}
			return "accepted"
		})
		if alone != own.expect {
			t.Errorf("the bytes alone are %s", alone)
		}
	}
	again, found := "", ""
	switch kind {
	case "device-public":
		key := must(pushcrypt.ParseDevicePublicKey(text))
		again, found, result = key.String(), hex.EncodeToString(key.Bytes()), map[string][]string{"key-id": {key.ID()}}
	case "provider-public":
		key := must(pushcrypt.ParseProviderPublicKey(text))
		again, found, result = key.String(), hex.EncodeToString(key.Bytes()), map[string][]string{"key-id": {key.ID()}}
	case "device-secret":
		key := must(kit.ParseDeviceKey(text))
		again, found = key.SecretText(), secretBytes(text, format.PrefixDeviceSecret)
		result["public-key"] = []string{hex.EncodeToString(key.PublicKey().Bytes())}
	case "provider-secret":
		key := must(pushcrypt.ParseProviderKey(text))
		again, found = key.SecretText(), secretBytes(text, format.PrefixProviderSecret)
		result["public-key"] = []string{hex.EncodeToString(key.PublicKey().Bytes())}
	case "signing-secret":
		key := must(pushcrypt.ParseSigningKey(text))
		again, found = key.SecretText(), secretBytes(text, format.PrefixSigningSecret)
		result["public-key"] = []string{hex.EncodeToString(key.PublicKey())}
	default:
		t.Fatal("a key of an unknown kind: ", kind)
	}
	if again != strings.TrimSuffix(text, "\n") || found != bytes {
		t.Error("the key has another text, or other bytes")
	}
	own.compare(t, result)
	return "accepted"
}

// suite2Keys: public keys are read, which a provider may hold. A secret one is of a suite that is not known here.
func suite2Keys(t *testing.T, own *kitTest) string {
	if own.header["kind"][0] == "device-public" {
		return keys(t, own)
	}
	isGood := own.expect == "accepted" || own.expect == "weak-key"
	for _, name := range []string{"bytes", "public-key", "key-id"} {
		own.list(name)
	}
	found := outcome(func() string { return keys(t, own) })
	if found == "unsupported-suite" && isGood {
		return own.expect
	}
	return found
}

func references(t *testing.T, own *kitTest) string {
	reference := must(pushcrypt.ParseReference(own.body))
	if again := must(pushcrypt.ParseReference(must(json.Marshal(reference)))); again != reference {
		t.Error("another reference is written")
	}
	own.compare(t, map[string][]string{
		"url": {reference.URL}, "type": {reference.Type}, "file-name": {reference.Name}, "key": {hex.EncodeToString(reference.Key[:])},
		"sha256": {hex.EncodeToString(reference.SHA256[:])}, "size": {fmt.Sprint(reference.Size)},
	})
	return "accepted"
}

func fullBodies(t *testing.T, own *kitTest) string {
	found := outcome(func() string {
		_, _, err := pushcrypt.SealFullBody(string(own.body), must(pushcrypt.ParseProviderKey(providerSecret)))
		must(0, err)
		return "accepted"
	})
	if found == "body-too-long" && len(own.body) > format.LongestFullBody {
		return own.expect
	}
	return found
}

func milliseconds(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprint(at.UnixMilli())
}

func numberText(number uint64) string {
	return strings.TrimPrefix(fmt.Sprint(number), "0")
}

func records(t *testing.T, own *kitTest) string {
	user, isChecked := own.list("user"), own.one("checked") == "yes"
	own.list("nonce")
	options := &pushcrypt.AcceptOptions{
		Topic: topic, Provider: must(pushcrypt.ParseProviderKey(providerSecret)).PublicKey(), Device: "phone1", NoUser: len(user) == 0,
		Replace: own.one("replace") == "yes", Issued: []pushcrypt.Certificate{},
	}
	rows := table{}
	removed := own.one("removed") == "yes"
	heldUser, heldTopic, generation := own.one("held-user"), own.one("held-topic"), own.one("held-generation")
	heldKey, elsewhere := own.one("held-key"), own.one("elsewhere")
	if key := heldKey; key != "" {
		record := pushcrypt.DeviceRecord{PublicKey: must(pushcrypt.ParseDevicePublicKey(key)), Generation: number(generation), Topic: heldTopic}
		rows["held"] = &pushcrypt.StoredDevice{DeviceRecord: record, User: heldUser, IsRemoved: removed}
	}
	has := own.list("provider-has")
	for _, text := range has {
		options.OwnKeys = append(options.OwnKeys, must(pushcrypt.ParseProviderPublicKey(text)))
		options.Provider = options.OwnKeys[0]
	}
	for _, text := range own.list("issued") {
		one := must(pushcrypt.ParseCertificate(text))
		options.Issued = append(options.Issued, one)
		if one.Epoch() > options.Certificate.Epoch() {
			options.Certificate = one
		}
	}
	options.Replace = options.Replace || !isChecked
	record := must(pushcrypt.ParseDeviceRecord(own.body))
	if again := must(pushcrypt.ParseDeviceRecord(must(json.Marshal(record)))); !reflect.DeepEqual(again, record) {
		t.Error("another record is written")
	}
	if len(has) == 0 {
		options.OwnKeys = []pushcrypt.ProviderPublicKey{record.Provider}
	}
	if options.Topic = record.Topic; record.Topic == "" {
		if options.Topic = heldTopic; heldTopic == "" {
			options.Topic = topic
		}
	}
	id := record.Device
	if id == "" {
		id = options.Device
	}
	if held := rows["held"]; held != nil {
		if held.Device = id; held.Topic == "" {
			held.Topic = options.Topic
		}
		delete(rows, "held")
		rows[id] = held
	}
	if elsewhere != "" {
		other := deviceOf(record.PublicKey, options.Topic)
		other.Device, other.User = "elsewhere", strings.TrimPrefix(elsewhere, "-")
		rows["elsewhere"] = other
	}
	accepted := must(pushcrypt.Accept(record, rows, strings.Join(user, ""), options))
	device := accepted.Device
	if again := must(pushcrypt.ParseStoredDevice(must(json.Marshal(device)))); !reflect.DeepEqual(again, device) {
		t.Error("another device is stored")
	}
	app := device.Topic
	if own.header["topic"] == nil {
		app = "" // It is the one that the provider names.
	}
	stale := ""
	if !accepted.StaleStore.IsZero() {
		stale = "yes"
	}
	own.compare(t, map[string][]string{
		"key": {device.PublicKey.String()}, "device": {record.Device}, "suites": {strings.Trim(fmt.Sprint(device.Suites), "[]")},
		"topic": {app}, "generation": {fmt.Sprint(device.Generation)}, "created": {milliseconds(device.Created)},
		"provider": {device.Provider.String()}, "certificate": {record.Certificate.String()}, "app-version": {device.AppVersion},
		"token": {device.Token}, "environment": {device.Environment}, "grant": {device.Grant},
		"update-key": {hex.EncodeToString(device.UpdateKey)}, "sequence": {numberText(device.Sequence)}, "foreign": accepted.Foreign, "stale": {stale},
	})
	if accepted.Reply.Acknowledged != record.PublicKey || !reflect.DeepEqual(accepted.Reply.Foreign, accepted.Foreign) {
		t.Error("the reply is another")
	}
	must(json.Marshal(accepted.Reply))
	return "accepted"
}

// The worked example's keys.
const (
	deviceSecret   = "PCR-SECRET-145HAW2SRDFRXKJRZVU33YCGGHHFLEELAGG52A3VC6HWZJ2L5HJ0SADFV30"
	providerSecret = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ"
	topic          = "com.example.app"
)

func payloads(t *testing.T, own *kitTest) string {
	pushType, sentAt := pushcrypt.PushType(own.one("push-type")), clock(own.one("time"))
	setClock(sentAt)
	defer setClock(now)
	options := []pushcrypt.Option{
		pushcrypt.WithPushType(pushType), pushcrypt.WithTime(sentAt), pushcrypt.WithClear(own.list("kept")...),
		pushcrypt.WithTimeToLive(time.Duration(number(own.one("time-to-live"))) * time.Second),
	}
	for _, title := range own.list("title") {
		options = append(options, pushcrypt.WithTitle(title))
	}
	for _, sound := range own.list("clear-sound") {
		options = append(options, pushcrypt.WithSound(strings.TrimPrefix(sound, "none")))
	}
	if own.one("sent-exactly") == "yes" {
		options = append(options, pushcrypt.WithExactBytes())
	}
	provider, phone := must(pushcrypt.ParseProviderKey(providerSecret)), must(kit.ParseDeviceKey(deviceSecret))
	sealer := must(pushcrypt.NewSealer(provider, topic))
	expiresAt := uint64(math.MaxUint64)
	for _, time := range own.list("certificate-expires-at") {
		expiresAt = number(time)
	}
	if own.one("certificate") == "yes" {
		key := must(pushcrypt.NewSigningKey(bytes.Repeat([]byte{7}, 32)))
		certificate := must(pushcrypt.CertifyClaim(provider, key.PublicKey(), topic, 1, 0, 1, expiresAt))
		sealer = must(pushcrypt.NewSealer(&pushcrypt.Credential{Key: key, Certificate: certificate, Provider: provider.PublicKey()}, topic))
	}
	push, err := func() (*pushcrypt.Push, error) {
		for _, text := range own.list("attachment") {
			reference, err := pushcrypt.ParseReference([]byte(text))
			if err != nil {
				return nil, err
			}
			options = append(options, pushcrypt.WithAttachments(reference))
		}
		return sealer.Seal(own.body, phone.Device(topic), options...)
	}()
	var refused *pushcrypt.Error
	if errors.As(err, &refused) {
		return "refused"
	}
	var members, clear map[string]any
	if json.Unmarshal(push.Payload, &members) != nil || json.Unmarshal([]byte(own.one("clear")), &clear) != nil {
		t.Fatal("no JSON")
	}
	delete(members, "ENCRYPTED_DATA")
	if !reflect.DeepEqual(members, clear) {
		t.Errorf("the clear part is %v", members)
	}
	opened := must(kit.Phone{Topic: topic, Key: phone, Provider: provider.PublicKey(), PushType: pushType}.Open(push.Payload, sentAt))
	own.compare(t, map[string][]string{
		"length": {fmt.Sprint(len(push.Payload))}, "widest-length": {fmt.Sprint(push.Widest)},
		"bucket":         {fmt.Sprint(base64.RawURLEncoding.DecodedLen(len(push.Envelope)) - 53)},
		"payload-sha256": {fmt.Sprintf("%x", sha256.Sum256(opened.Payload))},
	})
	return "accepted"
}
