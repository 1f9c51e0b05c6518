package pushcrypt_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
	kit "example.com/pushcrypt/Sources/Languages/go/pushcrypttest"
)

func recordOf(key pushcrypt.DevicePublicKey, generation uint64) *pushcrypt.DeviceRecord {
	return &pushcrypt.DeviceRecord{PublicKey: key, Device: "phone1", Generation: generation, Suites: []int{1}}
}

// deviceOf is a device with a key, as it is stored.
func deviceOf(key pushcrypt.DevicePublicKey, topic string) *pushcrypt.StoredDevice {
	record := *recordOf(key, 1)
	record.Topic = topic
	return &pushcrypt.StoredDevice{DeviceRecord: record}
}

func tableOf(rows ...*pushcrypt.StoredDevice) table {
	all := table{}
	for _, row := range rows {
		if row != nil {
			all[row.Device] = row
		}
	}
	return all
}

// take accepts for the user; "" is a session without one.
func take(record *pushcrypt.DeviceRecord, user string, rows ...*pushcrypt.StoredDevice) (*pushcrypt.Accepted, error) {
	options := &pushcrypt.AcceptOptions{Topic: topic, Provider: provider.PublicKey(), NoUser: user == ""}
	return pushcrypt.Accept(record, tableOf(rows...), user, options)
}

// A row of accept.json.
type acceptRow struct {
	ID, Key, Token, Topic, User string
	UpdateKey                   string `json:"update_key"`
	Generation, Created         *uint64
	Sequence                    uint64
	Removed                     any
}

