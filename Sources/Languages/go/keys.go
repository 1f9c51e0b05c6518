package pushcrypt

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"

	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
)

// publicKey is what the kinds of public keys share.
type publicKey struct{ bytes string }

// Bytes returns the bytes of the key.
func (key publicKey) Bytes() []byte { return []byte(key.bytes) }

// IsZero tells whether this is the zero value, which is no key: it has no text, and everything refuses it.
func (key publicKey) IsZero() bool { return key.bytes == "" }

// text returns the text of a key, or of what is none.
func (key publicKey) text(kind core.Kind) string {
	if key.IsZero() {
		return ""
	}
	return core.WriteKey(key.Bytes(), kind)
}

func (key publicKey) marshal(text string) ([]byte, error) {
	if key.IsZero() {
		return nil, refuse(UnusableKey, "there is no key: this is the zero value")
	}
	return []byte(text), nil
}

func (key publicKey) id(kind byte) string {
	id := core.KeyID(kind, key.Bytes())
	return hex.EncodeToString(id[:])
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

func errLength() error { return refuse(MalformedKey, "a key has 32 bytes, or 1,216 in suite 2") }

// A DevicePublicKey is what a payload is sealed to: pcr1…, 32 bytes. One of suite 2, pcrx1…, 1,216 bytes, can be held for a device [D-24],
// but this package does not seal to it. Compare keys with ==. The zero value is no key.
type DevicePublicKey struct{ publicKey }

// NewDevicePublicKey creates a key from 32 bytes, or of suite 2 from 1,216 [K-8].
func NewDevicePublicKey(data []byte) (DevicePublicKey, error) {
	if len(data) != format.KeyLength && len(data) != format.PostQuantumKeyLength {
		return DevicePublicKey{}, errLength()
	}
	start := len(data) - format.KeyLength
	if !core.IsShare(data[start:]) || !core.IsLattice(data[:start]) {
		return DevicePublicKey{}, errWeak()
	}
	return DevicePublicKey{publicKey{string(data)}}, nil
}

// ParseDevicePublicKey reads a key's text; one newline at its end is dropped.
func ParseDevicePublicKey(text string) (DevicePublicKey, error) {
	return parse(text, core.DevicePublic, NewDevicePublicKey)
}

// Suite returns 1, 2 for pcrx1…, or 0 for the zero value.
func (key DevicePublicKey) Suite() int {
	switch len(key.bytes) {
	case format.KeyLength:
		return 1
	case format.PostQuantumKeyLength:
		return 2
	}
	return 0
}

// ID returns the key's id, 8 hexadecimal digits: a hint for people and look-ups, never to be compared instead of the key [K-1].
func (key DevicePublicKey) ID() string {
	if key.Suite() == 2 {
		return key.id(core.TypeXWing)
	}
	return key.id(core.TypeDevice)
}

// String returns the key's text; "" for the zero value.
func (key DevicePublicKey) String() string {
	if key.Suite() == 2 {
		return key.text(core.DevicePublic2)
	}
	return key.text(core.DevicePublic)
}

// MarshalText returns the key's text. It refuses the zero value.
func (key DevicePublicKey) MarshalText() ([]byte, error) { return key.marshal(key.String()) }

// UnmarshalText is ParseDevicePublicKey.
func (key *DevicePublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseDevicePublicKey(string(text))
	return err
}

// A ProviderPublicKey is what a phone pins: pcs1…, 32 bytes. Compare keys with ==. The zero value is no key.
type ProviderPublicKey struct{ publicKey }

// NewProviderPublicKey creates a key from 32 bytes [K-7].
func NewProviderPublicKey(data []byte) (ProviderPublicKey, error) {
	if len(data) != format.KeyLength {
		return ProviderPublicKey{}, errLength()
	}
	if !core.IsVerifying(data) {
		return ProviderPublicKey{}, errWeak()
	}
	return ProviderPublicKey{publicKey{string(data)}}, nil
}

// ParseProviderPublicKey reads a key's text; one newline at its end is dropped.
func ParseProviderPublicKey(text string) (ProviderPublicKey, error) {
	return parse(text, core.ProviderPublic, NewProviderPublicKey)
}

// ID returns the key's id, 8 hexadecimal digits: a hint for people and look-ups, never to be compared instead of the key [K-1].
func (key ProviderPublicKey) ID() string { return key.id(core.TypeProvider) }

// String returns the key's text; "" for the zero value.
func (key ProviderPublicKey) String() string { return key.text(core.ProviderPublic) }

// MarshalText returns the key's text. It refuses the zero value.
func (key ProviderPublicKey) MarshalText() ([]byte, error) { return key.marshal(key.String()) }

// UnmarshalText is ParseProviderPublicKey.
func (key *ProviderPublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseProviderPublicKey(string(text))
	return err
}

// secretKey is what the kinds of secret keys share: crypto.Signer.
type secretKey struct {
	private ed25519.PrivateKey
	kind    core.Kind
}

func newSecretKey(seed []byte, kind core.Kind) (secretKey, error) {
	if len(seed) != format.KeyLength {
		return secretKey{}, errLength()
	}
	return secretKey{ed25519.NewKeyFromSeed(seed), kind}, nil
}

// Public returns the public half, an ed25519.PublicKey; nil for the zero value.
func (key *secretKey) Public() crypto.PublicKey {
	if len(key.private) == 0 {
		return nil
	}
	return key.private.Public()
}

// Sign signs a message with Ed25519; opts.HashFunc() has to be 0.
func (key *secretKey) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if len(key.private) == 0 {
		return nil, refuse(UnusableKey, "there is no key: this is the zero value")
	}
	return key.private.Sign(random, message, opts)
}

