package pushcrypt_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	kit "example.com/pushcrypt/pushcrypttest"
)

const pairingURL = "https://home.example.net/pair"

var pairingAt = time.UnixMilli(1_767_225_600_000)

type pairingCase struct {
	Name, Secret, URL, Topic, Provider, Code, ID, Salt, Record, Request, ReplyRecord, Reply string
	RequestOpens, Accepted                                                                  bool
}

// stored is what each of the packages stores.
func (own pairingCase) stored() string {
	secret := core.Encode(fromHex(own.Secret))
	return fmt.Sprintf(`{"secret":"%s","url":"%s","topic":"%s","provider":"%s","created":%d}`, secret, own.URL, own.Topic, own.Provider, pairingAt.UnixMilli())
}

func (own pairingCase) exchange() core.PairingExchange {
	provider := must(pushcrypt.ParseProviderPublicKey(own.Provider))
	return core.NewPairingExchange(fromHex(own.Secret), own.URL, own.Topic, core.PairingFingerprint(provider.Bytes()))
}

// newPairing returns a pairing, the phone's code, its record, and a reply to it.
func newPairing() (*pushcrypt.Pairing, *kit.PairingCode, *pushcrypt.DeviceRecord, *pushcrypt.Reply) {
	provider, phone := pushcrypt.GenerateProviderKey().PublicKey(), kit.GenerateDeviceKey().PublicKey()
	pairing := must(pushcrypt.NewPairing(provider, pairingURL, topic, pairingAt))
	record := &pushcrypt.DeviceRecord{PublicKey: phone, Device: "phone", Topic: topic, Generation: 1}
	return pairing, must(kit.ParsePairingCode(pairing.Code(), topic)), record, &pushcrypt.Reply{Acknowledged: phone, Provider: provider, Suites: []int{1}}
}

func claim(t *testing.T, pairing *pushcrypt.Pairing, request string, reply *pushcrypt.Reply, at time.Time) (*pushcrypt.Pairing, string) {
	t.Helper()
	claimed, answer, err := must(pairing.Open([]byte(request), at)).Seal(reply)
	if err != nil {
		t.Fatal(err)
	}
	return must(pushcrypt.ParsePairing(must(claimed.MarshalJSON()))), answer
}

func TestPairings(t *testing.T) {
	var file struct{ Pairings, Refused, URLs []pairingCase }
	readJSON(t, "pairing.json", &file)
	for _, own := range file.Pairings {
		pairing, code := must(pushcrypt.ParsePairing([]byte(own.stored()))), must(kit.ParsePairingCode(own.Code, own.Topic))
		if pairing.Code() != own.Code || pairing.ID() != own.ID || string(must(pairing.MarshalJSON())) != own.stored() || code.URL != own.URL {
			t.Errorf("%s: %s", own.Name, must(pairing.MarshalJSON()))
		}
		if must(pushcrypt.PairingID([]byte(own.Request+"\r\n"))) != own.ID {
			t.Error(own.Name)
		}
		if made := core.Encode(own.exchange().SealRequest([]byte(own.Record), fromHex(own.Salt))); made != own.Request {
			t.Errorf("%s: %s", own.Name, made)
		}
		if made := core.Encode(own.exchange().SealReply(core.Decode(own.Request), []byte(own.ReplyRecord))); made != own.Reply {
			t.Errorf("%s: %s", own.Name, made)
		}
		reply, posted := must(code.Open(own.Request, own.Reply+"\n")), must(pairing.Open([]byte(own.Request), pairingAt))
		if !reflect.DeepEqual(reply, must(pushcrypt.ParseReply([]byte(own.ReplyRecord)))) || posted.Answer != "" || posted.Record.Device != strings.Repeat("5d0f", 8) {
			t.Errorf("%s: %+v", own.Name, reply)
		}
		after, answer, err := posted.Seal(reply)
		if err != nil || !reflect.DeepEqual(must(code.Open(own.Request, answer)), reply) {
			t.Error(own.Name, err)
		}
		members := map[string]any{}
		_ = json.Unmarshal(must(after.MarshalJSON()), &members)
		if reply.Refused == "" && (members["claimed"] != float64(pairingAt.UnixMilli()) || members["device"] != posted.Record.Device || members["reply"] == nil) {
			t.Error(own.Name, members)
		}
	}
	for _, own := range file.Refused {
		pairing := must(pushcrypt.ParsePairing([]byte(own.stored())))
		_, err := pairing.Open([]byte(own.Request), pairingAt)
		if own.RequestOpens != (err == nil) || err != nil && !errors.Is(err, pushcrypt.AuthenticationFailed) {
			t.Error(own.Name, err)
		}
		if _, err := must(kit.ParsePairingCode(pairing.Code(), own.Topic)).Open(own.Request, own.Reply); !errors.Is(err, pushcrypt.AuthenticationFailed) {
			t.Error(own.Name, err)
		}
	}
	for _, own := range file.URLs {
		pairing, _, _, _ := newPairing()
		_, err := pushcrypt.NewPairing(pairing.Provider, own.URL, topic, time.Time{})
		_, phones := kit.ParsePairingCode(pairing.Code()[:57]+own.URL, topic)
		if own.Accepted != (err == nil) || own.Accepted != (phones == nil) || err != nil && !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Errorf("%s: %v, %v", own.Name, err, phones)
		}
	}
	if len(file.Pairings) < 7 || len(file.Refused) < 10 || len(file.URLs) < 80 {
		t.Error("too few cases")
	}
}

