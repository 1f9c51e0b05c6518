package pushcrypt_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/pushcrypt"
	kit "example.com/pushcrypt/pushcrypttest"
)

func recordOf(key pushcrypt.DevicePublicKey, generation uint64) *pushcrypt.DeviceRecord {
	return &pushcrypt.DeviceRecord{PublicKey: key, Device: "phone1", Generation: generation, Suites: []int{1}}
}

func TestAcceptMergesTheDeviceToStore(t *testing.T) {
	first := recordOf(phone.PublicKey(), 1)
	first.Token, first.Environment, first.AppVersion, first.Grant, first.Topic = "00ff", "production", "1.0", "g", topic
	first.UpdateKey, first.Sequence = pushcrypt.GenerateSigningKey().PublicKey(), 7
	key := pushcrypt.GenerateProviderKey()
	options := &pushcrypt.AcceptOptions{Topic: topic, Provider: key.PublicKey(), PushKey: pushcrypt.GenerateSigningKey().PublicKey()}
	accepted := must(pushcrypt.Accept(first, nil, "alice", options))
	expect(t, "the user", accepted.Device.User, "alice")
	expect(t, "the reply", accepted.Reply.Acknowledged == phone.PublicKey() && accepted.Reply.Provider == key.PublicKey() && bytes.Equal(accepted.Reply.PushKey, options.PushKey), true)

	var held pushcrypt.StoredDevice
	if err := json.Unmarshal(must(json.Marshal(accepted.Device)), &held); err != nil {
		t.Fatal(err)
	}
	expect(t, "as it is stored", held, *accepted.Device)
	// The phone changes its key, and reports nothing else; the session has no user's key.
	second := recordOf(kit.GenerateDeviceKey().PublicKey(), 2)
	before := held
	device := must(pushcrypt.Accept(second, &held, "alice", options)).Device
	expect(t, "what was held stays", device.User+device.Topic+device.Token+device.Environment+device.AppVersion+device.Grant,
		"alice"+topic+"00ffproduction1.0g")
	expect(t, "the update key, too", bytes.Equal(device.UpdateKey, first.UpdateKey) && device.Sequence == 7, true)
	expect(t, "the new key", device.PublicKey == second.PublicKey && device.Generation == 2, true)
	expect(t, "its arguments are as before", held, before)
	second.Token = "0011"
	device = must(pushcrypt.Accept(second, &held, "alice", options)).Device
	expect(t, "a new token has its own environment", device.Token+device.Environment, "0011")

	// Without a user, the same key is accepted and the owner stays; another one is not.
	expect(t, "the owner", must(pushcrypt.Accept(first, &held, "", options)).Device.User, "alice")
	_, err := pushcrypt.Accept(second, &held, "", options)
	refused(t, "no session", pushcrypt.UserMismatch, err)
	_, err = pushcrypt.Accept(second, &held, "bob", options)
	refused(t, "another user", pushcrypt.UserMismatch, err)
	nobodys := held
	nobodys.User = ""
	for _, held := range []*pushcrypt.StoredDevice{&nobodys, nobodys.Removed()} {
		_, err = pushcrypt.Accept(first, held, "alice", options)
		refused(t, "a user for a device of nobody", pushcrypt.UserMismatch, err)
	}
	replaced := must(pushcrypt.Accept(second, &held, "bob", &pushcrypt.AcceptOptions{Replace: true})).Device
	expect(t, "a device that was set up again", replaced.User+replaced.Topic+replaced.AppVersion, "bob")
	other := *second
	other.Topic = "com.example.other"
	_, err = pushcrypt.Accept(&other, nil, "alice", options)
	refused(t, "another app", pushcrypt.TopicMismatch, err)
}

