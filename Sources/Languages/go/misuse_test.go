package pushcrypt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"example.com/pushcrypt/Sources/Languages/go"
	"example.com/pushcrypt/Sources/Languages/go/internal/jsontext"
	kit "example.com/pushcrypt/Sources/Languages/go/pushcrypttest"
)

// Misuse by a caller: each call is refused, or does no harm.

const (
	half = "\xed\xa0\x80" // half of a surrogate pair, which is not UTF-8
	good = `{"aps":{"alert":"a","sound":"b"}}`
)

var (
	provider = must(pushcrypt.ParseProviderKey(providerSecret))
	phone    = must(kit.ParseDeviceKey(deviceSecret))
	long     = strings.Repeat("a", 10<<20)
)

// refused looks for a code, in an error that quotes nothing of what was given.
func refused(t *testing.T, name string, code pushcrypt.Code, err error) {
	t.Helper()
	var own *pushcrypt.Error
	if !errors.As(err, &own) || own.Code != code {
		t.Errorf("%s: %v, and not %s", name, err, code)
	} else if strings.Contains(err.Error(), "secret-word") || len(err.Error()) > 300 {
		t.Errorf("%s: the error quotes its input: %.500v", name, err)
	}
}

func expect(t *testing.T, name string, found, expected any) {
	t.Helper()
	if !reflect.DeepEqual(found, expected) {
		t.Errorf("%s: %v, and not %v", name, found, expected)
	}
}

// opener opens what the provider of these tests sealed for the phone.
func opener() kit.Phone { return kit.Phone{Topic: "a", Key: phone, Provider: provider.PublicKey()} }

func TestOptionsThatAreRefused(t *testing.T) {
	sealer, picture := must(pushcrypt.NewSealer(provider, "a")), pushcrypt.Reference{URL: "https://a", Size: 1_000_001, Type: "public.png", Name: "a"}
	letters := func(count int) []string { return strings.Split(strings.Repeat("a,", count-1)+"a", ",") }
	for name, wrong := range map[string]struct {
		code    pushcrypt.Code
		options []pushcrypt.Option
	}{
		"a title with half of a pair":    {pushcrypt.InvalidPlaceholder, []pushcrypt.Option{pushcrypt.WithTitle(half)}},
		"a title of spaces":              {pushcrypt.InvalidPlaceholder, []pushcrypt.Option{pushcrypt.WithTitle(" \t")}},
		"a title of 4,097 bytes":         {pushcrypt.InvalidPlaceholder, []pushcrypt.Option{pushcrypt.WithTitle(strings.Repeat("a", 4097))}},
		"a title of 10 MB":               {pushcrypt.InvalidPlaceholder, []pushcrypt.Option{pushcrypt.WithTitle(long)}},
		"a sound with half of a pair":    {pushcrypt.InvalidPlaceholder, []pushcrypt.Option{pushcrypt.WithSound(half)}},
		"a field that stays sealed":      {pushcrypt.InvalidPlaceholder, []pushcrypt.Option{pushcrypt.WithClear("alert")}},
		"a time to live with a fraction": {pushcrypt.InvalidTime, []pushcrypt.Option{pushcrypt.WithTimeToLive(1500 * time.Millisecond)}},
		"a negative time to live":        {pushcrypt.InvalidTime, []pushcrypt.Option{pushcrypt.WithTimeToLive(-time.Hour)}},
		"the longest duration":           {pushcrypt.InvalidTime, []pushcrypt.Option{pushcrypt.WithTimeToLive(1<<63 - 1)}},
		"a time before 1970":             {pushcrypt.InvalidTime, []pushcrypt.Option{pushcrypt.WithTime(time.UnixMilli(-1))}},
		"seconds as milliseconds":        {pushcrypt.ImplausibleTime, []pushcrypt.Option{pushcrypt.WithTime(time.UnixMilli(now.Unix()))}},
		"milliseconds as seconds":        {pushcrypt.ImplausibleTime, []pushcrypt.Option{pushcrypt.WithTime(time.Unix(now.UnixMilli(), 0))}},
		"a time of two days ago":         {pushcrypt.ImplausibleTime, []pushcrypt.Option{pushcrypt.WithTime(now.Add(-48 * time.Hour))}},
		"the last time":                  {pushcrypt.ImplausibleTime, []pushcrypt.Option{pushcrypt.WithTime(time.Unix(1<<62, 0))}},
		"an empty message id":            {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithMessageID("")}},
		"an id with half of a pair":      {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithMessageID(half)}},
		"65 withdrawals":                 {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithWithdraws(letters(65)...)}},
		"an empty withdrawal":            {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithWithdraws("")}},
		"a withdrawal of itself":         {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithWithdraws("a"), pushcrypt.WithMessageID("a")}},
		"a withdrawal with half of one":  {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithWithdraws(half)}},
		"a person of two lines":          {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithPerson(pushcrypt.Person{Name: "a\nb"})}},
		"a person without a name":        {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithPerson(pushcrypt.Person{})}},
		"nine recipients":                {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithPerson(pushcrypt.Person{Name: "a", Recipients: letters(9)})}},
		"an avatar that is too large":    {pushcrypt.MalformedReference, []pushcrypt.Option{pushcrypt.WithPerson(pushcrypt.Person{Name: "a", Avatar: &picture})}},
		"a full body that is a picture":  {pushcrypt.MalformedReference, []pushcrypt.Option{pushcrypt.WithFullBody(picture)}},
		"a reference without an address": {pushcrypt.MalformedReference, []pushcrypt.Option{pushcrypt.WithAttachments(pushcrypt.Reference{})}},
		"nine attachments":               {pushcrypt.TooManyAttachments, []pushcrypt.Option{pushcrypt.WithAttachments(make([]pushcrypt.Reference, 9)...)}},
		"another push type":              {pushcrypt.PushTypeNotSealable, []pushcrypt.Option{pushcrypt.WithPushType("widgets")}},
		"an empty collapse name":         {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithCollapseName("")}},
		"priority 7":                     {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithPriority(7)}},
		"a background push at once":      {pushcrypt.InvalidRequest, []pushcrypt.Option{pushcrypt.WithPriority(10), pushcrypt.WithPushType(pushcrypt.Background)}},
		"an expiration in milliseconds":  {pushcrypt.ImplausibleTime, []pushcrypt.Option{pushcrypt.WithExpiration(time.Unix(1_767_225_600_000, 0))}},
	} {
		_, err := sealer.Seal([]byte(good), phone.Device("a"), wrong.options...)
		refused(t, name, wrong.code, err)
	}
	for _, option := range []pushcrypt.Option{
		pushcrypt.WithMessageID("a"), pushcrypt.WithTime(time.Now()), pushcrypt.WithWithdraws("a"),
	} {
		_, err := pushcrypt.NewSealer(provider, "a", option)
		refused(t, "an option of one message for all", pushcrypt.InvalidRequest, err)
	}
}

