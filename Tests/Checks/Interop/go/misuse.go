package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/big"
	"os"
	"reflect"
	"strings"
	"testing/iotest"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/jsontext"
)

// Misuse by a caller that no file of the kit can express: each call must be refused, or do no harm.

const half = "\xed\xa0\x80" // half of a surrogate pair, which is not UTF-8

// stranger signs with another key than it names, after so many signatures.
type stranger struct {
	*pushcrypt.ProviderKey
	other *pushcrypt.ProviderKey
	right int
}

func (own *stranger) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if own.right--; own.right >= 0 {
		return own.ProviderKey.Sign(random, message, opts)
	}
	return own.other.Sign(random, message, opts)
}

var errAway = errors.New("the service is away")

type away struct{ stranger }

func (own *away) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if own.right--; own.right >= 0 {
		return own.ProviderKey.Sign(random, message, opts)
	}
	return nil, errAway
}

func misuse(device pushcrypt.DevicePublicKey, provider *pushcrypt.ProviderKey) (wrong []string) {
	expect := func(name string, good bool) {
		if !good {
			wrong = append(wrong, name)
		}
	}
	// refused tells whether an error has the code, and quotes nothing of what was given.
	refused := func(code pushcrypt.Code, err error) bool {
		return errors.Is(err, code) && !strings.Contains(err.Error(), "secret-word")
	}
	sealer := must(pushcrypt.NewSealer(provider, "a", pushcrypt.Placeholder{}))
	seals := func(code pushcrypt.Code, payload string, options ...pushcrypt.Option) bool {
		_, err := sealer.Seal([]byte(payload), device, options...)
		return refused(code, err)
	}
	const good = `{"aps":{"alert":"a","sound":"b"}}`
	placeholder := func(placeholder pushcrypt.Placeholder) bool {
		_, err := pushcrypt.NewSealer(provider, "a", placeholder)
		return refused(pushcrypt.InvalidPlaceholder, err)
	}
	expect("a title with half of a pair", placeholder(pushcrypt.Placeholder{Title: half}))
	expect("a sound with half of a pair", placeholder(pushcrypt.Placeholder{Sound: pushcrypt.SoundNamed(half)}))
	expect("a sound without a name", placeholder(pushcrypt.Placeholder{Sound: pushcrypt.SoundNamed("")}))
	expect("a title of spaces", placeholder(pushcrypt.Placeholder{Title: " \t"}))
	expect("a title of 4,097 bytes", placeholder(pushcrypt.Placeholder{Title: strings.Repeat("a", 4097)}))
	expect("a field that stays sealed", placeholder(pushcrypt.Placeholder{Clear: []pushcrypt.ClearField{"alert"}}))
	expect("a time to live with a fraction", seals(pushcrypt.InvalidTime, good, pushcrypt.WithTimeToLive(1500*time.Millisecond)))
	expect("a time before 1970", seals(pushcrypt.InvalidTime, good, pushcrypt.WithTime(time.UnixMilli(-1))))
	expect("an empty name", seals(pushcrypt.InvalidRequest, good, pushcrypt.WithName("")))
	expect("a name with half of a pair", seals(pushcrypt.InvalidRequest, good, pushcrypt.WithName(half)))
	expect("65 withdrawals", seals(pushcrypt.InvalidRequest, good, pushcrypt.Withdrawing(strings.Split(strings.Repeat("a,", 64)+"a", ",")...)))
	expect("an empty withdrawal", seals(pushcrypt.InvalidRequest, good, pushcrypt.Withdrawing("")))
	expect("a withdrawal of itself", seals(pushcrypt.InvalidRequest, good, pushcrypt.Withdrawing("a"), pushcrypt.WithName("a")))
	expect("a withdrawal with half of a pair", seals(pushcrypt.InvalidRequest, good, pushcrypt.Withdrawing(half)))
	person := func(code pushcrypt.Code, person pushcrypt.Person) bool {
		return seals(code, good, pushcrypt.WithPerson(person))
	}
	expect("a person of two lines", person(pushcrypt.InvalidRequest, pushcrypt.Person{Name: "a\nb"}))
	expect("nine recipients", person(pushcrypt.InvalidRequest, pushcrypt.Person{Name: "a", Recipients: strings.Split("a,b,c,d,e,f,g,h,i", ",")}))
	picture := pushcrypt.Reference{URL: "https://a", Size: 1_000_001, Type: "public.png", Name: "a"}
	expect("an avatar that is too large", person(pushcrypt.MalformedReference, pushcrypt.Person{Name: "a", Avatar: &picture}))
	expect("a full body that is a picture", seals(pushcrypt.MalformedReference, good, pushcrypt.WithFullBody(picture)))
	expect("a reference without an address", seals(pushcrypt.MalformedReference, good, pushcrypt.WithAttachments(pushcrypt.Reference{})))
	_, err := sealer.Seal([]byte(good), pushcrypt.DevicePublicKey{})
	expect("no device key", refused(pushcrypt.UnusableKey, err))
	_, err = pushcrypt.NewSealer(nil, "a", pushcrypt.Placeholder{})
	expect("no signing key", refused(pushcrypt.InvalidRequest, err))
	var logged bytes.Buffer
	log.SetOutput(&logged)
	_, err = pushcrypt.NewSealer(provider, "com.example.app.voip", pushcrypt.Placeholder{})
	log.SetOutput(os.Stderr)
	expect("a topic with a suffix", err == nil && strings.Contains(logged.String(), "without .voip"))
	expect("a string that looks like the number 1", seals(pushcrypt.InvalidField, `{"aps":{"alert":"a","content-available":"1"}}`))
	expect("a badge that is a string", seals(pushcrypt.InvalidField, `{"aps":{"alert":"a","badge":"1"}}`))
	expect("a volume beyond any double", seals(pushcrypt.InvalidField, `{"aps":{"alert":"a","sound":{"volume":1e400}}}`))
	expect("an alert without a text", seals(pushcrypt.NothingToShow, `{"aps":{"alert":{"title":""},"badge":1}}`))
	expect("no aps", seals(pushcrypt.MissingAPS, `{"alert":"secret-word"}`))
	expect("a payload that is not JSON", seals(pushcrypt.MalformedPayload, "secret-word"))
	expect("no payload", seals(pushcrypt.MalformedPayload, ""))
	background := must(sealer.Seal([]byte(`{"aps":{}}`), device, pushcrypt.WithPushType(pushcrypt.Background)))
	_, err = sealer.Request(background, pushcrypt.WithPriority(10))
	expect("a background push with priority 10", refused(pushcrypt.InvalidRequest, err))
	push := must(sealer.Seal([]byte(good), device))
	_, err = sealer.Request(push, pushcrypt.WithCollapseName(""))
	expect("an empty collapse name", refused(pushcrypt.InvalidRequest, err))
	_, err = sealer.Request(push, pushcrypt.ForDevice(strings.Repeat("a", 256)))
	expect("a device name of 256 bytes", refused(pushcrypt.InvalidRequest, err))
	_, err = sealer.Request(push, pushcrypt.WithExpiration(time.Unix(1_767_225_600_000, 0)))
	expect("an expiration in milliseconds", refused(pushcrypt.InvalidRequest, err))
	expect("one attempt", must(sealer.Request(push, pushcrypt.Once())).Header().Get("apns-expiration") == "0")

	other := must(pushcrypt.GenerateProviderKey())
	_, err = pushcrypt.NewSealer(&stranger{provider, other, 0}, "a", pushcrypt.Placeholder{})
	expect("another key's signature at the start", refused(pushcrypt.WrongSignature, err))
	_, err = must(pushcrypt.NewSealer(&stranger{provider, other, 1}, "a", pushcrypt.Placeholder{})).Seal([]byte(good), device)
	expect("another key's signature later", refused(pushcrypt.WrongSignature, err))
	_, err = must(pushcrypt.NewSealer(&away{stranger{provider, other, 1}}, "a", pushcrypt.Placeholder{})).Seal([]byte(good), device)
	expect("a service that is away", refused(pushcrypt.SigningFailed, err) && errors.Is(err, errAway))
	_, err = pushcrypt.NewSealer(must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), "a", pushcrypt.Placeholder{})
	expect("a key of another algorithm", refused(pushcrypt.WrongSignature, err))
	values(expect, provider, device)
	trusts_(expect, refused, provider)
	uses(expect, refused, provider)

	opener := pushcrypt.NewFileOpener(fileReference(strings.Repeat("00", 32), "22", strings.Repeat("00", 32)))
	_, err = opener.Update(make([]byte, 22))
	expect("a file that is none", refused(pushcrypt.NotASealedFile, err))
	_, err = opener.Update(nil)
	expect("a file after it was refused", refused(pushcrypt.MalformedFile, err))
	_, err = opener.Finish()
	expect("the end of a file after it was refused", refused(pushcrypt.MalformedFile, err))
	key := [32]byte{1, 35, 69, 103}
	file := pushcrypt.SealedFile{Key: key}
	secret, phone := must(pushcrypt.NewProviderKey(key[:])), must(pushcrypt.NewDeviceKey(key[:]))
	printed := ""
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		sealer := must(pushcrypt.NewSealer(secret, "a", pushcrypt.Placeholder{}))
		for _, value := range []any{pushcrypt.Reference{Key: key}, file, secret, phone, sealer, *secret, *phone, *sealer, []pushcrypt.ProviderKey{*secret}} {
			printed += fmt.Sprintf(verb, value)
		}
	}
	hidden := !strings.Contains(printed, "1, 35, 69") && !strings.Contains(printed, "1 35 69") && !strings.Contains(printed, "012345")
	expect("a key that is printed", hidden && !strings.Contains(strings.ToUpper(printed), "SECRET-1") && !strings.Contains(printed, "0x1, 0x23"))
	expect("the fingerprint of half of a pair", len(pushcrypt.Fingerprint(half)) == 8)
	start := time.Now()
	_, err = jsontext.ParseObject(append([]byte(`{"`), bytes.Repeat([]byte(`\"`), 1_000_000)...))
	expect("an unterminated string", err != nil && time.Since(start) < time.Second)
	return wrong
}

