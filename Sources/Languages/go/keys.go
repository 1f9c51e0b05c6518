package pushcrypt

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"

	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
)

// publicKey is what the kinds of public keys share.
type publicKey struct {
	bytes string
	kind  core.Kind
}

func newPublicKey(data []byte, kind core.Kind) (publicKey, error) {
	if code, advice := core.CheckKey(data, kind); code != "" {
		return publicKey{}, refuse(Code(code), advice)
	}
	return publicKey{string(data), kind}, nil
}

// Bytes returns the bytes of the key.
func (key publicKey) Bytes() []byte { return []byte(key.bytes) }

// IsZero tells whether this is the zero value, which is no key: it has no text, and everything refuses it.
func (key publicKey) IsZero() bool { return key.bytes == "" }

// ID returns the key's id, 8 hexadecimal digits: a hint for people and look-ups, never to be compared instead of the key [K-1].
func (key publicKey) ID() string { return core.KeyID(key.kind, key.bytes) }

// String returns the key's text; "" for the zero value.
func (key publicKey) String() string {
	if key.IsZero() {
		return ""
	}
	return core.WriteKey(key.Bytes(), key.kind)
}

// MarshalText returns the key's text. It refuses the zero value.
func (key publicKey) MarshalText() ([]byte, error) {
	if key.IsZero() {
		return nil, refuse(UnusableKey, "there is no key: this is the zero value")
	}
	return []byte(key.String()), nil
}

// parse reads a key's text.
func parse[K any](text string, kind core.Kind, from func([]byte) (K, error)) (key K, err error) {
	data, code, advice := core.ReadKey(text, kind)
	if code != "" {
		return key, refuse(Code(code), advice)
	}
	return from(data)
}

func errWeak() error {
	return refuse(WeakKey, "no honest program makes this public key; find out who sent it")
}

// A DevicePublicKey is what a payload is sealed to: pcr1…, 32 bytes. One of suite 2, pcrx1…, 1,216 bytes, can be held for a device [D-24],
// but this package does not seal to it. Compare keys with ==. The zero value is no key.
type DevicePublicKey struct{ publicKey }

// NewDevicePublicKey creates a key from 32 bytes, or of suite 2 from 1,216 [K-8]. (malformed-key, weak-key)
func NewDevicePublicKey(data []byte) (DevicePublicKey, error) {
	kind := core.DevicePublic
	if len(data) == format.PostQuantumKeyLength {
		kind = core.DevicePublic2
	}
	key, err := newPublicKey(data, kind)
	return DevicePublicKey{key}, err
}

// ParseDevicePublicKey reads a key's text; one newline at its end is dropped. (malformed-key, wrong-checksum, wrong-kind-of-key, weak-key)
func ParseDevicePublicKey(text string) (DevicePublicKey, error) {
	return parse(text, core.DevicePublic, NewDevicePublicKey)
}

// Suite returns 1, 2 for pcrx1…, or 0 for the zero value.
func (key DevicePublicKey) Suite() int {
	return map[core.Kind]int{core.DevicePublic: 1, core.DevicePublic2: 2}[key.kind]
}

// UnmarshalText is ParseDevicePublicKey.
func (key *DevicePublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseDevicePublicKey(string(text))
	return err
}

// A ProviderPublicKey is what a phone pins: pcs1…, 32 bytes. Compare keys with ==. The zero value is no key.
type ProviderPublicKey struct{ publicKey }

// NewProviderPublicKey creates a key from 32 bytes [K-7]. (malformed-key, weak-key)
func NewProviderPublicKey(data []byte) (ProviderPublicKey, error) {
	key, err := newPublicKey(data, core.ProviderPublic)
	return ProviderPublicKey{key}, err
}

// ParseProviderPublicKey reads a key's text; one newline at its end is dropped. (malformed-key, wrong-checksum, wrong-kind-of-key, weak-key)
func ParseProviderPublicKey(text string) (ProviderPublicKey, error) {
	return parse(text, core.ProviderPublic, NewProviderPublicKey)
}