func TestACodeIsForOnePhoneAndTenMinutes(t *testing.T) {
	pairing, code, record, reply := newPairing()
	if other, _, _, _ := newPairing(); len(pairing.Code()) != 57+len(pairingURL) || other.Code() == pairing.Code() {
		t.Error(len(pairing.Code()))
	}
	text := pairing.Code()
	for _, wrong := range []string{"", "pushcrypt:2" + text[11:], strings.Replace(text, "&", "?", 1), "pushcrypt:1?Ag" + text[14:], text[:20] + "é" + text[21:]} {
		if _, err := kit.ParsePairingCode(wrong, topic); !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Error(err)
		}
	}
	request := must(code.Request(record))
	end := pairingAt.Add(10 * time.Minute)
	if must(pairing.Open([]byte(request), end.Add(-time.Millisecond))).Record == nil {
		t.Error("no record")
	}
	claimed, answer := claim(t, pairing, request, reply, pairingAt.Add(9*time.Minute))
	again := must(claimed.Open([]byte(request), end.Add(9*time.Minute-time.Millisecond)))
	if stored, sealed, err := again.Seal(&pushcrypt.Reply{Refused: "a"}); again.Answer != answer || sealed != answer || err != nil || !reflect.DeepEqual(stored, claimed) {
		t.Error(err)
	}
	for one, late := range map[*pushcrypt.Pairing]time.Time{pairing: end, claimed: end.Add(9 * time.Minute)} {
		if _, err := one.Open([]byte(request), late); !errors.Is(err, pushcrypt.Expired) {
			t.Error(err)
		}
	}
	// With a grant, in a new request, the phone gets the same record; what it sent is for Accept.
	granted, renamed, rekeyed := *record, *record, *record
	granted.Grant, renamed.Device, rekeyed.PublicKey = "g", "other", kit.GenerateDeviceKey().PublicKey()
	second := must(code.Request(&granted))
	renewed := must(claimed.Open([]byte(second), end))
	if renewed.Record.Grant != "g" || renewed.Answer == answer || !reflect.DeepEqual(must(code.Open(second, renewed.Answer)), must(code.Open(request, answer))) {
		t.Errorf("%+v", renewed)
	}
	for _, other := range []*pushcrypt.DeviceRecord{&renamed, &rekeyed} {
		sent := must(code.Request(other))
		used := must(claimed.Open([]byte(sent), end))
		if used.Record != nil || must(code.Open(sent, used.Answer)).Refused != "pairing-used" {
			t.Errorf("%+v", used)
		}
		if stored, _, err := used.Seal(reply); err != nil || !reflect.DeepEqual(stored, claimed) {
			t.Error(err)
		}
	}
}

func TestARefusalLeavesTheCodeOpen(t *testing.T) {
	pairing, code, record, reply := newPairing()
	request := must(code.Request(record))
	after, refusal := claim(t, pairing, request, pushcrypt.RefusingReply(&pushcrypt.Error{Code: pushcrypt.UserMismatch}, pushcrypt.Certificate{}), pairingAt)
	if !after.Claimed.IsZero() || must(code.Open(request, refusal)).Refused != pushcrypt.UserMismatch {
		t.Error("a refusal")
	}
	claimed, answer := claim(t, after, request, reply, pairingAt)
	if answer[:21] == refusal[:21] {
		t.Error("two texts of one key")
	}
	exchange := func(one *pushcrypt.Pairing) core.PairingExchange {
		var members struct{ Secret string }
		_ = json.Unmarshal(must(one.MarshalJSON()), &members)
		return core.NewPairingExchange(core.Decode(members.Secret), one.URL, one.Topic, core.PairingFingerprint(one.Provider.Bytes()))
	}
	for _, text := range []string{"", "{}", "[", strings.Replace(string(must(record.MarshalJSON())), `"device"`, `"name"`, 1)} {
		sent := core.Encode(exchange(pairing).SealRequest([]byte(text), make([]byte, 16)))
		for _, one := range []*pushcrypt.Pairing{pairing, claimed} {
			posted := must(one.Open([]byte(sent), pairingAt))
			if posted.Record != nil || must(code.Open(sent, posted.Answer)).Refused != pushcrypt.MalformedRecord {
				t.Error(text)
			}
		}
	}
	// What breaks [P-7] is not sealed, and what is sealed nevertheless not believed.
	stranger := pushcrypt.GenerateProviderKey().PublicKey()
	for _, wrong := range []*pushcrypt.Reply{
		{Acknowledged: record.PublicKey}, {Acknowledged: record.PublicKey, Provider: stranger},
		{Acknowledged: kit.GenerateDeviceKey().PublicKey(), Provider: pairing.Provider},
	} {
		if _, _, err := must(pairing.Open([]byte(request), pairingAt)).Seal(wrong); !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Error(err)
		}
		sealed := core.Encode(exchange(pairing).SealReply(core.Decode(request), must(wrong.MarshalJSON())))
		if _, err := code.Open(request, sealed); wrong.Provider != pairing.Provider && !errors.Is(err, pushcrypt.AuthenticationFailed) {
			t.Error(err)
		}
	}
}