// SecretText returns the key's text, as secret as the key; "" for the zero value.
func (key *secretKey) SecretText() string {
	if len(key.private) == 0 {
		return ""
	}
	return core.WriteKey(key.private.Seed(), key.kind)
}

// Format prints nothing of the key, whatever the verb.
func (key secretKey) Format(state fmt.State, _ rune) { fmt.Fprint(state, "secret key") }

// A ProviderKey signs certificates and, at epoch 0, messages: PCS-SECRET-1…. It is a crypto.Signer, and not printed.
type ProviderKey struct{ secretKey }

// GenerateProviderKey creates a key from the system's random source.
func GenerateProviderKey() (*ProviderKey, error) { return generate(NewProviderKey) }

// NewProviderKey creates a key from its seed, 32 bytes.
func NewProviderKey(seed []byte) (*ProviderKey, error) {
	key, err := newSecretKey(seed, core.ProviderSecret)
	if err != nil {
		return nil, err
	}
	return &ProviderKey{key}, nil
}

// ParseProviderKey reads a key's text; one newline at its end is dropped.
func ParseProviderKey(text string) (*ProviderKey, error) {
	return parse(text, core.ProviderSecret, NewProviderKey)
}

// PublicKey returns the public half.
func (key *ProviderKey) PublicKey() ProviderPublicKey {
	public, _ := key.Public().(ed25519.PublicKey)
	return ProviderPublicKey{publicKey{string(public)}}
}

// A SigningKey signs messages by a certificate, and is replaced by another: PCK-SECRET-1…. It is a crypto.Signer, and not printed.
type SigningKey struct{ secretKey }

// GenerateSigningKey creates a key from the system's random source.
func GenerateSigningKey() (*SigningKey, error) { return generate(NewSigningKey) }

// NewSigningKey creates a key from its seed, 32 bytes.
func NewSigningKey(seed []byte) (*SigningKey, error) {
	key, err := newSecretKey(seed, core.SigningSecret)
	if err != nil {
		return nil, err
	}
	return &SigningKey{key}, nil
}

// ParseSigningKey reads a key's text; one newline at its end is dropped.
func ParseSigningKey(text string) (*SigningKey, error) {
	return parse(text, core.SigningSecret, NewSigningKey)
}

// PublicKey returns the public half, for a certificate.
func (key *SigningKey) PublicKey() ed25519.PublicKey {
	public, _ := key.Public().(ed25519.PublicKey)
	return public
}

func generate[K any](from func([]byte) (K, error)) (key K, err error) {
	seed, err := random(format.KeyLength)
	if err != nil {
		return key, err
	}
	return from(seed)
}

func random(length int) ([]byte, error) {
	data := make([]byte, length)
	_, err := io.ReadFull(rand.Reader, data)
	return data, err
}