// values are payloads as values: what encoding/json would change is refused, and all else comes back.
func values(expect func(string, bool), provider *pushcrypt.ProviderKey, device pushcrypt.DevicePublicKey) {
	phone, sealer := must(pushcrypt.GenerateDeviceKey()), must(pushcrypt.NewSealer(provider, "a", pushcrypt.Placeholder{}))
	receiver := pushcrypt.Receiver{
		Topic: "a", Keys: []pushcrypt.HeldKey{{Key: phone}}, Trust: must(pushcrypt.NewTrust([]pushcrypt.ProviderPublicKey{provider.PublicKey()}, nil)),
	}
	sealed := func(own any) string {
		push := must(sealer.SealValue(map[string]any{"aps": map[string]any{"alert": "a"}, "own": own}, phone.PublicKey()))
		payload := must(receiver.Open(push.Payload, time.Time{})).Payload
		return strings.TrimSuffix(strings.TrimPrefix(string(payload), `{"aps":{"alert":"a"},"own":`), "}")
	}
	isRefused := func(own any) bool {
		_, err := sealer.SealValue(map[string]any{"aps": map[string]any{"alert": "a"}, "own": own}, device)
		return errors.Is(err, pushcrypt.MalformedPayload) && !strings.Contains(err.Error(), "secret-word")
	}
	expect("a big integer", sealed(new(big.Int).Lsh(big.NewInt(1), 70)) == "1180591620717411303424" && sealed(uint64(math.MaxUint64)) == "18446744073709551615")
	expect("a float", sealed(0.1) == "0.1")
	expect("signs of HTML", sealed("<&>") == `"<&>"`)
	expect("U+FFFD", sealed("\ufffd") == "\"\ufffd\"" && sealed(`\ufffd`) == `"\\ufffd"`)
	expect("bytes of JSON", sealed(json.RawMessage(`[1.50,1E400]`)) == "[1.50,1E400]")
	expect("not a number", isRefused(math.NaN()) && isRefused(math.Inf(1)))
	expect("half of a pair", isRefused("secret-word"+half) && isRefused(map[string]int{half: 1}))
	expect("equal names", isRefused(json.RawMessage(`{"a":1,"\u0061":2}`)))
	expect("what JSON cannot express", isRefused(func() {}) && isRefused(make(chan int)))
	_, err := sealer.SealValue(nil, device)
	expect("nil", errors.Is(err, pushcrypt.MalformedPayload))
	_, err = sealer.SealValue([]int{1}, device)
	expect("an array", errors.Is(err, pushcrypt.MalformedPayload))
	spaced := []byte(` {"aps" : {"alert":"a"}, "own": [1.50, 1E400, "\u00e9\/"]} `)
	push := must(sealer.Seal(spaced, phone.PublicKey(), pushcrypt.WithName("a")))
	expect("bytes that stay", string(must(receiver.Open(push.Payload, time.Time{})).Payload) == `{"aps":{"alert":"a"},"own":[1.50,1E400,"\u00e9\/"]}`)
	again := must(sealer.Seal(spaced, phone.PublicKey(), pushcrypt.WithName("a")))
	expect("a retry", again.MessageID == push.MessageID && again.Envelope != push.Envelope)
}