func TestAChangedRequestIsNotFound(t *testing.T) {
	pairing, code, record, _ := newPairing()
	request := must(code.Request(record))
	data := core.Decode(request)
	refuses := func(want pushcrypt.Code, body string) {
		t.Helper()
		if _, err := pairing.Open([]byte(body), pairingAt); !errors.Is(err, want) {
			t.Error(err)
		}
	}
	for place := range data {
		changed := append([]byte(nil), data...)
		changed[place] ^= 1
		refuses(pushcrypt.AuthenticationFailed, core.Encode(changed))
		if id := must(pushcrypt.PairingID([]byte(core.Encode(changed)))); (id == pairing.ID()) != (place >= 8) {
			t.Error(place, id)
		}
		refuses(map[bool]pushcrypt.Code{true: pushcrypt.MalformedEnvelope, false: pushcrypt.AuthenticationFailed}[place < 40], core.Encode(data[:place]))
	}
	short := core.Encode(make([]byte, 40))
	for _, wrong := range []string{
		"", request + "=", " " + request, "\n" + request, request + "é", short[:len(short)-1] + "B", core.Encode(make([]byte, 16_385)), strings.Repeat("\n", 10_000_000) + "a",
	} {
		refuses(pushcrypt.MalformedEnvelope, wrong)
		if _, err := pushcrypt.PairingID([]byte(wrong)); !errors.Is(err, pushcrypt.MalformedEnvelope) {
			t.Error(err)
		}
	}
	refuses(pushcrypt.AuthenticationFailed, core.Encode(append(data[:len(data):len(data)], data...)))
	refuses(pushcrypt.AuthenticationFailed, core.Encode(append(data[:len(data):len(data)], make([]byte, 16_384-len(data))...)))
	pairing, _, _, _ = newPairing()
	refuses(pushcrypt.AuthenticationFailed, request)
	if _, err := (&pushcrypt.Pairing{}).Open([]byte(request), pairingAt); !errors.Is(err, pushcrypt.Expired) {
		t.Error(err)
	}
}

func TestAPairingIsCheckedAndNotPrinted(t *testing.T) {
	pairing, code, record, _ := newPairing()
	good := map[string]any{}
	_ = json.Unmarshal(must(pairing.MarshalJSON()), &good)
	secret := core.Decode(good["secret"].(string))
	printed := fmt.Sprintf("%v %+v %#v %x %v", pairing, *pairing, pairing, *pairing, *must(pairing.Open([]byte(must(code.Request(record))), pairingAt)))
	if strings.Contains(printed, good["secret"].(string)) || strings.Contains(printed, hex.EncodeToString(secret[:4])) || strings.Contains(printed, fmt.Sprint(secret[:4])[1:8]) {
		t.Error(printed)
	}
	wrong := map[string]any{"secret": "a", "url": "http://a", "topic": "a b", "created": -1, "claimed": 1, "reply": "{}", "provider": nil}
	for name, value := range wrong {
		members := map[string]any{}
		_ = json.Unmarshal(must(pairing.MarshalJSON()), &members)
		members[name] = value
		if _, err := pushcrypt.ParsePairing(must(json.Marshal(members))); !errors.Is(err, pushcrypt.MalformedRecord) {
			t.Error(name, err)
		}
	}
	good["claimed"], good["device"], good["reply"] = 1, "a", "{}"
	if _, err := pushcrypt.ParsePairing(must(json.Marshal(good))); !errors.Is(err, pushcrypt.MalformedRecord) {
		t.Error(err)
	}
	read := new(pushcrypt.Pairing)
	if err := json.Unmarshal(must(json.Marshal(pairing)), read); err != nil || !bytes.Equal(must(read.MarshalJSON()), must(pairing.MarshalJSON())) {
		t.Error(err)
	}
	for code, err := range map[pushcrypt.Code]error{
		pushcrypt.WrongTopic:  errorOf(pushcrypt.NewPairing(pairing.Provider, pairingURL, "a b", pairingAt)),
		pushcrypt.UnusableKey: errorOf(pushcrypt.NewPairing(pushcrypt.ProviderPublicKey{}, pairingURL, topic, pairingAt)),
		pushcrypt.InvalidTime: errorOf(pushcrypt.NewPairing(pairing.Provider, pairingURL, topic, time.UnixMilli(-1))),
	} {
		if !errors.Is(err, code) {
			t.Error(code, err)
		}
	}
}