func TestOptionsThatHold(t *testing.T) {
	sealer := must(pushcrypt.NewSealer(provider, "a", nil, pushcrypt.WithTitle("All"), pushcrypt.WithClear("badge")))
	payload := []byte(`{"aps":{"alert":"a","badge":7,"category":"c"}}`)
	first := must(sealer.Seal(payload, phone.Device("a"), pushcrypt.WithClear("category"), pushcrypt.WithTitle("One"), nil))
	second := must(sealer.Seal(payload, phone.Device("a"), pushcrypt.WithExpiration(time.Time{}), pushcrypt.WithPriority(5)))
	expect(t, "the first", strings.HasPrefix(string(first.Payload), `{"aps":{"mutable-content":1,"alert":{"title":"One","body":"(Encrypted)"},"badge":7,"category":"c"}`), true)
	expect(t, "the second", strings.HasPrefix(string(second.Payload), `{"aps":{"mutable-content":1,"alert":{"title":"All","body":"(Encrypted)"},"badge":7}`), true)
	expect(t, "one attempt", second.Header().Get("apns-expiration")+second.Header().Get("apns-priority"), "05")
	call := must(sealer.Seal([]byte(`{"aps":{}}`), phone.Device("a"), pushcrypt.WithPushType(pushcrypt.VoIP)))
	expect(t, "a call", call.Header().Get("apns-topic")+call.Header().Get("apns-priority"), "a.voip10")
	quiet := must(sealer.Seal([]byte(good), phone.Device("a"), pushcrypt.WithSound("")))
	expect(t, "no sound", strings.Contains(string(quiet.Payload), "sound"), false)
	again := must(sealer.Seal([]byte(good), phone.Device("a"), pushcrypt.WithMessageID("a")))
	retry := must(sealer.Seal([]byte(good), phone.Device("a"), pushcrypt.WithMessageID("a")))
	expect(t, "a retry", again.MessageID == retry.MessageID && again.Envelope != retry.Envelope && again.CollapseID == retry.CollapseID, true)
	spaced := []byte(` {"aps" : {"alert":"a"}, "own": [1.50, 1E400, "\u00e9\/\uD83d\ude00 \\u00e9\u001F\u000A\u0022"]} `)
	opened := must(opener().Open(must(sealer.Seal(spaced, phone.Device("a"))).Payload, time.Time{}))
	expect(t, "the fewest bytes", string(opened.Payload), `{"aps":{"alert":"a"},"own":[1.50,1E400,"é/😀 \\u00e9\u001f\n\""]}`)
	for _, pushType := range []pushcrypt.PushType{pushcrypt.Alert, pushcrypt.Background, pushcrypt.VoIP} {
		one := must(sealer.Seal([]byte(good), phone.Device("a"), pushcrypt.WithTimeToLive(0), pushcrypt.WithTime(now), pushcrypt.WithPushType(pushType)))
		expect(t, "now or never", one.Header().Get("apns-expiration")+one.ExpiresAt.Sub(now).String(), "010m0s")
	}
	named := []pushcrypt.Option{pushcrypt.WithCollapseName("c")}
	signing := pushcrypt.GenerateSigningKey()
	credential := &pushcrypt.Credential{Key: signing, Provider: provider.PublicKey(), Certificate: must(pushcrypt.IssueCertificate(provider, signing.PublicKey(), "a", pushcrypt.Plan{}))}
	before := must(sealer.Seal([]byte(good), phone.Device("a"), named...)).CollapseID
	after := must(must(pushcrypt.NewSealer(credential, "a")).Seal([]byte(good), kit.GenerateDeviceKey().Device("a"), named...)).CollapseID
	expect(t, "a collapse id outlives every key", len(before) == 43 && before == after, true)
}