func trusts_(expect func(string, bool), refused func(pushcrypt.Code, error) bool, provider *pushcrypt.ProviderKey) {
	pin, zero, now := provider.PublicKey(), make([]byte, 32), time.UnixMilli(1_767_225_600_000)
	_, err := pushcrypt.NewProviderPublicKey(zero)
	expect("a pin of zeros", refused(pushcrypt.WeakKey, err))
	_, err = pushcrypt.NewDeviceKey(zero[:31])
	expect("a key of 31 bytes", refused(pushcrypt.MalformedKey, err))
	pins := func(keys ...pushcrypt.ProviderPublicKey) error {
		_, err := pushcrypt.NewTrust(keys, nil)
		return err
	}
	other, third := must(pushcrypt.GenerateProviderKey()).PublicKey(), must(pushcrypt.GenerateProviderKey()).PublicKey()
	expect("three pins", refused(pushcrypt.TooManyPins, pins(pin, other, third)) && refused(pushcrypt.TooManyPins, pins(pin, pin)))
	expect("a pin that is no key", refused(pushcrypt.MalformedKey, pins(pushcrypt.ProviderPublicKey{})))
	key := must(pushcrypt.GenerateSigningKey())
	public := key.Public().(ed25519.PublicKey)
	first := must(pushcrypt.IssueCertificate(provider, public, "a", pushcrypt.Plan{At: now}))
	second := must(pushcrypt.IssueCertificate(provider, public, "a", pushcrypt.Plan{At: now, Current: first, IsStolen: true}))
	_, err = pushcrypt.IssueCertificate(provider, public, "a", pushcrypt.Plan{At: now.Add(-24*time.Hour - time.Second), Current: second})
	expect("an epoch of the day after tomorrow", refused(pushcrypt.ImplausibleEpoch, err))
	_, err = pushcrypt.IssueCertificate(provider, provider.Public().(ed25519.PublicKey), "a", pushcrypt.Plan{})
	expect("the provider key as signing key", refused(pushcrypt.WeakKey, err))
	trust := must(pushcrypt.NewTrust([]pushcrypt.ProviderPublicKey{pin}, nil))
	_, err = must(pushcrypt.NewTrust(nil, nil)).Accept(first, "a")
	expect("a certificate for nobody", refused(pushcrypt.BadCertificateSignature, err))
	expect("a certificate", must(trust.Accept(first, "a")) == pushcrypt.Raised && must(trust.Accept(first, "a")) == pushcrypt.Unchanged)
	stored := trust.Learned(pin)
	must(trust.Accept(second, "a"))
	trust.Learn(pin, stored)
	expect("an older state that is merged", trust.Learned(pin) == pushcrypt.Learned{Certificate: second, Floor: second.Epoch()})
	credential := &pushcrypt.Credential{Key: key, Certificate: first, Provider: pin}
	seals := func(credential *pushcrypt.Credential, topic string) error {
		_, err := pushcrypt.NewSealer(credential, topic, pushcrypt.Placeholder{})
		return err
	}
	expect("a credential", seals(credential, "a") == nil && must(pushcrypt.ParseCredential(credential.SecretText())).SecretText() == credential.SecretText())
	expect("the certificate of another app", refused(pushcrypt.BadCertificateSignature, seals(credential, "b")))
	wrong := &pushcrypt.Credential{Key: must(pushcrypt.GenerateSigningKey()), Certificate: first, Provider: pin}
	expect("the certificate of another key", refused(pushcrypt.WrongCertificate, seals(wrong, "a")))
	expect("a credential without a certificate", refused(pushcrypt.WrongCertificate, seals(&pushcrypt.Credential{Key: key, Provider: pin}, "a")))
	expect("a credential that is nil", refused(pushcrypt.InvalidRequest, seals(nil, "a")))
	_, err = pushcrypt.NewSealer(key, "a", pushcrypt.Placeholder{})
	expect("a signing key without its certificate", refused(pushcrypt.WrongCertificate, err))
	_, err = pushcrypt.ParseCredential(strings.Join(strings.Split(credential.SecretText(), "\n")[:2], "\n"))
	expect("a signing key file of two lines", refused(pushcrypt.MalformedKey, err))
	record := pushcrypt.DeviceRecord{Certificate: first}
	expect("a certificate that was never issued", record.ShowsStaleStore(pin, "a", []pushcrypt.Certificate{second}))
	expect("one that was", !record.ShowsStaleStore(pin, "a", []pushcrypt.Certificate{first, second}))
	expect("no certificate", !(&pushcrypt.DeviceRecord{}).ShowsStaleStore(pin, "a", nil))
}