func textOr(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func numberOr(number *uint64, other uint64) uint64 {
	if number == nil {
		return other
	}
	return *number
}

func (row acceptRow) record(keys map[string]pushcrypt.DevicePublicKey, updates map[string][]byte, topic string) pushcrypt.DeviceRecord {
	return pushcrypt.DeviceRecord{
		PublicKey: keys[textOr(row.Key, "1A")], Device: textOr(row.ID, "d"), Generation: numberOr(row.Generation, 1),
		Created: time.UnixMilli(int64(numberOr(row.Created, 100))), Token: row.Token, Topic: textOr(row.Topic, topic),
		UpdateKey: updates[row.UpdateKey], Sequence: row.Sequence,
	}
}

func (row acceptRow) device(keys map[string]pushcrypt.DevicePublicKey, updates map[string][]byte, topic string) *pushcrypt.StoredDevice {
	device := &pushcrypt.StoredDevice{DeviceRecord: row.record(keys, updates, topic), User: row.User}
	if row.Removed != nil {
		device.IsRemoved, device.Token, device.Created = true, "", time.Time{}
	}
	return device
}

// shown is a device for comparing, without what the table does not have.
func shown(devices []*pushcrypt.StoredDevice) (texts []string) {
	for _, one := range devices {
		device := *one
		device.Suites, device.Environment = nil, ""
		if device.IsRemoved {
			device.Created = time.Time{}
		}
		texts = append(texts, string(must(json.Marshal(device))))
	}
	sort.Strings(texts)
	return texts
}

// The one table of all that decide about a record: the packages, and the command.
func TestTheCasesOfAccept(t *testing.T) {
	var file struct {
		Cases []struct {
			Name    string
			Suite   int
			Held    *acceptRow
			Holders []acceptRow
			Record  struct {
				acceptRow
				Way, Signed string
				Replace     bool
			}
			Expect string
			After  []acceptRow
		}
	}
	readJSON(t, "accept.json", &file)
	first, second := must(kit.NewDeviceKey(bytes.Repeat([]byte{1}, 32))).PublicKey(), must(kit.NewDeviceKey(bytes.Repeat([]byte{2}, 32))).PublicKey()
	later := func(key pushcrypt.DevicePublicKey) pushcrypt.DevicePublicKey {
		return must(pushcrypt.NewDevicePublicKey(append(make([]byte, 1184), key.Bytes()...)))
	}
	keys := map[string]pushcrypt.DevicePublicKey{"1A": first, "1B": second, "2Q": later(first), "2R": later(second)}
	updates := map[string][]byte{"U": pushcrypt.GenerateSigningKey().PublicKey(), "V": pushcrypt.GenerateSigningKey().PublicKey()}
	count := 0
	for _, one := range file.Cases {
		isPost := one.Record.Way == "session" && one.Record.Signed == one.Record.UpdateKey
		if !isPost && one.Record.Way != "bare" || one.Suite == 2 {
			continue
		}
		count++
		app := topic
		if one.Held != nil {
			app = textOr(one.Held.Topic, app)
		}
		app = textOr(one.Record.Topic, app)
		rows := table{}
		if one.Held != nil {
			rows["d"] = one.Held.device(keys, updates, app)
			rows["d"].Device = textOr(one.Held.ID, "d")
		}
		for _, other := range one.Holders {
			rows[textOr(other.ID, "d")] = other.device(keys, updates, app)
		}
		record := one.Record.record(keys, updates, "")
		accepted, err := pushcrypt.Accept(&record, rows, one.Record.User, &pushcrypt.AcceptOptions{
			Topic: app, Provider: provider.PublicKey(), NoUser: one.Record.User == "", Replace: one.Record.Replace,
		})
		if err != nil {
			if !errors.Is(err, pushcrypt.Code(one.Expect)) || one.After != nil {
				t.Errorf("%s: %v", one.Name, err)
			}
			continue
		}
		var after []*pushcrypt.StoredDevice
		for _, row := range one.After {
			after = append(after, row.device(keys, updates, app))
		}
		if found, expected := shown(accepted.Changes), shown(after); !reflect.DeepEqual(found, expected) || !strings.Contains("added updated unchanged", one.Expect) {
			t.Errorf("%s: %s, and not %s (%s)", one.Name, found, expected, one.Expect)
		}
	}
	if count < 45 {
		t.Error("too few cases:", count)
	}
}

// phones is a store whose look-ups are wrong.
type phones struct{ found, holder *pushcrypt.StoredDevice }

func (own phones) Find(string) (*pushcrypt.StoredDevice, error) { return own.found, nil }

func (own phones) Holders(pushcrypt.DevicePublicKey, string) ([]*pushcrypt.StoredDevice, error) {
	return []*pushcrypt.StoredDevice{own.holder}, nil
}

func TestOnePhoneDoesNotGetWhatIsAnothers(t *testing.T) {
	other := deviceOf(kit.GenerateDeviceKey().PublicKey(), topic)
	other.Device, other.Token, other.User = "phone2", "beef", "alice"
	options := &pushcrypt.AcceptOptions{Topic: topic, Provider: provider.PublicKey()}
	for _, devices := range []phones{{other, nil}, {&pushcrypt.StoredDevice{}, nil}, {nil, other}, {nil, nil}} {
		accepted, err := pushcrypt.Accept(recordOf(phone.PublicKey(), 1), devices, "alice", options)
		var own *pushcrypt.Error
		if err == nil || errors.As(err, &own) || accepted != nil {
			t.Errorf("%v: %v, %v", devices, accepted, err)
		}
		expect(t, "what the phone is told", pushcrypt.Refusal(err, pushcrypt.Certificate{}).Refused, pushcrypt.Code("internal-error"))
	}
}

func TestFaultsOfTheCallerOfAccept(t *testing.T) {
	record, own := recordOf(phone.PublicKey(), 1), pushcrypt.AcceptOptions{Topic: topic, Provider: provider.PublicKey()}
	noUser, noTopic, noProvider, key, device := own, own, own, own, own
	device.Device, noUser.NoUser, noTopic.Topic, noProvider.Provider, key.PushKey = "a\nb", true, "a b", pushcrypt.ProviderPublicKey{}, []byte{1}
	for _, wrong := range []struct {
		devices pushcrypt.Devices
		user    string
		options *pushcrypt.AcceptOptions
	}{
		{nil, "alice", &own}, {table{}, "alice", nil}, {table{}, "", &own}, {table{}, "alice", &noUser}, {table{}, "alice", &noTopic}, {table{}, "alice", &noProvider},
		{table{}, "alice", &key}, {table{}, "alice", &device},
	} {
		_, err := pushcrypt.Accept(record, wrong.devices, wrong.user, wrong.options)
		var refusal *pushcrypt.Error
		if err == nil || errors.As(err, &refusal) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	_, err := pushcrypt.Accept(&pushcrypt.DeviceRecord{PublicKey: phone.PublicKey()}, table{}, "alice", &own)
	refused(t, "no id for the device", pushcrypt.MalformedRecord, err)
}

func TestAKeyAndATokenAreOfOneDevice(t *testing.T) {
	record := recordOf(phone.PublicKey(), 1)
	record.Token = "00ff"
	other := deviceOf(phone.PublicKey(), topic)
	other.Device, other.User, other.Sequence = "phone2", "alice", 4
	accepted := must(take(record, "alice", other))
	expect(t, "the other device", len(accepted.Changes) == 2 && accepted.Changes[1].IsRemoved && accepted.Changes[1].Sequence == 4 && accepted.Changes[1].Device == "phone2", true)
	expect(t, "a warning", strings.Contains(fmt.Sprint(accepted.Warnings), "environment") && accepted.Device.Environment == "production", true)
	for _, user := range []string{"bob", ""} {
		_, err := take(record, user, other)
		refused(t, "the key of another user", pushcrypt.KeyTaken, err)
		expect(t, "the key of a removed device", len(must(take(record, user, other.Removed())).Changes), 1)
	}
	other.PublicKey, other.Token = kit.GenerateDeviceKey().PublicKey(), "00ff"
	for changed, count := range map[*pushcrypt.StoredDevice]int{other: 2, other.Removed(): 1} {
		expect(t, "the token", len(must(take(record, "alice", changed)).Changes), count)
	}
	another := *other
	another.User = "bob"
	expect(t, "the token of another user", len(must(take(record, "alice", &another)).Changes), 1)
}

func TestAcceptMergesTheDeviceToStore(t *testing.T) {
	first := recordOf(phone.PublicKey(), 1)
	first.Token, first.Environment, first.AppVersion, first.Grant, first.Topic = "00ff", "production", "1.0", "g", topic
	first.UpdateKey, first.Sequence = pushcrypt.GenerateSigningKey().PublicKey(), 7
	options := &pushcrypt.AcceptOptions{Topic: topic, Provider: provider.PublicKey(), PushKey: pushcrypt.GenerateSigningKey().PublicKey()}
	accepted := must(pushcrypt.Accept(first, table{}, "alice", options))
	expect(t, "the user", accepted.Device.User, "alice")
	expect(t, "the reply", accepted.Reply.Acknowledged == phone.PublicKey() && accepted.Reply.Provider == provider.PublicKey() && bytes.Equal(accepted.Reply.PushKey, options.PushKey), true)

	var held pushcrypt.StoredDevice
	if err := json.Unmarshal(must(json.Marshal(accepted.Device)), &held); err != nil {
		t.Fatal(err)
	}
	expect(t, "as it is stored", held, *accepted.Device)
	// The phone changes its key, and reports nothing else; the session has no user's key.
	second := recordOf(kit.GenerateDeviceKey().PublicKey(), 2)
	second.Environment = "development"
	before := held
	device := must(take(second, "alice", &held)).Device
	expect(t, "what was held stays", device.User+device.Topic+device.Token+device.Environment+device.AppVersion+device.Grant,
		"alice"+topic+"00ffproduction1.0g")
	expect(t, "the update key, too", bytes.Equal(device.UpdateKey, first.UpdateKey) && device.Sequence == 7, true)
	expect(t, "the new key", device.PublicKey == second.PublicKey && device.Generation == 2, true)
	expect(t, "its arguments are as before", held, before)
	second.Token = "0011"
	device = must(take(second, "alice", &held)).Device
	expect(t, "a new token has its own environment", device.Token+device.Environment, "0011development")
	second.Token = ""
	expect(t, "an environment of no token", must(take(second, "alice")).Device.Environment, "")

	// Without a user, the same keys are accepted and the owner stays; others are not.
	first.Sequence = 8
	expect(t, "the owner", must(take(first, "", &held)).Device.User, "alice")
	_, err := take(second, "", &held)
	refused(t, "no session", pushcrypt.UserMismatch, err)
	_, err = take(second, "bob", &held)
	refused(t, "another user", pushcrypt.UserMismatch, err)
	nobodys := held
	nobodys.User = ""
	for _, held := range []*pushcrypt.StoredDevice{&nobodys, nobodys.Removed()} {
		_, err = take(first, "alice", held)
		refused(t, "a user for a device of nobody", pushcrypt.UserMismatch, err)
	}
	options.Replace = true
	replaced := must(pushcrypt.Accept(second, tableOf(&held), "bob", options)).Device
	expect(t, "a device that was set up again", replaced.User+replaced.Topic+replaced.AppVersion, "bob"+topic)
	expect(t, "without what proved it before", replaced.UpdateKey == nil && replaced.Sequence == 0, true)
	other := *second
	other.Topic = "com.example.other"
	_, err = take(&other, "alice")
	refused(t, "another app", pushcrypt.TopicMismatch, err)
}

func TestAcceptOfARemovedDevice(t *testing.T) {
	held := deviceOf(phone.PublicKey(), topic)
	held.User, held.Generation, held.Token, held.UpdateKey, held.Sequence = "alice", 5, "00ff", pushcrypt.GenerateSigningKey().PublicKey(), 7
	removed := held.Removed()
	tomorrow := uint64(now.Add(24 * time.Hour).UnixMilli())
	kept := pushcrypt.DeviceRecord{PublicKey: phone.PublicKey(), Device: "phone1", Topic: topic, Suites: []int{1}, Generation: 5, UpdateKey: held.UpdateKey, Sequence: tomorrow}
	expect(t, "what is kept", *removed, pushcrypt.StoredDevice{DeviceRecord: kept, User: "alice", IsRemoved: true})
	held.Sequence = 2 * tomorrow
	expect(t, "a higher sequence stays", held.Removed().Sequence, 2*tomorrow)
	_, err := take(recordOf(kit.GenerateDeviceKey().PublicKey(), 1), "alice", removed)
	refused(t, "an older key", pushcrypt.GenerationRollback, err)
	_, err = take(recordOf(phone.PublicKey(), 5), "bob", removed)
	refused(t, "another user", pushcrypt.UserMismatch, err)
	device := must(take(recordOf(phone.PublicKey(), 5), "alice", removed)).Device
	expect(t, "it is back", device.IsRemoved || device.Token != "" || device.User != "alice", false)
	expect(t, "with its update key", bytes.Equal(device.UpdateKey, held.UpdateKey) && device.Sequence == removed.Sequence, true)
	// A key of suite 2 that is held stays; a removed device holds none.
	old := deviceOf(must(pushcrypt.NewDevicePublicKey(append(make([]byte, 1184), phone.PublicKey().Bytes()...))), topic)
	expect(t, "a key of suite 2 stays", must(take(recordOf(old.PublicKey, 1), "", old)).Device.PublicKey, old.PublicKey)
	for _, held := range []*pushcrypt.StoredDevice{nil, old.Removed()} {
		_, err = take(recordOf(old.PublicKey, 1), "", held)
		refused(t, "a key of suite 2 that is not held", pushcrypt.UnsupportedSuite, err)
	}
	// One that was only marked, with all that it had.
	marked := *held
	marked.IsRemoved = true
	record := recordOf(phone.PublicKey(), 5)
	record.UpdateKey, record.Sequence = pushcrypt.GenerateSigningKey().PublicKey(), marked.Sequence
	_, err = take(record, "alice", &marked)
	refused(t, "a record that was sent before the removal", pushcrypt.StaleRecord, err)
	text := string(must(json.Marshal(pushcrypt.Refusal(err, pushcrypt.Certificate{}))))
	expect(t, "the phone learns the sequence", text, fmt.Sprintf(`{"version":1,"refused":"stale-record","sequence":%d}`, marked.Sequence))
	record.Sequence++
	device = must(take(record, "alice", &marked)).Device
	expect(t, "nothing of before stays", device.Topic+device.Token+device.User, topic+"alice")
	expect(t, "another update key and the higher sequence", bytes.Equal(device.UpdateKey, record.UpdateKey) && device.Sequence == record.Sequence, true)
}

func TestAPhoneEndsItsDevice(t *testing.T) {
	var file struct {
		Records []struct{ Name, UpdateSeed, Record, Signature string }
	}
	readJSON(t, "signed.json", &file)
	end := file.Records[len(file.Records)-1]
	expect(t, "the case", end.Name, "an end")
	seed, signature := must(hex.DecodeString(end.UpdateSeed)), must(base64.RawURLEncoding.DecodeString(end.Signature))
	held := deviceOf(phone.PublicKey(), topic)
	held.Device, held.User, held.Grant, held.Sequence = "5d0f9c1e", "alice", "g", 7
	held.UpdateKey = ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	options := &pushcrypt.AcceptOptions{Topic: topic, Provider: provider.PublicKey()}
	say := func(record string, rows ...*pushcrypt.StoredDevice) (*pushcrypt.Accepted, error) {
		return pushcrypt.AcceptEnd([]byte(record), signature, tableOf(rows...), options)
	}
	accepted := must(say(end.Record, held))
	text := string(must(json.Marshal(accepted.Reply)))
	expect(t, "the reply", text, `{"version":1,"ended":"5d0f9c1e","provider":"`+options.Provider.String()+`"}`)
	removed := held.Removed()
	removed.Sequence = 1<<53 - 1
	expect(t, "what is stored", accepted.Changes, []*pushcrypt.StoredDevice{removed})
	otherKey, otherApp, isEnded, noTopic := *held, *held, *held, *held
	otherKey.UpdateKey, otherApp.Topic, isEnded.Sequence, noTopic.Topic = nil, "com.example.other", removed.Sequence, ""
	expect(t, "of a device without a topic", must(say(end.Record, &noTopic)).Device.IsRemoved, true)
	for code, row := range map[pushcrypt.Code]*pushcrypt.StoredDevice{
		pushcrypt.UnknownDevice: removed, pushcrypt.BadRecordSignature: &otherKey, pushcrypt.StaleRecord: &isEnded,
	} {
		_, err := say(end.Record, row)
		refused(t, "the same again, or forged", code, err)
	}
	_, err := say(end.Record)
	refused(t, "of no device", pushcrypt.UnknownDevice, err)
	_, err = say(end.Record, &otherApp)
	refused(t, "of another app", pushcrypt.BadRecordSignature, err)
	_, err = say(end.Record+" ", held)
	refused(t, "changed", pushcrypt.BadRecordSignature, err)
	for _, member := range []string{"device", "provider", "nonce", "sequence"} {
		_, err = say(strings.Replace(end.Record, member, "x", 1), held)
		refused(t, "without "+member, pushcrypt.MalformedRecord, err)
	}
	for _, record := range []string{`{"ended":false}`, `{"device":"5d0f9c1e"}`, "[]"} {
		accepted, err = say(record, held)
		expect(t, "what is no end", accepted == nil && err == nil, true)
	}
	_, err = pushcrypt.AcceptEnd([]byte(end.Record), signature, nil, options)
	expect(t, "no store", err != nil, true)
	// Only the operator brings the device back.
	record := recordOf(phone.PublicKey(), 1)
	record.Device, record.UpdateKey, record.Sequence = removed.Device, held.UpdateKey, removed.Sequence-1
	_, err = take(record, "alice", removed)
	refused(t, "a session after the end", pushcrypt.StaleRecord, err)
}

func TestAGrantThatTheRelayEnded(t *testing.T) {
	held := deviceOf(phone.PublicKey(), topic)
	held.Grant = "old"
	expect(t, "a grant that came since", held.WithoutGrant("older"), held)
	held = must(pushcrypt.ParseStoredDevice(must(json.Marshal(held.WithoutGrant("old")))))
	expect(t, "the grant", held.Grant+held.EndedGrant, "old")
	record := recordOf(phone.PublicKey(), 1)
	for grant, ended := range map[string]string{"": "old", "old": "old", "new": ""} {
		record.Grant = grant
		accepted := must(take(record, "", held))
		text := string(must(json.Marshal(accepted.Reply)))
		expect(t, "the reply to "+grant, strings.Contains(text, `"grant":"ended"`), grant == "old")
		expect(t, "what is stored of "+grant, accepted.Device.Grant, strings.TrimPrefix(grant, "old"))
		expect(t, "what ended", accepted.Device.EndedGrant, ended)
	}
	expect(t, "without a grant", must(take(recordOf(phone.PublicKey(), 1), "")).Reply.GrantEnded, false)
}

func TestMembersOfPosts(t *testing.T) {
	good := `{"public_key":"` + phone.PublicKey().String() + `","device":"phone1","nonce":"` + strings.Repeat("A", 22) + `"`
	must(pushcrypt.ParseDeviceRecord([]byte(good + "}")))
	key := strings.Repeat("A", 42)
	for members, code := range map[string]pushcrypt.Code{
		`"sequence":0`: pushcrypt.MalformedRecord, `"sequence":9007199254740991`: pushcrypt.MalformedRecord, `"sequence":"7"`: pushcrypt.MalformedRecord,
		`"update_key":7`: pushcrypt.MalformedRecord, `"update_key":""`: pushcrypt.MalformedKey, `"update_key":"` + key + `B"`: pushcrypt.MalformedKey,
		`"update_key":"` + key + `A"`: pushcrypt.WeakKey, `"ended":true`: pushcrypt.MalformedRecord, `"ended":false`: pushcrypt.MalformedRecord,
	} {
		_, err := pushcrypt.ParseDeviceRecord([]byte(good + "," + members + "}"))
		refused(t, members, code, err)
	}
	for _, invisible := range "\x00\u009f\u00ad\u2028\u206f\U000e007f" {
		_, err := json.Marshal(pushcrypt.DeviceRecord{PublicKey: phone.PublicKey(), Device: "a" + string(invisible)})
		expect(t, "an invisible character", err != nil, true)
	}
	_, err := pushcrypt.ParseDeviceRecord([]byte(strings.Replace(good, "AA", "A", 1) + "}"))
	refused(t, "a short nonce", pushcrypt.MalformedRecord, err)
}

func TestRefusals(t *testing.T) {
	certificate := must(pushcrypt.IssueCertificate(provider, pushcrypt.GenerateSigningKey().PublicKey(), topic, pushcrypt.Plan{}))
	_, err := pushcrypt.ParseDeviceRecord([]byte("secret-word"))
	text := string(must(json.Marshal(pushcrypt.Refusal(err, certificate))))
	expect(t, "the reply", text, `{"version":1,"refused":"malformed-record","certificate":"`+certificate.String()+`"}`)
	expect(t, "another error", pushcrypt.Refusal(errors.New("secret-word"), pushcrypt.Certificate{}).Refused, pushcrypt.Code("internal-error"))
	expect(t, "no error", pushcrypt.Refusal(nil, pushcrypt.Certificate{}).Refused, pushcrypt.Code("internal-error"))
}

func TestStaleStores(t *testing.T) {
	own, public := provider.PublicKey(), pushcrypt.GenerateSigningKey().PublicKey()
	first := must(pushcrypt.IssueCertificate(provider, public, topic, pushcrypt.Plan{At: now}))
	second := must(pushcrypt.IssueCertificate(provider, public, topic, pushcrypt.Plan{At: now, Current: first}))
	third := must(pushcrypt.IssueCertificate(provider, public, topic, pushcrypt.Plan{At: now, Current: second, Stolen: true}))
	record := recordOf(phone.PublicKey(), 1)
	record.Topic, record.Certificate = topic, first
	stale := func(options pushcrypt.AcceptOptions) pushcrypt.Certificate {
		options.Topic, options.NoUser = topic, true
		return must(pushcrypt.Accept(record, table{}, "", &options)).StaleStore
	}
	none := pushcrypt.Certificate{}
	expect(t, "never issued", stale(pushcrypt.AcceptOptions{Provider: own, Certificate: second, Issued: []pushcrypt.Certificate{second}}), first)
	expect(t, "issued", stale(pushcrypt.AcceptOptions{Provider: own, Certificate: second, Issued: []pushcrypt.Certificate{first}}), none)
	expect(t, "the current one", stale(pushcrypt.AcceptOptions{Provider: own, Certificate: first, Issued: []pushcrypt.Certificate{}}), none)
	expect(t, "not asked", stale(pushcrypt.AcceptOptions{Provider: own, Certificate: second}), none)
	expect(t, "at epoch 0", stale(pushcrypt.AcceptOptions{Provider: own}), first)
	expect(t, "below the floor", stale(pushcrypt.AcceptOptions{Provider: own, Certificate: third, Issued: []pushcrypt.Certificate{}}), none)
	expect(t, "of another provider", stale(pushcrypt.AcceptOptions{Provider: pushcrypt.GenerateProviderKey().PublicKey()}), none)
}