func TestPayloadsThatAreRefused(t *testing.T) {
	sealer := must(pushcrypt.NewSealer(provider, "a"))
	for payload, code := range map[string]pushcrypt.Code{
		`{"aps":{"alert":"a","content-available":"1"}}`: pushcrypt.InvalidField, `{"aps":{"alert":"a","badge":"1"}}`: pushcrypt.InvalidField,
		`{"aps":{"alert":"a","sound":{"volume":1e400}}}`: pushcrypt.InvalidField, `{"aps":{"alert":{"title":""},"badge":1}}`: pushcrypt.NothingToShow,
		`{"alert":"secret-word"}`: pushcrypt.MissingAPS, "secret-word": pushcrypt.MalformedPayload, "": pushcrypt.MalformedPayload,
		`{"aps":{"alert":"` + long + `"}}`: pushcrypt.PayloadTooLarge, long: pushcrypt.MalformedPayload,
		strings.Repeat("[", 10<<20): pushcrypt.MalformedPayload, `{"aps":{},"ENCRYPTED_DATA":1}`: pushcrypt.ReservedKey,
	} {
		_, err := sealer.Seal([]byte(payload), phone.Device("a"))
		refused(t, fmt.Sprintf("%.60s", payload), code, err)
	}
	began := time.Now()
	_, err := jsontext.ParseObject(append([]byte(`{"`), bytes.Repeat([]byte(`\"`), 1_000_000)...))
	expect(t, "an unterminated string", err != nil && time.Since(began) < 5*time.Second, true)
	expect(t, "the fingerprint of half of a pair", len(pushcrypt.Fingerprint(half)), 8)
}

func TestTopicsThatAreRefused(t *testing.T) {
	for _, topic := range []string{"", "a b", half, strings.Repeat("a", 256), long} {
		_, err := pushcrypt.NewSealer(provider, topic)
		refused(t, "a topic", pushcrypt.WrongTopic, err)
	}
}