// changing is a file that is another one when it is read again.
type changing struct{ *bytes.Reader }

func (own *changing) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		own.Reader = bytes.NewReader([]byte("abd"))
	}
	return own.Reader.Seek(offset, whence)
}

// uses are what no vector has: a message with everything, and files.
func uses(expect func(string, bool), refused func(pushcrypt.Code, error) bool, provider *pushcrypt.ProviderKey) {
	phone := must(pushcrypt.GenerateDeviceKey())
	plain, now := bytes.Repeat([]byte("0123456789"), 20_000), time.UnixMilli(1_767_225_600_000)
	var sealed, opened bytes.Buffer
	file := must(pushcrypt.SealFile(&sealed, bytes.NewReader(plain), provider))
	reference := must(file.Reference("https://a", "public.jpeg", "a"))
	expect("a file", pushcrypt.OpenFile(&opened, iotest.OneByteReader(&sealed), reference) == nil && bytes.Equal(opened.Bytes(), plain))
	_, err := pushcrypt.SealFile(io.Discard, &changing{bytes.NewReader([]byte("abc"))}, provider)
	expect("a file that changes", refused(pushcrypt.ChangedFile, err))
	_, err = file.Reference("http://a", "public.jpeg", "a")
	expect("a reference without encryption", refused(pushcrypt.MalformedReference, err))
	var again pushcrypt.Reference
	expect("a reference as JSON", json.Unmarshal(must(json.Marshal(reference)), &again) == nil && again == reference)
	broken := strings.Replace(string(must(json.Marshal(reference))), `"key":"`, `"key":"\n`, 1)
	_, err = pushcrypt.ParseReference([]byte(broken))
	expect("a key with a line end", refused(pushcrypt.MalformedReference, err))
	data, long, err := pushcrypt.SealFullBody("Long…", provider)
	body := must(long.Reference("https://b", "public.plain-text", "body"))
	var text bytes.Buffer
	expect("a full body", err == nil && pushcrypt.OpenFile(&text, bytes.NewReader(data), body) == nil && text.String() == "Long…")
	for text, code := range map[string]pushcrypt.Code{strings.Repeat("a", 65_537): pushcrypt.BodyTooLong, "": pushcrypt.MalformedFile, half: pushcrypt.MalformedFile} {
		_, _, err := pushcrypt.SealFullBody(text, provider)
		expect(fmt.Sprint("a full body of ", len(text), " bytes"), refused(code, err))
	}

	trust := must(pushcrypt.NewTrust([]pushcrypt.ProviderPublicKey{provider.PublicKey()}, nil))
	receiver := pushcrypt.Receiver{Topic: "a", Keys: []pushcrypt.HeldKey{{Key: phone}}, Trust: trust}
	person := pushcrypt.Person{Name: "Anna", Handle: "u17", Conversation: "c", Recipients: []string{"Ben"}, Avatar: &reference}
	push := must(must(pushcrypt.NewSealer(provider, "a", pushcrypt.Placeholder{})).Seal(
		[]byte(`{"aps":{"alert":"a"}}`), phone.PublicKey(), pushcrypt.WithTime(now), pushcrypt.WithAttachments(reference, reference),
		pushcrypt.WithFullBody(body), pushcrypt.WithPerson(person), pushcrypt.Withdrawing("x", "y"), pushcrypt.Dropped()))
	message := must(receiver.Open(push.Payload, now))
	references, dropped := message.Attachments()
	expect("attachments", reflect.DeepEqual(references, []pushcrypt.Reference{reference, reference}) && dropped == nil && *must(message.FullBody()) == body)
	found, _ := message.Person()
	expect("a person", reflect.DeepEqual(*found, person))
	ids := []pushcrypt.MessageID{pushcrypt.NamedMessageID("x"), pushcrypt.NamedMessageID("y")}
	expect("withdrawals", reflect.DeepEqual(message.Withdraws(), ids) && message.IsDropped())
	expect("times", message.SentAt.Equal(now) && message.ExpiresAt().Equal(push.ExpiresAt))
}
