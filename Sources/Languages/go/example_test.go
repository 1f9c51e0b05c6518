package pushcrypt_test

import (
	"errors"
	"fmt"
	"time"

	"example.com/pushcrypt"
)

// A provider seals, a phone opens.
func Example() {
	provider, _ := pushcrypt.GenerateProviderKey()
	phone, _ := pushcrypt.GenerateDeviceKey()

	sealer, err := pushcrypt.NewSealer(provider, "com.example.app", pushcrypt.Placeholder{})
	if err != nil {
		panic(err)
	}
	push, err := sealer.Seal([]byte(`{"aps":{"alert":"Hello"}}`), phone.PublicKey(), pushcrypt.WithName("hello-1"))
	if err != nil {
		panic(err)
	}

	trust, _ := pushcrypt.NewTrust([]pushcrypt.ProviderPublicKey{provider.PublicKey()}, nil)
	receiver := pushcrypt.Receiver{Topic: "com.example.app", Keys: []pushcrypt.HeldKey{{Key: phone}}, Trust: trust}
	opened, err := receiver.Open(push.Payload, time.Time{})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(opened.Payload))
	// Output: {"aps":{"alert":"Hello"}}
}

// What is refused has a code.
func ExampleError() {
	provider, _ := pushcrypt.GenerateProviderKey()
	phone, _ := pushcrypt.GenerateDeviceKey()
	sealer, _ := pushcrypt.NewSealer(provider, "com.example.app", pushcrypt.Placeholder{})
	_, err := sealer.Seal([]byte(`{"alert":"Hello"}`), phone.PublicKey())
	fmt.Println(errors.Is(err, pushcrypt.MissingAPS), err)
	// Output: true missing-aps: the payload has no aps object; a push without one is never shown
}