func TestWhatIsNotForThePhone(t *testing.T) {
	stranger := pushcrypt.GenerateProviderKey()
	seal := func(key pushcrypt.Key) []byte {
		return must(must(pushcrypt.NewSealer(key, "a")).Seal([]byte(good), phone.Device("a"), pushcrypt.WithTime(now), pushcrypt.WithTimeToLive(time.Minute))).Payload
	}
	sealed := seal(provider)
	expect(t, "what opens", string(must(opener().Open(sealed, now)).Payload), good)
	changed := append([]byte(nil), sealed...)
	changed[200] = map[bool]byte{true: 'B', false: 'A'}[changed[200] == 'A']
	for name, wrong := range map[string]struct {
		code   pushcrypt.Code
		change func(*kit.Phone)
		push   []byte
		at     time.Time
	}{
		"another app":            {pushcrypt.AuthenticationFailed, func(phone *kit.Phone) { phone.Topic = "b" }, sealed, now},
		"another provider":       {pushcrypt.AuthenticationFailed, func(phone *kit.Phone) { phone.Provider = stranger.PublicKey() }, sealed, now},
		"a stranger's push":      {pushcrypt.AuthenticationFailed, nil, seal(stranger), now},
		"no provider":            {pushcrypt.AuthenticationFailed, func(phone *kit.Phone) { phone.Provider = pushcrypt.ProviderPublicKey{} }, sealed, now},
		"a changed push":         {pushcrypt.AuthenticationFailed, nil, changed, now},
		"another device":         {pushcrypt.UnknownRecipientKey, func(phone *kit.Phone) { phone.Key = kit.GenerateDeviceKey() }, sealed, now},
		"no device":              {pushcrypt.UnknownRecipientKey, func(phone *kit.Phone) { phone.Key = nil }, sealed, now},
		"another push type":      {pushcrypt.WrongPushClass, func(phone *kit.Phone) { phone.PushType = pushcrypt.VoIP }, sealed, now},
		"a push type of nothing": {pushcrypt.WrongPushClass, func(phone *kit.Phone) { phone.PushType = "a" }, sealed, now},
		"a day later":            {pushcrypt.Expired, nil, sealed, now.Add(24 * time.Hour)},
		"two days later":         {pushcrypt.ImplausibleTime, nil, sealed, now.Add(48 * time.Hour)},
		"a push in the clear":    {pushcrypt.MalformedEnvelope, nil, []byte(good), now},
		"no JSON":                {pushcrypt.MalformedPayload, nil, []byte("secret-word"), now},
	} {
		own := opener()
		if wrong.change != nil {
			wrong.change(&own)
		}
		_, err := own.Open(wrong.push, wrong.at)
		refused(t, name, wrong.code, err)
	}
}

func TestConstructorsDoNotLog(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	must(pushcrypt.NewSealer(provider, "com.example.app.voip"))
	expect(t, "what is logged", logged.String(), "")
}

