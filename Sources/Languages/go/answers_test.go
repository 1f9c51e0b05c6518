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

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	kit "example.com/pushcrypt/pushcrypttest"
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
		made := core.Encode(core.SealAnswer(core.Decode(own.Given), fromHex(device.ID()), core.PadAnswer([]byte(own.JSON)), fromHex(own.Random)))
		answer, err := own.open()
		if made != own.Text || err != nil {
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

func TestAMessageIsAnsweredByItsPhoneAlone(t *testing.T) {
	at := time.UnixMilli(1_767_225_600_000)
	provider, secret := pushcrypt.GenerateProviderKey(), pushcrypt.GenerateAnswerSecret()
	sealer := must(pushcrypt.NewSealer(provider, topic))
	phones := []*kit.DeviceKey{kit.GenerateDeviceKey(), kit.GenerateDeviceKey()}
	opener := pushcrypt.AnswerOpener{Topic: topic, Secrets: []*pushcrypt.AnswerSecret{secret}}
	message := func(phone *kit.DeviceKey, options ...pushcrypt.Option) *kit.Opened {
		push := must(sealer.Seal([]byte(`{"aps":{"alert":"Deploy?"}}`), phone.PublicKey(), append(options, pushcrypt.WithTime(at))...))
		receiver := kit.Receiver{Topic: topic, Keys: []kit.HeldKey{{Key: phone}}, Trust: kit.Trust{Pins: []pushcrypt.ProviderPublicKey{provider.PublicKey()}}}
		return must(receiver.Open(push.Payload, at))
	}
	for _, phone := range phones {
		opener.Devices = append(opener.Devices, phone.PublicKey())
	}
	for _, phone := range phones {
		for _, option := range []pushcrypt.Option{nil, pushcrypt.WithMessageID("deploy-17"), pushcrypt.WithDrop()} {
			opened, reply := message(phone, option, pushcrypt.WithAnswers(secret)), `go "now" 🚲`
			text := must(kit.SealAnswer(opened, "approve", &reply, at.Add(5*time.Second)))
			answer := must(opener.Open(text, at.Add(time.Minute)))
			isSame := answer.Device == phone.PublicKey() && answer.MessageID == opened.MessageID && answer.SentAt.Equal(at)
			if !isSame || answer.Action != "approve" || *answer.Text != reply {
				t.Errorf("%+v", answer)
			}
			if must(opener.Open(must(kit.SealAnswer(opened, "no", nil, at)), at)).Text != nil {
				t.Error("a text")
			}
		}
	}
	// The time until a deadline that has passed.
	late := opener
	late.Within = -time.Second
	approved := must(kit.SealAnswer(message(phones[0], pushcrypt.WithAnswers(secret)), "approve", nil, at))
	if _, err := late.Open(approved, at); !errors.Is(err, pushcrypt.Expired) {
		t.Error(err)
	}
	// The key of one message opens no answer to another.
	first := message(phones[0], pushcrypt.WithMessageID("a"), pushcrypt.WithAnswers(secret))
	second := message(phones[0], pushcrypt.WithMessageID("b"), pushcrypt.WithAnswers(secret))
	first.MessageID = second.MessageID
	if _, err := opener.Open(must(kit.SealAnswer(first, "approve", nil, at)), at); !errors.Is(err, pushcrypt.AuthenticationFailed) {
		t.Error(err)
	}
	plain := message(phones[0], pushcrypt.WithMessageID("a"))
	if bytes.Contains(plain.Payload, []byte("pushcrypt")) {
		t.Error("another payload")
	}
	long := strings.Repeat("a", 4096)
	for _, err := range []error{
		errorOf(kit.SealAnswer(plain, "a", nil, at)), errorOf(kit.SealAnswer(second, "", nil, at)), errorOf(kit.SealAnswer(second, "a", &long, at)),
	} {
		if !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Error(err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

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
	if _, err := sealer.Seal([]byte(`{"aps":{"alert":"a"}}`), phone.PublicKey(), zero); !errors.Is(err, pushcrypt.UnusableKey) {
		t.Error(err)
	}
	if _, err := (pushcrypt.AnswerOpener{Topic: "a b"}).Open("", time.Time{}); !errors.Is(err, pushcrypt.WrongTopic) {
		t.Error(err)
	}
}