// UnmarshalText is ParseProviderPublicKey.
func (key *ProviderPublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseProviderPublicKey(string(text))
	return err
}

// secretKey is what the kinds of secret keys share.
type secretKey struct {
	private ed25519.PrivateKey
	kind    core.Kind
}

func newSecretKey(seed []byte, kind core.Kind) (secretKey, error) {
	if code, advice := core.CheckKey(seed, kind); code != "" {
		return secretKey{}, refuse(Code(code), advice)
	}
	return secretKey{ed25519.NewKeyFromSeed(seed), kind}, nil
}

// Public returns the public half, an ed25519.PublicKey; nil for the zero value.
func (key *secretKey) Public() crypto.PublicKey {
	if key.kind == "" {
		return nil
	}
	return key.private.Public()
}

// Sign signs a message with Ed25519; opts.HashFunc() has to be 0.
func (key *secretKey) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if key.kind == "" {
		return nil, refuse(UnusableKey, "there is no key: this is the zero value")
	}
	return key.private.Sign(random, message, opts)
}

// SecretText returns the key's text, as secret as the key; "" for the zero value.
func (key *secretKey) SecretText() string {
	if key.kind == "" {
		return ""
	}
	return core.WriteKey(key.private.Seed(), key.kind)
}

// Format prints nothing of the key, whatever the verb.
func (key secretKey) Format(state fmt.State, _ rune) { fmt.Fprint(state, "secret key") }

// A ProviderKey signs certificates and, at epoch 0, messages: PCS-SECRET-1…. It is a crypto.Signer, and not printed.
type ProviderKey struct{ secretKey }

// GenerateProviderKey creates a key from the system's random source.
func GenerateProviderKey() (*ProviderKey, error) { return NewProviderKey(random(format.KeyLength)) }

// NewProviderKey creates a key from its seed, 32 bytes.
func NewProviderKey(seed []byte) (*ProviderKey, error) {
	key, err := newSecretKey(seed, core.ProviderSecret)
	return &ProviderKey{key}, err
}

// ParseProviderKey reads a key's text; one newline at its end is dropped. (malformed-key, wrong-checksum, wrong-kind-of-key)
func ParseProviderKey(text string) (*ProviderKey, error) {
	return parse(text, core.ProviderSecret, NewProviderKey)
}

// PublicKey returns the public half.
func (key *ProviderKey) PublicKey() ProviderPublicKey {
	public, _ := key.Public().(ed25519.PublicKey)
	return ProviderPublicKey{publicKey{string(public), core.ProviderPublic}}
}

// A SigningKey signs messages by a certificate, and is replaced by another: PCK-SECRET-1…. It is a crypto.Signer, and not printed.
type SigningKey struct{ secretKey }

// GenerateSigningKey creates a key from the system's random source.
func GenerateSigningKey() (*SigningKey, error) { return NewSigningKey(random(format.KeyLength)) }

// NewSigningKey creates a key from its seed, 32 bytes.
func NewSigningKey(seed []byte) (*SigningKey, error) {
	key, err := newSecretKey(seed, core.SigningSecret)
	return &SigningKey{key}, err
}

// ParseSigningKey reads a key's text; one newline at its end is dropped. (malformed-key, wrong-checksum, wrong-kind-of-key)
func ParseSigningKey(text string) (*SigningKey, error) {
	return parse(text, core.SigningSecret, NewSigningKey)
}

// PublicKey returns the public half, for a certificate.
func (key *SigningKey) PublicKey() ed25519.PublicKey {
	public, _ := key.Public().(ed25519.PublicKey)
	return public
}

// random returns bytes of the system's random source, without which nothing here can go on.
func random(length int) []byte {
	data := make([]byte, length)
	if _, err := io.ReadFull(rand.Reader, data); err != nil {
		panic("pushcrypt: the system gives no random bytes: " + err.Error())
	}
	return data
}