func TestZeroValuesAreNoKeys(t *testing.T) {
	var device pushcrypt.DevicePublicKey
	var pin pushcrypt.ProviderPublicKey
	var certificate pushcrypt.Certificate
	expect(t, "their texts", device.String()+pin.String()+certificate.String()+(&pushcrypt.ProviderKey{}).SecretText()+(&pushcrypt.SigningKey{}).SecretText(), "")
	for _, value := range []any{device, pin, certificate, pushcrypt.DeviceRecord{}, pushcrypt.Reply{}, pushcrypt.StoredDevice{},
		pushcrypt.Reference{}, &pushcrypt.CertificateRequest{}, map[pushcrypt.ProviderPublicKey]int{pin: 1}} {
		if data, err := json.Marshal(value); err == nil {
			t.Errorf("%T is written: %s", value, data)
		}
	}
	expect(t, "no text", json.Unmarshal([]byte(`""`), &device) != nil && json.Unmarshal([]byte(`""`), &pin) != nil && json.Unmarshal([]byte(`""`), &certificate) != nil, true)
	_, err := must(pushcrypt.NewSealer(provider, "a")).Seal([]byte(good), deviceOf(device, "a"))
	refused(t, "no device key", pushcrypt.UnusableKey, err)
	var nothing *pushcrypt.ProviderKey
	var none *pushcrypt.Credential
	for _, key := range []pushcrypt.Key{nil, nothing, &pushcrypt.ProviderKey{}, none, &pushcrypt.Credential{}, &pushcrypt.Credential{Key: &pushcrypt.SigningKey{}}} {
		_, err = pushcrypt.NewSealer(key, "a")
		refused(t, "no key", pushcrypt.UnusableKey, err)
		_, err = pushcrypt.SealFile(io.Discard, strings.NewReader("a"), key)
		refused(t, "no key for a file", pushcrypt.UnusableKey, err)
	}
	for _, key := range []*pushcrypt.ProviderKey{nil, {}} {
		_, err = pushcrypt.IssueCertificate(key, make([]byte, 32), "a", pushcrypt.Plan{})
		refused(t, "no provider key", pushcrypt.UnusableKey, err)
	}
	_, err = pushcrypt.NewSealer(&pushcrypt.Credential{Key: pushcrypt.GenerateSigningKey()}, "a")
	refused(t, "no certificate", pushcrypt.WrongCertificate, err)
	expect(t, "no credential's text", (&pushcrypt.Credential{}).SecretText(), "")
	_, err = pushcrypt.Accept(nil, nil, "", nil)
	refused(t, "no record", pushcrypt.MalformedRecord, err)
	_, err = pushcrypt.Accept(&pushcrypt.DeviceRecord{}, nil, "", nil)
	refused(t, "a record without a key", pushcrypt.MalformedRecord, err)
	_, err = pushcrypt.NewProviderPublicKey(make([]byte, 32))
	refused(t, "a pin of zeros", pushcrypt.WeakKey, err)
	_, err = kit.NewDeviceKey(make([]byte, 31))
	refused(t, "a key of 31 bytes", pushcrypt.MalformedKey, err)
	for _, more := range []int{1, 1183, 1185} {
		_, err = pushcrypt.NewDevicePublicKey(append(make([]byte, more), phone.PublicKey().Bytes()...))
		refused(t, "a device key of another length", pushcrypt.MalformedKey, err)
	}
	later := must(pushcrypt.NewDevicePublicKey(append(make([]byte, 1184), phone.PublicKey().Bytes()...)))
	_, err = must(pushcrypt.NewSealer(provider, topic)).Seal([]byte(good), deviceOf(later, topic))
	refused(t, "a device key of suite 2", pushcrypt.UnsupportedSuite, err)
}

func TestDevicesThatNothingIsSealedTo(t *testing.T) {
	sealer, other := must(pushcrypt.NewSealer(provider, topic)), phone.Device("com.example.other")
	unnamed := phone.Device(topic)
	unnamed.Device = ""
	for code, device := range map[pushcrypt.Code]*pushcrypt.StoredDevice{
		pushcrypt.UnusableKey: nil, pushcrypt.RemovedDevice: phone.Device(topic).Removed(), pushcrypt.TopicMismatch: other, pushcrypt.InvalidRequest: unnamed,
	} {
		push, err := sealer.Seal([]byte(good), device)
		refused(t, "a device", code, err)
		_, err = sealer.Withdraw([]string{"a"}, device)
		refused(t, "a device for a withdrawal", code, err)
		expect(t, "no push", push == nil, true)
	}
	for _, none := range []*pushcrypt.Sealer{nil, {}} {
		_, err := none.Seal([]byte(good), phone.Device(topic))
		refused(t, "no sealer", pushcrypt.UnusableKey, err)
		expect(t, "what it says", none.Topic()+none.Provider().String()+none.Certificate().String(), "")
	}
	_, err := sealer.Seal([]byte(good), phone.Device(topic), pushcrypt.WithAnswers(nil))
	refused(t, "no secret", pushcrypt.UnusableKey, err)
	var secret *pushcrypt.AnswerSecret
	var request *pushcrypt.CertificateRequest
	var key *pushcrypt.ProviderKey
	var credential *pushcrypt.Credential
	expect(t, "nothing of nil", secret.SecretBytes() == nil && key.PublicKey().IsZero() && credential.SecretText() == "", true)
	_, err = request.Certify(provider)
	refused(t, "no request", pushcrypt.UnusableKey, err)
	_, err = request.Install(pushcrypt.GenerateSigningKey(), nil)
	refused(t, "no request", pushcrypt.UnusableKey, err)
}