func TestAcceptOfARemovedDevice(t *testing.T) {
	held := &pushcrypt.StoredDevice{DeviceRecord: *recordOf(phone.PublicKey(), 5), User: "alice"}
	held.Token, held.Topic, held.UpdateKey, held.Sequence = "00ff", topic, pushcrypt.GenerateSigningKey().PublicKey(), 7
	removed := held.Removed()
	tomorrow := uint64(time.Now().Add(24 * time.Hour).UnixMilli())
	expect(t, "the sequence is tomorrow's", tomorrow-60_000 < removed.Sequence && removed.Sequence <= tomorrow, true)
	kept := pushcrypt.DeviceRecord{PublicKey: phone.PublicKey(), Device: "phone1", Generation: 5, UpdateKey: held.UpdateKey, Sequence: removed.Sequence}
	expect(t, "what is kept", *removed, pushcrypt.StoredDevice{DeviceRecord: kept, User: "alice", IsRemoved: true})
	held.Sequence = 2 * tomorrow
	expect(t, "a higher sequence stays", held.Removed().Sequence, 2*tomorrow)
	_, err := pushcrypt.Accept(recordOf(kit.GenerateDeviceKey().PublicKey(), 1), removed, "alice", nil)
	refused(t, "an older key", pushcrypt.GenerationRollback, err)
	_, err = pushcrypt.Accept(recordOf(phone.PublicKey(), 5), removed, "bob", nil)
	refused(t, "another user", pushcrypt.UserMismatch, err)
	device := must(pushcrypt.Accept(recordOf(phone.PublicKey(), 5), removed, "alice", nil)).Device
	expect(t, "it is back", device.IsRemoved || device.Token != "" || device.User != "alice", false)
	expect(t, "with its update key", bytes.Equal(device.UpdateKey, held.UpdateKey) && device.Sequence == removed.Sequence, true)
	// A key of suite 2 that is held stays; a removed device holds none.
	old := &pushcrypt.StoredDevice{DeviceRecord: *recordOf(must(pushcrypt.NewDevicePublicKey(append(make([]byte, 1184), phone.PublicKey().Bytes()...))), 1)}
	expect(t, "a key of suite 2 stays", must(pushcrypt.Accept(recordOf(old.PublicKey, 1), old, "", nil)).Device.PublicKey, old.PublicKey)
	for _, held := range []*pushcrypt.StoredDevice{nil, old.Removed()} {
		_, err = pushcrypt.Accept(recordOf(old.PublicKey, 1), held, "", nil)
		refused(t, "a key of suite 2 that is not held", pushcrypt.UnsupportedSuite, err)
	}
	// One that was only marked, with all that it had.
	marked := *held
	marked.IsRemoved = true
	record := recordOf(phone.PublicKey(), 5)
	record.Topic = "com.example.other"
	device = must(pushcrypt.Accept(record, &marked, "alice", nil)).Device
	expect(t, "nothing of before stays", device.Topic+device.Token+device.User, "com.example.otheralice")
	record.UpdateKey, record.Sequence = pushcrypt.GenerateSigningKey().PublicKey(), 8
	device = must(pushcrypt.Accept(record, &marked, "alice", nil)).Device
	expect(t, "another update key and the higher sequence", bytes.Equal(device.UpdateKey, record.UpdateKey) && device.Sequence == marked.Sequence, true)
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

func TestAcceptOfAKeyThatIsHeldElsewhere(t *testing.T) {
	elsewhere := &pushcrypt.StoredDevice{DeviceRecord: *recordOf(phone.PublicKey(), 1), User: "alice"}
	record := recordOf(phone.PublicKey(), 1)
	accepted := must(pushcrypt.Accept(record, nil, "alice", &pushcrypt.AcceptOptions{Elsewhere: elsewhere}))
	expect(t, "the other device", accepted.RemovesElsewhere, true)
	for _, user := range []string{"bob", ""} {
		_, err := pushcrypt.Accept(record, nil, user, &pushcrypt.AcceptOptions{Elsewhere: elsewhere, Replace: true})
		refused(t, "the key of another user", pushcrypt.KeyTaken, err)
	}
	elsewhere.User = ""
	_, err := pushcrypt.Accept(record, nil, "", &pushcrypt.AcceptOptions{Elsewhere: elsewhere})
	refused(t, "nobody is not the same user", pushcrypt.KeyTaken, err)
}

func TestRefusingReplies(t *testing.T) {
	certificate := must(pushcrypt.IssueCertificate(provider, pushcrypt.GenerateSigningKey().PublicKey(), topic, pushcrypt.Plan{}))
	_, err := pushcrypt.ParseDeviceRecord([]byte("secret-word"))
	reply := pushcrypt.RefusingReply(err, certificate)
	text := string(must(json.Marshal(reply)))
	expect(t, "the reply", text, `{"version":1,"refused":"malformed-record","certificate":"`+certificate.String()+`"}`)
	expect(t, "another error", pushcrypt.RefusingReply(errors.New("secret-word"), pushcrypt.Certificate{}).Refused, pushcrypt.Code("internal-error"))
	expect(t, "no error", pushcrypt.RefusingReply(nil, pushcrypt.Certificate{}).Refused, pushcrypt.Code("internal-error"))
}

func TestStaleStores(t *testing.T) {
	now, own := time.UnixMilli(1_767_225_600_000), provider.PublicKey()
	public := pushcrypt.GenerateSigningKey().PublicKey()
	first := must(pushcrypt.IssueCertificate(provider, public, topic, pushcrypt.Plan{At: now}))
	second := must(pushcrypt.IssueCertificate(provider, public, topic, pushcrypt.Plan{At: now, Current: first}))
	third := must(pushcrypt.IssueCertificate(provider, public, topic, pushcrypt.Plan{At: now, Current: second, Stolen: true}))
	record := recordOf(phone.PublicKey(), 1)
	record.Topic, record.Certificate = topic, first
	stale := func(options pushcrypt.AcceptOptions) pushcrypt.Certificate {
		return must(pushcrypt.Accept(record, nil, "", &options)).StaleStore
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
