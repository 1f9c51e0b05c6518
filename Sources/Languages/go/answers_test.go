package pushcrypt_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	kit "example.com/pushcrypt/Sources/Languages/go/pushcrypttest"
)

type answerCase struct {
	Name, Secret, DevicePublic, Topic, MessageID, AnswerID, AnswerKey, Answer string
	Device, Given, Random, JSON, Text, Code                                   string
	Secrets, Devices                                                          []string
	SentAt                                                                    uint64
	Now, Within                                                               int64
	Members                                                                   struct {
		MessageID string `json:"message_id"`
		SentAt    int64  `json:"sent_at"`
		Action    string
		Text      *string
		At        int64
	}
}

func (own answerCase) open() (*pushcrypt.Answer, error) {
	setClock(time.UnixMilli(own.Now))
	defer setClock(now)
	opener := pushcrypt.AnswerOpener{Topic: own.Topic, Within: time.Duration(own.Within) * time.Second}
	for _, secret := range own.Secrets {
		opener.Secrets = append(opener.Secrets, must(pushcrypt.NewAnswerSecret(fromHex(secret))))
	}
	for _, device := range own.Devices {
		opener.Devices = append(opener.Devices, must(pushcrypt.NewDevicePublicKey(fromHex(device))))
	}
	return opener.Open(own.Text, time.UnixMilli(own.Now))
}

func TestAnswers(t *testing.T) {
	var file struct{ Keys, Answers, Refused []answerCase }
	readJSON(t, "answers.json", &file)
	for _, own := range file.Keys {
		secret, device := fromHex(own.Secret), fromHex(own.DevicePublic)
		id := core.AnswerID(secret, device, own.Topic, fromHex(own.MessageID), own.SentAt)
		key := core.AnswerKey(secret, device, own.Topic, id)
		if hex.EncodeToString(id) != own.AnswerID || hex.EncodeToString(key) != own.AnswerKey || core.Encode(append(id, key...)) != own.Answer {
			t.Errorf("%s: %x, %x", own.Name, id, key)
		}
	}
	for _, own := range file.Answers {
		device := must(pushcrypt.NewDevicePublicKey(fromHex(own.Device)))
		answer, err := own.open()
		if err != nil {
			t.Errorf("%s: %v", own.Name, err)
			continue
		}
		want := own.Members
		isSame := answer.Device == device && answer.MessageID.String() == want.MessageID && answer.SentAt.UnixMilli() == want.SentAt && answer.Action == want.Action
		if !isSame || answer.At.UnixMilli() != want.At || (answer.Text == nil) != (want.Text == nil) || want.Text != nil && *answer.Text != *want.Text {
			t.Errorf("%s: %+v", own.Name, answer)
		}
	}
	for _, own := range file.Refused {
		if _, err := own.open(); !errors.Is(err, pushcrypt.Code(own.Code)) {
			t.Errorf("%s: %v", own.Name, err)
		}
	}
	if len(file.Keys) < 5 || len(file.Answers) < 10 || len(file.Refused) < 30 {
		t.Error("too few cases")
	}
}

// A message that can be answered has what answers.json proves of its id, and is the same message.
func TestMessagesThatCanBeAnswered(t *testing.T) {
	secret := pushcrypt.GenerateAnswerSecret()
	sealer, phone := must(pushcrypt.NewSealer(provider, topic)), kit.Phone{Topic: topic, Key: kit.GenerateDeviceKey(), Provider: provider.PublicKey()}
	seal := func(options ...pushcrypt.Option) (*pushcrypt.Push, string) {
		push := must(sealer.Seal([]byte(`{"aps":{"alert":"Deploy?"}}`), phone.Key.Device(topic), append(options, pushcrypt.WithTime(now))...))
		return push, string(must(phone.Open(push.Payload, now)).Payload)
	}
	for _, option := range []pushcrypt.Option{nil, pushcrypt.WithMessageID("deploy-17")} {
		push, payload := seal(option, pushcrypt.WithAnswers(secret))
		device, at := phone.Key.PublicKey().Bytes(), uint64(now.UnixMilli())
		id := core.AnswerID(secret.SecretBytes(), device, topic, push.MessageID[:], at)
		answer := core.Encode(append(id[:16:16], core.AnswerKey(secret.SecretBytes(), device, topic, id)...))
		expect(t, "its payload", payload, `{"aps":{"alert":"Deploy?"},"pushcrypt":{"answer":"`+answer+`"}}`)
	}
	first, _ := seal(pushcrypt.WithMessageID("a"), pushcrypt.WithAnswers(secret))
	second, payload := seal(pushcrypt.WithMessageID("a"))
	expect(t, "the same message", first.MessageID, second.MessageID)
	expect(t, "without an answer", payload, `{"aps":{"alert":"Deploy?"}}`)
}

func TestAnswersEnd(t *testing.T) {
	var file struct{ Answers []answerCase }
	readJSON(t, "answers.json", &file)
	own := file.Answers[0]
	sentAt := own.Members.SentAt
	for _, one := range []struct {
		within  time.Duration
		now     int64
		expired bool
	}{
		{40 * 24 * time.Hour, sentAt + answerLife, false}, {40 * 24 * time.Hour, sentAt + answerLife + 1, true}, {0, sentAt + answerLife + 1, true},
		// The time until a deadline that has passed.
		{-time.Second, sentAt, true},
	} {
		own.Within, own.Now = int64(one.within/time.Second), one.now
		if _, err := own.open(); errors.Is(err, pushcrypt.Expired) != one.expired {
			t.Errorf("%+v: %v", one, err)
		}
	}
}

const answerLife = 31 * 86_400_000

func TestAnswerSecrets(t *testing.T) {
	secret := pushcrypt.GenerateAnswerSecret()
	for _, length := range []int{0, 31, 33} {
		if _, err := pushcrypt.NewAnswerSecret(make([]byte, length)); !errors.Is(err, pushcrypt.MalformedKey) {
			t.Error(length, err)
		}
	}
	if !bytes.Equal(must(pushcrypt.NewAnswerSecret(secret.SecretBytes())).SecretBytes(), secret.SecretBytes()) {
		t.Error("another secret")
	}
	printed := fmt.Sprintf("%v %+v %#v %s %x", secret, *secret, secret, secret, secret)
	text, _ := json.Marshal(secret)
	if printed += string(text); strings.Contains(printed, hex.EncodeToString(secret.SecretBytes()[:4])) || strings.Contains(printed, fmt.Sprint(secret.SecretBytes()[:4])[1:8]) {
		t.Error(printed)
	}
	sealer, phone := must(pushcrypt.NewSealer(pushcrypt.GenerateProviderKey(), topic)), kit.GenerateDeviceKey()
	zero := pushcrypt.WithAnswers(&pushcrypt.AnswerSecret{})
	if _, err := sealer.Seal([]byte(`{"aps":{"alert":"a"}}`), phone.Device(topic), zero); !errors.Is(err, pushcrypt.UnusableKey) {
		t.Error(err)
	}
	if _, err := (pushcrypt.AnswerOpener{Topic: "a b"}).Open("", time.Time{}); !errors.Is(err, pushcrypt.WrongTopic) {
		t.Error(err)
	}
}