func TestWhereAPushGoes(t *testing.T) {
	sealer, device := must(pushcrypt.NewSealer(provider, topic)), phone.Device(topic)
	expect(t, "without a token", must(sealer.Seal([]byte(good), device)).URL(), "")
	device.Token, device.Grant = "00ff", "g"
	for environment, host := range map[string]string{"": "api.push.apple.com", "production": "api.push.apple.com", "development": "api.sandbox.push.apple.com"} {
		device.Environment = environment
		push := must(sealer.Seal([]byte(good), device))
		expect(t, "its place", push.URL(), "https://"+host+"/3/device/00ff")
		expect(t, "its grant", push.Grant, "g")
	}
	withdrawal := must(sealer.Withdraw([]string{"a", "b"}, device))
	opened := must(kit.Phone{Topic: topic, Key: phone, Provider: provider.PublicKey(), PushType: pushcrypt.Background}.Open(withdrawal.Payload, now))
	expect(t, "a withdrawal", string(opened.Payload), `{"aps":{},"pushcrypt":{"withdraw":["a","b"],"drop":true}}`)
	expect(t, "as a background push", withdrawal.Header().Get("apns-push-type")+withdrawal.Header().Get("apns-priority"), "background5")
}

// No verb prints a secret, at any depth.
func TestNothingPrintsASecret(t *testing.T) {
	key := [32]byte{1, 35, 69, 103}
	secret, signing := must(pushcrypt.NewProviderKey(key[:])), must(pushcrypt.NewSigningKey(key[:]))
	device, reference := must(kit.NewDeviceKey(key[:])), pushcrypt.Reference{Key: key, URL: "https://a", Size: 22}
	sealer, credential := must(pushcrypt.NewSealer(secret, "a")), &pushcrypt.Credential{Key: signing}
	record := pushcrypt.DeviceRecord{Token: "0123456701234567", Grant: "01234567"}
	stored := pushcrypt.StoredDevice{DeviceRecord: record}
	person := pushcrypt.Person{Name: "Anna", Avatar: &reference}
	receiver := kit.Phone{Key: device}
	accepted := pushcrypt.Accepted{Device: &stored}
	values := []any{
		secret, *secret, []pushcrypt.ProviderKey{*secret}, signing, *signing, device, *device, reference, &reference, []pushcrypt.Reference{reference},
		map[string]pushcrypt.Reference{"a": reference}, sealer, *sealer, credential, *credential, record, &record, stored, &stored, person,
		&person, receiver, kit.Opened{Payload: key[:]}, accepted, &accepted, pushcrypt.Push{Token: "0123456701234567", Grant: "01234567"}, &pushcrypt.Push{Token: "0123456701234567"},
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%X", "%q"} {
		for _, value := range values {
			text := strings.ToLower(strings.NewReplacer(" ", "", ",", "", "0x", "").Replace(fmt.Sprintf(verb, value)))
			for _, part := range []string{"13569103", "01234567", "12345671", "1234567", "secret-1"} {
				if strings.Contains(text, part) {
					t.Errorf("%T is printed by %s: %s", value, verb, text)
				}
			}
		}
	}
}

