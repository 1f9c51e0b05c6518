package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
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
	*pushcrypt.SenderKey
	other *pushcrypt.SenderKey
	right int
}

func (own *stranger) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if own.right--; own.right >= 0 {
		return own.SenderKey.Sign(random, message, opts)
	}
	return own.other.Sign(random, message, opts)
}

var errAway = errors.New("the service is away")

type away struct{ stranger }

func (own *away) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if own.right--; own.right >= 0 {
		return own.SenderKey.Sign(random, message, opts)
	}
	return nil, errAway
}

func misuse(device pushcrypt.DevicePublicKey, sender *pushcrypt.SenderKey) (wrong []string) {
	expect := func(name string, good bool) {
		if !good {
			wrong = append(wrong, name)
		}
	}
	// refused tells whether an error has the code, and quotes nothing of what was given.
	refused := func(code pushcrypt.Code, err error) bool {
		return errors.Is(err, code) && !strings.Contains(err.Error(), "secret-word")
	}
	sealer := must(pushcrypt.NewSealer(sender, "a", pushcrypt.Placeholder{}))
	seals := func(code pushcrypt.Code, payload string, options ...pushcrypt.Option) bool {
		_, err := sealer.Seal([]byte(payload), device, options...)
		return refused(code, err)
	}
	const good = `{"aps":{"alert":"a","sound":"b"}}`
	placeholder := func(placeholder pushcrypt.Placeholder) bool {
		_, err := pushcrypt.NewSealer(sender, "a", placeholder)
		return refused(pushcrypt.InvalidPlaceholder, err)
	}
	expect("a title with half of a pair", placeholder(pushcrypt.Placeholder{Title: half}))
	expect("a sound with half of a pair", placeholder(pushcrypt.Placeholder{Sound: pushcrypt.SoundNamed(half)}))
	expect("a sound without a name", placeholder(pushcrypt.Placeholder{Sound: pushcrypt.SoundNamed("")}))
	expect("a title of spaces", placeholder(pushcrypt.Placeholder{Title: " \t"}))
	expect("a title of 4,097 bytes", placeholder(pushcrypt.Placeholder{Title: strings.Repeat("a", 4097)}))
	expect("a field that stays sealed", placeholder(pushcrypt.Placeholder{Clear: []pushcrypt.ClearField{"alert"}}))
	expect("a statement of 180 bytes", seals(pushcrypt.InvalidRequest, good, pushcrypt.Announcing(make([]byte, 180))))
	expect("five statements", seals(pushcrypt.InvalidRequest, good, pushcrypt.Announcing(bytes.SplitAfter(bytes.Repeat(append(make([]byte, 180), ','), 5), []byte(","))[:5]...)))
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
	_, err = pushcrypt.NewSealer(sender, "com.example.app.voip", pushcrypt.Placeholder{})
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

	other := must(pushcrypt.GenerateSenderKey())
	_, err = pushcrypt.NewSealer(&stranger{sender, other, 0}, "a", pushcrypt.Placeholder{})
	expect("another key's signature at the start", refused(pushcrypt.WrongSignature, err))
	_, err = must(pushcrypt.NewSealer(&stranger{sender, other, 1}, "a", pushcrypt.Placeholder{})).Seal([]byte(good), device)
	expect("another key's signature later", refused(pushcrypt.WrongSignature, err))
	_, err = must(pushcrypt.NewSealer(&away{stranger{sender, other, 1}}, "a", pushcrypt.Placeholder{})).Seal([]byte(good), device)
	expect("a service that is away", refused(pushcrypt.SigningFailed, err) && errors.Is(err, errAway))
	_, err = pushcrypt.NewSealer(must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), "a", pushcrypt.Placeholder{})
	expect("a key of another algorithm", refused(pushcrypt.WrongSignature, err))
	values(expect, sender, device)
	trusts_(expect, refused, sender)
	uses(expect, refused, sender)

	opener := pushcrypt.NewFileOpener(fileReference(strings.Repeat("00", 32), "46", strings.Repeat("00", 32)))
	_, err = opener.Update(make([]byte, 46))
	expect("a file that is none", refused(pushcrypt.NotASealedFile, err))
	_, err = opener.Update(nil)
	expect("a file after it was refused", refused(pushcrypt.MalformedFile, err))
	_, err = opener.Finish()
	expect("the end of a file after it was refused", refused(pushcrypt.MalformedFile, err))
	key := [32]byte{1, 35, 69, 103}
	file := pushcrypt.SealedFile{Key: key}
	secret, phone := must(pushcrypt.NewSenderKey(key[:])), must(pushcrypt.NewDeviceKey(key[:]))
	printed := ""
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		sealer := must(pushcrypt.NewSealer(secret, "a", pushcrypt.Placeholder{}))
		for _, value := range []any{pushcrypt.Reference{Key: key}, file, secret, phone, sealer, *secret, *phone, *sealer, []pushcrypt.SenderKey{*secret}} {
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
func values(expect func(string, bool), sender *pushcrypt.SenderKey, device pushcrypt.DevicePublicKey) {
	phone, sealer := must(pushcrypt.GenerateDeviceKey()), must(pushcrypt.NewSealer(sender, "a", pushcrypt.Placeholder{}))
	receiver := pushcrypt.Receiver{
		Topic: "a", Keys: []pushcrypt.HeldKey{{Key: phone}}, Trust: must(pushcrypt.NewTrust(pushcrypt.Sender{Name: "a", Pinned: sender.PublicKey()})),
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

func trusts_(expect func(string, bool), refused func(pushcrypt.Code, error) bool, sender *pushcrypt.SenderKey) {
	public, zero := sender.PublicKey(), make([]byte, 32)
	_, err := pushcrypt.NewSenderPublicKey(zero)
	expect("a pin of zeros", refused(pushcrypt.WeakKey, err))
	_, err = pushcrypt.NewRecoveryPublicKey(zero)
	expect("a recovery key of zeros", refused(pushcrypt.WeakKey, err))
	_, err = pushcrypt.NewDeviceKey(zero[:31])
	expect("a key of 31 bytes", refused(pushcrypt.MalformedKey, err))
	trust := func(code pushcrypt.Code, senders ...pushcrypt.Sender) bool {
		_, err := pushcrypt.NewTrust(senders...)
		return refused(code, err)
	}
	old := []pushcrypt.Superseded{{Key: public}}
	expect("a key that is pinned and superseded", trust(pushcrypt.SenderSuperseded, pushcrypt.Sender{Pinned: public, Superseded: old}))
	recovery := []pushcrypt.RecoveryPublicKey{must(pushcrypt.NewRecoveryPublicKey(public.Bytes()))}
	expect("a key with two uses", trust(pushcrypt.SenderSuperseded, pushcrypt.Sender{Pinned: public}, pushcrypt.Sender{Recovery: recovery}))
	expect("a last recovery of 52 bytes", trust(pushcrypt.CorruptStore, pushcrypt.Sender{Pinned: public, LastRecovery: make([]byte, 52)}))
	short := []pushcrypt.Superseded{{Key: public, Statement: make([]byte, 180)}}
	expect("a statement of 180 bytes that is kept", trust(pushcrypt.CorruptStore, pushcrypt.Sender{Superseded: short}))
	expect("no superseded key", trust(pushcrypt.CorruptStore, pushcrypt.Sender{Superseded: []pushcrypt.Superseded{{}}}))
	statement := append([]byte{1}, make([]byte, 180)...)
	same := must(pushcrypt.NewTrust(pushcrypt.Sender{Superseded: []pushcrypt.Superseded{{Key: public, Statement: statement}}}))
	after, conflict, err := same.Evaluate(statement, "a", time.UnixMilli(0))
	expect("the same statement of a sender without a pin", after == same && conflict == "" && err == nil)
}

// changing is a file that is another one when it is read again.
type changing struct{ *bytes.Reader }

func (own *changing) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		own.Reader = bytes.NewReader([]byte("abd"))
	}
	return own.Reader.Seek(offset, whence)
}

// uses are what no vector has: a message with everything, files, and keys after a rotation.
func uses(expect func(string, bool), refused func(pushcrypt.Code, error) bool, sender *pushcrypt.SenderKey) {
	phone, next := must(pushcrypt.GenerateDeviceKey()), must(pushcrypt.GenerateSenderKey())
	plain, now := bytes.Repeat([]byte("0123456789"), 20_000), time.UnixMilli(1_767_225_600_000)
	var sealed, opened bytes.Buffer
	file := must(pushcrypt.SealFile(&sealed, bytes.NewReader(plain), sender))
	reference := must(file.Reference("https://a", "public.jpeg", "a"))
	expect("a file", pushcrypt.OpenFile(&opened, iotest.OneByteReader(&sealed), reference) == nil && bytes.Equal(opened.Bytes(), plain))
	_, err := pushcrypt.SealFile(io.Discard, &changing{bytes.NewReader([]byte("abc"))}, sender)
	expect("a file that changes", refused(pushcrypt.ChangedFile, err))
	_, err = file.Reference("http://a", "public.jpeg", "a")
	expect("a reference without encryption", refused(pushcrypt.MalformedReference, err))
	var again pushcrypt.Reference
	expect("a reference as JSON", json.Unmarshal(must(json.Marshal(reference)), &again) == nil && again == reference)
	broken := strings.Replace(string(must(json.Marshal(reference))), `"key":"`, `"key":"\n`, 1)
	_, err = pushcrypt.ParseReference([]byte(broken))
	expect("a key with a line end", refused(pushcrypt.MalformedReference, err))
	data, long, err := pushcrypt.SealFullBody("Long…", sender)
	body := must(long.Reference("https://b", "public.plain-text", "body"))
	var text bytes.Buffer
	expect("a full body", err == nil && pushcrypt.OpenFile(&text, bytes.NewReader(data), body) == nil && text.String() == "Long…")
	for text, code := range map[string]pushcrypt.Code{strings.Repeat("a", 65_537): pushcrypt.BodyTooLong, "": pushcrypt.MalformedFile, half: pushcrypt.MalformedFile} {
		_, _, err := pushcrypt.SealFullBody(text, sender)
		expect(fmt.Sprint("a full body of ", len(text), " bytes"), refused(code, err))
	}

	statement := must(pushcrypt.RotationStatement(sender, next, pushcrypt.Rotation{At: now, Overlap: time.Minute}))
	trust := must(pushcrypt.NewTrust(pushcrypt.Sender{Name: "a", Pinned: sender.PublicKey()}))
	receiver := pushcrypt.Receiver{Topic: "a", Keys: []pushcrypt.HeldKey{{Key: phone}}, Trust: trust}
	person := pushcrypt.Person{Name: "Anna", Handle: "u17", Conversation: "c", Recipients: []string{"Ben"}, Avatar: &reference}
	push := must(must(pushcrypt.NewSealer(next, "a", pushcrypt.Placeholder{})).Seal(
		[]byte(`{"aps":{"alert":"a"}}`), phone.PublicKey(), pushcrypt.WithTime(now), pushcrypt.WithAttachments(reference, reference),
		pushcrypt.WithFullBody(body), pushcrypt.WithPerson(person), pushcrypt.Withdrawing("x", "y"), pushcrypt.Dropped(), pushcrypt.Announcing(statement)))
	message := must(receiver.Open(push.Payload, now))
	references, dropped := message.Attachments()
	expect("attachments", reflect.DeepEqual(references, []pushcrypt.Reference{reference, reference}) && dropped == nil && *must(message.FullBody()) == body)
	found, _ := message.Person()
	expect("a person", reflect.DeepEqual(*found, person))
	ids := []pushcrypt.MessageID{pushcrypt.NamedMessageID("x"), pushcrypt.NamedMessageID("y")}
	expect("withdrawals", reflect.DeepEqual(message.Withdraws(), ids) && message.IsDropped())
	expect("times", message.SentAt.Equal(now) && message.ExpiresAt().Equal(push.ExpiresAt))
	after, accepted, told := trust.Follow(message.Statements, "a", now)
	expect("a rotation", len(accepted) == 1 && told == nil && after.Senders()[0].Pinned == next.PublicKey())
	both := []pushcrypt.SenderPublicKey{next.PublicKey(), sender.PublicKey()}
	expect("keys that a sender had", reflect.DeepEqual(after.HadBefore(next.PublicKey(), now.Add(time.Minute)), both))
	expect("keys after their overlap", reflect.DeepEqual(after.HadBefore(next.PublicKey(), now.Add(time.Minute+time.Millisecond)), both[:1]))
	expect("keys before a rotation", reflect.DeepEqual(after.HadBefore(sender.PublicKey(), now), both[1:]))
	old := sender.PublicKey()
	announced := must(pushcrypt.ParseAnnouncedStatements(must(pushcrypt.StatementLine(statement, old)), next.PublicKey()))
	for count, at := range []time.Time{now.Add(400*24*time.Hour + time.Millisecond), now} {
		push := must(must(pushcrypt.NewSealer(next, "a", pushcrypt.Placeholder{})).Seal(
			[]byte(`{"aps":{"alert":"a"}}`), phone.PublicKey(), pushcrypt.WithTime(at), pushcrypt.AnnouncingAll(announced)))
		receiver.Trust = must(pushcrypt.NewTrust(pushcrypt.Sender{Name: "a", Pinned: []pushcrypt.SenderPublicKey{next.PublicKey(), old}[count]}))
		expect(fmt.Sprint(count, " statements of a text"), len(must(receiver.Open(push.Payload, at)).Statements) == count)
	}
	_, err = must(pushcrypt.NewSealer(sender, "a", pushcrypt.Placeholder{})).Seal(
		[]byte(`{"aps":{"alert":"a"}}`), phone.PublicKey(), pushcrypt.AnnouncingAll(announced))
	expect("statements to another key", refused(pushcrypt.UntrustedOldKey, err))
	announced.Accepted(now)[0][0]++
	expect("statements that the caller changes", bytes.Equal(announced.Accepted(now)[0], statement))
	third := must(pushcrypt.GenerateSenderKey())
	second := must(pushcrypt.RotationStatement(next, third, pushcrypt.Rotation{}))
	for days, expected := range map[time.Duration]int{59: 2, 61: 1} {
		first := must(pushcrypt.RotationStatement(sender, next, pushcrypt.Rotation{At: time.Now().Add(-24 * time.Hour * days)}))
		before := must(pushcrypt.ParseAnnouncedStatements(must(pushcrypt.StatementLine(first, old)), next.PublicKey()))
		again := must(pushcrypt.ParseAnnouncedStatements(must(before.Adding(second, 0, time.Time{})).Text(), third.PublicKey()))
		accepted := again.Accepted(time.Time{})
		expect(fmt.Sprint("a rotation ", int(days), " days after another"), reflect.DeepEqual(accepted, [][]byte{first, second}[2-expected:]))
		knows := must(pushcrypt.NewTrust(pushcrypt.Sender{Name: "a", Pinned: []pushcrypt.SenderPublicKey{next.PublicKey(), old}[expected-1]}))
		after, followed, _ := knows.Follow(accepted, "a", time.Now())
		expect(fmt.Sprint("phones ", int(days), " days later"), len(followed) == expected && after.Senders()[0].Pinned == third.PublicKey())
		none := must(before.Adding(second, -1, time.Time{}))
		expect("a rotation alone", reflect.DeepEqual(none.Accepted(time.Time{}), [][]byte{second}))
		none.Accepted(time.Time{})[0][0]++
		second[180] ^= 1
		expect("a rotation that the caller changes", none.Accepted(time.Time{})[0][180] == second[180]^1)
		second[180] ^= 1
	}
	_, err = announced.Adding(second, 200*365*24*time.Hour, time.Time{})
	expect("an announcement for 200 years", refused(pushcrypt.InvalidTime, err))
	_, err = announced.Adding(second, 0, time.Unix(-1, 0))
	expect("a rotation before 1970", refused(pushcrypt.InvalidTime, err))
	_, err = pushcrypt.RotationStatement(next, next, pushcrypt.Rotation{})
	expect("a rotation to itself", refused(pushcrypt.SupersededNewKey, err))
	_, err = pushcrypt.RotationStatement(sender, next, pushcrypt.Rotation{Overlap: 61 * 24 * time.Hour})
	expect("an overlap of 61 days", refused(pushcrypt.OverlapTooLong, err))
	recovery := must(pushcrypt.GenerateRecoveryKey())
	_, err = pushcrypt.RecoveryStatement(recovery, next, "a", 0, now)
	expect("a recovery without a serial", refused(pushcrypt.MalformedStatement, err))
	for _, one := range [][]byte{statement, must(pushcrypt.RecoveryStatement(recovery, next, "a", 1, now))} {
		_, err = pushcrypt.StatementLine(one, pushcrypt.SenderPublicKey{})
		expect(fmt.Sprint("the line of a statement without a key, ", one[0]), refused(pushcrypt.UntrustedOldKey, err))
	}
	recoverable := must(pushcrypt.NewTrust(pushcrypt.Sender{Pinned: sender.PublicKey(), Recovery: []pushcrypt.RecoveryPublicKey{recovery.PublicKey()}}))
	recovered, accepted, _ := recoverable.Follow([][]byte{must(pushcrypt.RecoveryStatement(recovery, next, "a", 1, now))}, "a", now)
	expect("a recovery", len(accepted) == 1 && reflect.DeepEqual(recovered.HadBefore(next.PublicKey(), now), both[:1]))
}
