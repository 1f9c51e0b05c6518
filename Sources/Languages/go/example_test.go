package pushcrypt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/pushcrypttest"
)

// A provider seals, a phone opens.
func Example() {
	provider := pushcrypt.GenerateProviderKey()
	phone := pushcrypttest.GenerateDeviceKey()

	sealer, err := pushcrypt.NewSealer(provider, "com.example.app")
	if err != nil {
		panic(err)
	}
	push, err := sealer.Seal([]byte(`{"aps":{"alert":"Hello"}}`), phone.PublicKey(), pushcrypt.WithMessageID("hello-1"))
	if err != nil {
		panic(err)
	}

	trust := pushcrypttest.Trust{Pins: []pushcrypt.ProviderPublicKey{provider.PublicKey()}}
	receiver := pushcrypttest.Receiver{Topic: "com.example.app", Keys: []pushcrypttest.HeldKey{{Key: phone}}, Trust: trust}
	opened, err := receiver.Open(push.Payload, time.Time{})
	if err != nil {
		panic(err)
	}
	fmt.Println(push.Header().Get("apns-priority"), string(opened.Payload))
	// Output: 10 {"aps":{"alert":"Hello"}}
}

// What is refused has a code.
func ExampleError() {
	provider := pushcrypt.GenerateProviderKey()
	phone := pushcrypttest.GenerateDeviceKey()
	sealer, _ := pushcrypt.NewSealer(provider, "com.example.app")
	_, err := sealer.Seal([]byte(`{"alert":"Hello"}`), phone.PublicKey())
	fmt.Println(errors.Is(err, pushcrypt.MissingAPS), err)
	// Output: true missing-aps: the payload has no aps object; a push without one is never shown
}

// A phone registers, and changes its key later.
func ExampleAccept() {
	phone := pushcrypttest.GenerateDeviceKey()
	body, _ := json.Marshal(pushcrypt.DeviceRecord{PublicKey: phone.PublicKey(), Device: "phone1", Generation: 1, AppVersion: "2.3.1"})

	record, err := pushcrypt.ParseDeviceRecord(body)
	if err != nil {
		panic(err)
	}
	accepted, err := pushcrypt.Accept(record, nil, "alice", nil)
	if err != nil {
		panic(err)
	}
	row, _ := json.Marshal(accepted.Device) // into your database

	held, _ := pushcrypt.ParseStoredDevice(row)
	next := pushcrypttest.GenerateDeviceKey()
	record = &pushcrypt.DeviceRecord{PublicKey: next.PublicKey(), Device: "phone1", Generation: 2}
	_, err = pushcrypt.Accept(record, held, "bob", nil)
	fmt.Println(pushcrypt.RefusingReply(err, pushcrypt.Certificate{}).Refused)
	accepted, _ = pushcrypt.Accept(record, held, "alice", nil)
	fmt.Println(accepted.Device.User, accepted.Device.AppVersion, accepted.Device.PublicKey == next.PublicKey())
	// Output:
	// user-mismatch
	// alice 2.3.1 true
}

// The provider key is on a machine that serves nothing.
func ExampleCertificateRequest() {
	offline := pushcrypt.GenerateProviderKey()
	key := pushcrypt.GenerateSigningKey() // on the server; store it with the request
	request := &pushcrypt.CertificateRequest{Topic: "com.example.app", Provider: offline.PublicKey(), SigningKey: key.PublicKey()}
	text, _ := json.Marshal(request)

	carried, _ := pushcrypt.ParseCertificateRequest(text)
	answer, err := carried.Certify(offline)
	if err != nil {
		panic(err)
	}

	credential, err := request.Install(key, answer)
	if err != nil {
		panic(err)
	}
	sealer, err := pushcrypt.NewSealer(credential, "com.example.app")
	fmt.Println(sealer.Certificate().Epoch() > 0, err)
	// Output: true <nil>
}

func BenchmarkSeal(b *testing.B) {
	sealer, payload, to := must(pushcrypt.NewSealer(provider, topic)), []byte(`{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}},"chat":"c41"}`), phone.PublicKey()
	for count := 0; count < b.N; count++ {
		must(sealer.Seal(payload, to))
	}
}

// A server without accounts shows a code, and a phone posts its record.
func ExamplePairing() {
	provider := pushcrypt.GenerateProviderKey()
	pairing, err := pushcrypt.NewPairing(provider.PublicKey(), "https://home.example.net/pair", "com.example.app", time.Time{})
	if err != nil {
		panic(err)
	}
	row, _ := json.Marshal(pairing) // stored under pairing.ID()

	phone := pushcrypttest.GenerateDeviceKey()
	code, _ := pushcrypttest.ParsePairingCode(pairing.Code(), "com.example.app")
	body, _ := code.Request(&pushcrypt.DeviceRecord{PublicKey: phone.PublicKey(), Device: "phone1", Generation: 1})

	// In a transaction that locks the row of pushcrypt.PairingID(body). On an error answer 404, and change nothing.
	stored, _ := pushcrypt.ParsePairing(row)
	request, err := stored.Open([]byte(body), time.Time{})
	if err != nil {
		panic(err)
	}
	answer := request.Answer
	if request.Record != nil {
		var held *pushcrypt.StoredDevice // If you have it already, and Answer is "", refuse with UserMismatch.
		options := &pushcrypt.AcceptOptions{Topic: "com.example.app", Provider: provider.PublicKey()}
		accepted, err := pushcrypt.Accept(request.Record, held, "alice", options)
		reply := pushcrypt.RefusingReply(err, pushcrypt.Certificate{})
		if err == nil {
			reply = accepted.Reply // and store accepted.Device
		}
		stored, answer, _ = request.Seal(reply)
		row, _ = json.Marshal(stored)
	}

	reply, err := code.Open(body, answer)
	fmt.Println(reply.Acknowledged == phone.PublicKey(), stored.Device, err)
	// Output: true phone1 <nil>
}