// What comes from elsewhere as JSON, with each member of another type or size.
func TestTypeConfusion(t *testing.T) {
	certificate := must(pushcrypt.IssueCertificate(provider, pushcrypt.GenerateSigningKey().PublicKey(), topic, pushcrypt.Plan{}))
	record := pushcrypt.DeviceRecord{
		PublicKey: phone.PublicKey(), Device: "phone1", Suites: []int{1}, Topic: topic, Generation: 1, Created: time.Now(), Provider: provider.PublicKey(),
		Certificate: certificate, AppVersion: "1", Token: "00ff", Environment: "production", Grant: "a",
		UpdateKey: pushcrypt.GenerateSigningKey().PublicKey(), Sequence: 1,
	}
	signing := pushcrypt.GenerateSigningKey()
	request := &pushcrypt.CertificateRequest{Topic: topic, Provider: provider.PublicKey(), SigningKey: signing.PublicKey(), Plan: pushcrypt.Plan{
		Current: certificate, Past: []pushcrypt.PastEpoch{{ReplacedAt: time.Now()}}, Stolen: true, Lifetime: time.Hour, Proven: certificate,
	}}
	for _, wrong := range []pushcrypt.Reply{
		{Acknowledged: phone.PublicKey(), Refused: pushcrypt.KeyTaken}, {Refused: "a b"}, {Refused: pushcrypt.Code(strings.Repeat("a", 65))},
		{Refused: pushcrypt.KeyTaken, Foreign: make([]string, 17)}, {Refused: pushcrypt.KeyTaken, PushKey: make([]byte, 32)},
		{Refused: pushcrypt.KeyTaken, NextPushKey: make([]byte, 31)},
	} {
		if data, err := json.Marshal(wrong); err == nil {
			t.Errorf("a reply is written: %s", data)
		}
	}
	reference := pushcrypt.Reference{URL: "https://a", Size: 21, Type: "public.png", Name: "a"}
	for _, own := range []struct {
		value any
		into  json.Unmarshaler
		code  pushcrypt.Code
		extra []string
	}{
		{record, &pushcrypt.DeviceRecord{}, pushcrypt.MalformedRecord, nil},
		{pushcrypt.StoredDevice{DeviceRecord: record, User: "alice", IsRemoved: true}, &pushcrypt.StoredDevice{}, pushcrypt.MalformedRecord, nil},
		{request, &pushcrypt.CertificateRequest{}, pushcrypt.MalformedRequest, nil},
		{reference, &pushcrypt.Reference{}, pushcrypt.MalformedReference, nil},
	} {
		data := must(json.Marshal(own.value))
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			t.Fatal(err)
		}
		if err := own.into.UnmarshalJSON(data); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		expect(t, "written again", string(must(json.Marshal(own.into))), string(data))
		for name, value := range members {
			for _, wrong := range []string{"1", `"a"`, "1500000000", "-1", "1e3", "1.0", "18446744073709551616", strings.Repeat("9", 1000), "true", "[]", "{}", "[null]", `["a",1]`, `[""]`, `"` + long[:1<<16] + `"`} {
				if wrong == string(value) {
					continue
				}
				changed := map[string]json.RawMessage{}
				for other, value := range members {
					changed[other] = value
				}
				changed[name] = json.RawMessage(wrong)
				text, _ := json.Marshal(changed)
				var refusal *pushcrypt.Error
				if err := own.into.UnmarshalJSON(text); err != nil && !errors.As(err, &refusal) {
					t.Errorf("%T: %s: %.40s: %v", own.into, name, wrong, err)
				}
			}
		}
		for _, wrong := range []string{"", "null", "1", "[]", `"a"`, "{", "{}", `{"public_key":1500000000}`, long, "\xff", `{"a":1,"a":2}`} {
			refused(t, fmt.Sprintf("%T: %.40q", own.into, wrong), own.code, own.into.UnmarshalJSON([]byte(wrong)))
		}
	}
	for name, parse := range map[string]func(string) error{
		"device": func(text string) error { _, err := pushcrypt.ParseDevicePublicKey(text); return err },
		"pin":    func(text string) error { _, err := pushcrypt.ParseProviderPublicKey(text); return err },
		"provider": func(text string) error {
			_, err := pushcrypt.ParseProviderKey(text)
			return err
		},
		"signing": func(text string) error { _, err := pushcrypt.ParseSigningKey(text); return err },
		"phone":   func(text string) error { _, err := kit.ParseDeviceKey(text); return err },
		"file":    func(text string) error { _, err := pushcrypt.ParseCredential(text); return err },
	} {
		for _, wrong := range []string{"", "1", "1500000000", half, long, "pcr1" + long, "PCS-SECRET-1", "secret-word"} {
			var own *pushcrypt.Error
			if err := parse(wrong); !errors.As(err, &own) || strings.Contains(err.Error(), "secret-word") || len(err.Error()) > 300 {
				t.Errorf("%s: %.40q: %v", name, wrong, err)
			}
		}
	}
	for _, wrong := range []string{"", long, "AWk7", certificate.String() + "\n", certificate.String()[:161] + "B"} {
		if _, err := pushcrypt.ParseCertificate(wrong); err == nil {
			t.Errorf("a certificate: %.20q", wrong)
		}
	}
}

// changing is a file that is another one when it is read again.
type changing struct {
	*bytes.Reader
	second string
}

func (own *changing) Seek(offset int64, whence int) (int64, error) {
	if offset < 0 {
		own.Reader = bytes.NewReader([]byte(own.second))
		return 0, nil
	}
	return own.Reader.Seek(offset, whence)
}

