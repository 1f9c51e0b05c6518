package relay

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/pushcrypttest"
)

const origin = "https://push.example.com"

var key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{5}, 32))

// The requests of relay.json: the bytes that are signed, and a whole request.
func TestRequests(t *testing.T) {
	folder := os.Getenv("PUSHCRYPT_VECTORS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "Tests", "Data", "Vectors")
	}
	data, err := os.ReadFile(filepath.Join(folder, "relay.json"))
	if os.IsNotExist(err) {
		t.Skip("NOT TESTED AGAINST THE FORMAT: there are no vectors in", folder)
	}
	var file struct {
		Requests []struct {
			Name, Seed, Origin, Path, Body, PushKey, Signature string
			Time                                               int64
		}
		Answers []struct{ Answer, Done string }
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Requests) == 0 {
		t.Fatal(err, len(file.Requests))
	}
	whole, taken := 0, 0
	for _, one := range file.Requests {
		seed, _ := hex.DecodeString(one.Seed)
		key := ed25519.NewKeyFromSeed(seed)
		public := key.Public().(ed25519.PublicKey)
		signature := ed25519.Sign(key, signed(one.Origin, one.Path, public, uint64(one.Time), []byte(one.Body)))
		if core.Encode(public) != one.PushKey || core.Encode(signature) != one.Signature {
			t.Errorf("%s: another signature", one.Name)
		}
		if one.Body == `{"wait":25,"done":[]}` {
			taken++
			request, err := NewAnswersRequest(one.Origin, key, 25*time.Second, nil, time.UnixMilli(one.Time))
			if err != nil || string(request.Body) != one.Body || request.Header.Get("Pushcrypt-Signature") != one.Signature || request.URL != one.Origin+"/v1/answers/take" {
				t.Errorf("%s: %v, %v", one.Name, request, err)
			}
		}
		if one.Body != `{"messages":[{"grant":"…","data":"…"}]}` {
			continue
		}
		whole++
		request, err := NewRequest(one.Origin, key, []Message{{Grant: "…", Data: "…"}}, time.UnixMilli(one.Time))
		if err != nil || string(request.Body) != one.Body || request.Header.Get("Pushcrypt-Signature") != one.Signature || request.URL != one.Origin+"/v1/push" {
			t.Errorf("%s: %v, %v", one.Name, request, err)
		}
	}
	if whole == 0 || taken == 0 {
		t.Error("no whole request")
	}
	for _, one := range file.Answers {
		request, err := NewAnswersRequest(origin, key, 0, []string{one.Answer}, time.Time{})
		if err != nil || string(request.Body) != `{"wait":0,"done":["`+one.Done+`"]}` {
			t.Error(request, err)
		}
	}
}

func TestMessages(t *testing.T) {
	provider := pushcrypt.GenerateProviderKey()
	device := pushcrypttest.GenerateDeviceKey().Device("com.example.app")
	device.Grant = "g"
	sealer, err := pushcrypt.NewSealer(provider, "com.example.app", pushcrypt.WithSound("default"))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		payload string
		kind    pushcrypt.PushType
		want    Message
	}{
		{`{"aps":{"alert":"a","content-available":1}}`, "alert", Message{Kind: "alert", Priority: 10, Sound: "default", ContentAvailable: true}},
		{`{"aps":{"content-available":1}}`, "background", Message{Kind: "background", Priority: 5}},
	} {
		push, err := sealer.Seal([]byte(one.payload), device, pushcrypt.WithPushType(one.kind))
		if err != nil {
			t.Fatal(err)
		}
		want := one.want
		want.Grant, want.Data, want.CollapseID, want.Expiration = "g", push.Envelope, push.CollapseID, push.Expiration.Unix()
		if message, err := NewMessage(push); err != nil || message != want {
			t.Errorf("%+v, %v", message, err)
		}
	}
	push, err := sealer.Seal([]byte(`{"aps":{}}`), device, pushcrypt.WithPushType("voip"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewMessage(push); !errors.Is(err, pushcrypt.PushTypeNotSealable) {
		t.Error(err)
	}
	secret := []Message{{Grant: "secret-word"}}
	request, err := NewRequest(origin, key, secret, time.Time{})
	if text := fmt.Sprintf("%v %+v %#v %s %s", secret, secret[0], secret, request, *request); err != nil || strings.Contains(text, "secret-word") {
		t.Error("a grant is printed:", text, err)
	}
	for _, without := range []*pushcrypt.Push{nil, {}} {
		if _, err := NewMessage(without); !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Error(err)
		}
	}
}

func TestRefusals(t *testing.T) {
	one := []Message{{Grant: "a", Data: "b"}}
	for _, wrong := range []string{"", "push.example.com", origin + "/", "HTTPS://a", "https://a b", "ftp://a", "https://"} {
		if _, err := NewRequest(wrong, key, one, time.Time{}); !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Error(wrong, err)
		}
	}
	for _, count := range []int{0, 46} {
		if _, err := NewRequest(origin, key, make([]Message, count), time.Time{}); !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Error(count, err)
		}
	}
	if request, err := NewRequest(origin, key, make([]Message, 45), time.Time{}); err != nil || len(request.Header) != 4 {
		t.Error(err)
	}
	for _, wrong := range []ed25519.PrivateKey{nil, {}, key[1:]} {
		if _, err := NewRequest(origin, wrong, one, time.Time{}); !errors.Is(err, pushcrypt.UnusableKey) {
			t.Error(err)
		}
	}
	for _, wait := range []time.Duration{-1, 26 * time.Second} {
		if _, err := NewAnswersRequest(origin, key, wait, nil, time.Time{}); !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Error(wait, err)
		}
	}
	if _, err := NewAnswersRequest(origin, key, 0, make([]string, 201), time.Time{}); !errors.Is(err, pushcrypt.InvalidRequest) {
		t.Error(err)
	}
	if _, err := NewRequest(origin, key, one, time.UnixMilli(-1)); !errors.Is(err, pushcrypt.InvalidTime) {
		t.Error(err)
	}
}
