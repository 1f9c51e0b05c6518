package pushcrypt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
	"example.com/pushcrypt/Sources/Languages/go/pushcrypttest"
)

// A provider seals, a phone opens.
func Example() {
	provider := pushcrypt.GenerateProviderKey()
	phone := pushcrypttest.GenerateDeviceKey()

	sealer, err := pushcrypt.NewSealer(provider, "com.example.app")
	if err != nil {
		panic(err)
	}
	push, err := sealer.Seal([]byte(`{"aps":{"alert":"Hello"}}`), phone.Device("com.example.app"), pushcrypt.WithMessageID("hello-1"))
	if err != nil {
		panic(err)
	}

	opened, err := pushcrypttest.Phone{Topic: "com.example.app", Key: phone, Provider: provider.PublicKey()}.Open(push.Payload, time.Time{})
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
	_, err := sealer.Seal([]byte(`{"alert":"Hello"}`), phone.Device("com.example.app"))
	fmt.Println(errors.Is(err, pushcrypt.MissingAPS), err)
	// Output: true missing-aps: the payload has no aps object; a push without one is never shown (https://example.com/pushcrypt/blob/main/Docs/Codes.md#missing-aps)
}

// table is a provider's table of devices.
type table map[string]*pushcrypt.StoredDevice

func (rows table) Find(device string) (*pushcrypt.StoredDevice, error) { return rows[device], nil }

func (rows table) Holders(key pushcrypt.DevicePublicKey, token string) (held []*pushcrypt.StoredDevice, err error) {
	for _, row := range rows {
		if row.PublicKey == key || token != "" && row.Token == token {
			held = append(held, row)
		}
	}
	return held, nil
}

// A phone registers, and changes its key later.
func ExampleAccept() {
	phone, next := pushcrypttest.GenerateDeviceKey(), pushcrypttest.GenerateDeviceKey()
	options := &pushcrypt.AcceptOptions{Topic: "com.example.app", Provider: pushcrypt.GenerateProviderKey().PublicKey()}
	rows := table{}
	for _, post := range []struct {
		record pushcrypt.DeviceRecord
		user   string
	}{
		{pushcrypt.DeviceRecord{PublicKey: phone.PublicKey(), Device: "phone1", Generation: 1, AppVersion: "2.3.1"}, "alice"},
		{pushcrypt.DeviceRecord{PublicKey: next.PublicKey(), Device: "phone1", Generation: 2}, "bob"},
		{pushcrypt.DeviceRecord{PublicKey: next.PublicKey(), Device: "phone1", Generation: 2}, "alice"},
	} {
		body, _ := json.Marshal(post.record)
		record, err := pushcrypt.ParseDeviceRecord(body)
		if err != nil {
			panic(err)
		}
		accepted, err := pushcrypt.Accept(record, rows, post.user, options)
		if err != nil {
			fmt.Println(pushcrypt.Refusal(err, pushcrypt.Certificate{}).Refused)
			continue
		}
		for _, device := range accepted.Changes {
			rows[device.Device] = device
		}
	}
	fmt.Println(rows["phone1"].User, rows["phone1"].AppVersion, rows["phone1"].PublicKey == next.PublicKey())
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
	sealer, payload, to := must(pushcrypt.NewSealer(provider, topic)), []byte(`{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}},"chat":"c41"}`), phone.Device(topic)
	for count := 0; count < b.N; count++ {
		must(sealer.Seal(payload, to))
	}
}