// opened is a file by to, as a phone reads it.
func opened(reference pushcrypt.Reference, sealed []byte) (plain []byte) {
	if uint64(len(sealed)) != reference.Size || sha256.Sum256(sealed) != reference.SHA256 || !bytes.HasPrefix(sealed, fromHex("5043413210")) {
		panic("another file")
	}
	aead, rest := must(chacha20poly1305.New(reference.Key[:])), sealed[5:]
	for number := byte(0); len(rest) > 0; number++ {
		chunk, nonce := rest, make([]byte, 12)
		if len(chunk) > 65_552 {
			chunk = chunk[:65_552]
		} else {
			nonce[11] = 1
		}
		rest, nonce[10] = rest[len(chunk):], number
		plain = append(plain, must(aead.Open(nil, nonce, chunk, sealed[:5]))...)
	}
	return plain
}

func TestFilesAndEverythingElseInAMessage(t *testing.T) {
	plain := bytes.Repeat([]byte("0123456789"), 20_000)
	var sealed bytes.Buffer
	reference := must(pushcrypt.SealFile(&sealed, bytes.NewReader(plain), provider))
	reference.URL, reference.Type, reference.Name = "https://a", "public.jpeg", "a"
	expect(t, "a file", bytes.Equal(opened(reference, sealed.Bytes()), plain), true)
	expect(t, "a file's key, new each time", must(pushcrypt.SealFile(io.Discard, bytes.NewReader(plain), provider)).Key == reference.Key, false)
	for _, second := range []string{"abd", "ab", "abcd", ""} {
		_, err := pushcrypt.SealFile(io.Discard, &changing{bytes.NewReader([]byte("abc")), second}, provider)
		refused(t, "a file that changes", pushcrypt.ChangedFile, err)
	}
	_, err := pushcrypt.SealFile(io.Discard, &changing{bytes.NewReader(plain), string(plain[1:])}, provider)
	refused(t, "a longer file that changes", pushcrypt.ChangedFile, err)
	for _, size := range []int{0, 1, 65_536, 65_537, 131_072} {
		var sealed bytes.Buffer
		own := must(pushcrypt.SealFile(&sealed, bytes.NewReader(make([]byte, size)), provider))
		expect(t, "a file of a size", len(opened(own, sealed.Bytes())), size)
	}
	var again pushcrypt.Reference
	expect(t, "a reference as JSON", json.Unmarshal(must(json.Marshal(reference)), &again) == nil && again == reference, true)
	_, err = pushcrypt.ParseReference([]byte(strings.Replace(string(must(json.Marshal(reference))), `"key":"`, `"key":"\n`, 1)))
	refused(t, "a key with a line end", pushcrypt.MalformedReference, err)
	data, body, err := pushcrypt.SealFullBody("Long…", provider)
	must(0, err)
	body.URL = "https://b"
	expect(t, "a full body", string(opened(body, data)), "Long…")
	for text, code := range map[string]pushcrypt.Code{strings.Repeat("a", 65_537): pushcrypt.BodyTooLong, "": pushcrypt.MalformedFile, half: pushcrypt.MalformedFile, "\ufeffa": pushcrypt.MalformedFile} {
		_, _, err := pushcrypt.SealFullBody(text, provider)
		refused(t, "a full body", code, err)
	}
	person := pushcrypt.Person{Name: "Anna", Handle: "u17", Conversation: "c", Recipients: []string{"Ben"}, Avatar: &reference}
	push := must(must(pushcrypt.NewSealer(provider, "a")).Seal(
		[]byte(`{"aps":{"alert":"a"}}`), phone.Device("a"), pushcrypt.WithTime(now), pushcrypt.WithAttachments(reference, reference),
		pushcrypt.WithFullBody(body), pushcrypt.WithPerson(person), pushcrypt.WithWithdraws("x", "y"), pushcrypt.WithDrop()))
	message := must(opener().Open(push.Payload, now))
	text := func(value any) string { return string(must(json.Marshal(value))) }
	expect(t, "its payload", string(message.Payload), `{"aps":{"alert":"a"},"pushcrypt":{"body":`+text(body)+`,"attachments":[`+text(reference)+","+text(reference)+
		`],"sender":{"name":"Anna","handle":"u17","conversation":"c","recipients":["Ben"],"avatar":`+text(reference)+`},"withdraw":["x","y"],"drop":true}}`)
	expect(t, "times", message.SentAt.Equal(now) && message.ExpiresAt.Equal(push.ExpiresAt), true)
}
