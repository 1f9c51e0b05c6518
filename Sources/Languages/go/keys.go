package pushcrypt

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
)

// publicKey is what the kinds of public keys share.
type publicKey struct {
	bytes string
	kind  string
}

func newPublicKey(data []byte, kind string) (publicKey, error) {
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
func parse[K any](text string, kind string, from func([]byte) (K, error)) (key K, err error) {
	data, code, advice := core.ReadKey(text, kind)
	if code != "" {
		return key, refuse(Code(code), advice)
	}
	return from(data)
}

func errWeak() error {
	return refuse(WeakKey, "no honest program makes this public key; find out who sent it")
}

// A DevicePublicKey is what a payload is sealed to: pcr1…, 32 bytes. One of suite 2, pcrx1…, 1,216 bytes, can be held for a device [D-30],
// but this package does not seal to it. Compare keys with ==. The zero value is no key.
type DevicePublicKey struct{ publicKey }

// NewDevicePublicKey creates a key from 32 bytes, or of suite 2 from 1,216 [K-8]. (malformed-key, weak-key)
func NewDevicePublicKey(data []byte) (DevicePublicKey, error) {
	kind := format.PrefixDevicePublic
	if len(data) == format.PostQuantumKeyLength {
		kind = format.PrefixPostQuantumPublic
	}
	key, err := newPublicKey(data, kind)
	return DevicePublicKey{key}, err
}

// ParseDevicePublicKey reads a key's text; one newline at its end is dropped. (malformed-key, wrong-checksum, wrong-kind-of-key, weak-key)
func ParseDevicePublicKey(text string) (DevicePublicKey, error) {
	return parse(text, format.PrefixDevicePublic, NewDevicePublicKey)
}

// Suite returns 1, 2 for pcrx1…, or 0 for the zero value.
func (key DevicePublicKey) Suite() int {
	return map[string]int{format.PrefixDevicePublic: 1, format.PrefixPostQuantumPublic: 2}[key.kind]
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
	key, err := newPublicKey(data, format.PrefixProviderPublic)
	return ProviderPublicKey{key}, err
}

// ParseProviderPublicKey reads a key's text; one newline at its end is dropped. (malformed-key, wrong-checksum, wrong-kind-of-key, weak-key)
func ParseProviderPublicKey(text string) (ProviderPublicKey, error) {
	return parse(text, format.PrefixProviderPublic, NewProviderPublicKey)
}

// UnmarshalText is ParseProviderPublicKey.
func (key *ProviderPublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseProviderPublicKey(string(text))
	return err
}

// secretKey is what the kinds of secret keys share.
type secretKey struct {
	private ed25519.PrivateKey
	kind    string
}

func newSecretKey(seed []byte, kind string) (secretKey, error) {
	if code, advice := core.CheckKey(seed, kind); code != "" {
		return secretKey{}, refuse(Code(code), advice)
	}
	return secretKey{ed25519.NewKeyFromSeed(seed), kind}, nil
}

// PublicKey returns the public half; nil for the zero value.
func (key *secretKey) PublicKey() (public ed25519.PublicKey) {
	if !key.isZero() {
		public, _ = key.private.Public().(ed25519.PublicKey)
	}
	return public
}

// isZero tells whether there is no key.
func (key *secretKey) isZero() bool { return key == nil || key.kind == "" }

// SecretText returns the key's text, as secret as the key; "" for the zero value.
func (key *secretKey) SecretText() string {
	if key.isZero() {
		return ""
	}
	return core.WriteKey(key.private.Seed(), key.kind)
}

// Format prints nothing of the key, whatever the verb.
func (key secretKey) Format(state fmt.State, _ rune) { fmt.Fprint(state, "secret key") }

// A ProviderKey signs certificates and, at epoch 0, messages: PCS-SECRET-1…. It is not printed.
type ProviderKey struct{ secretKey }

// GenerateProviderKey creates a key from the system's random source, and panics if that fails.
func GenerateProviderKey() *ProviderKey {
	return core.Sure(NewProviderKey(core.Random(format.KeyLength)))
}

// NewProviderKey creates a key from its seed, 32 bytes.
func NewProviderKey(seed []byte) (*ProviderKey, error) {
	key, err := newSecretKey(seed, format.PrefixProviderSecret)
	return &ProviderKey{key}, err
}

// ParseProviderKey reads a key's text; one newline at its end is dropped. (malformed-key, wrong-checksum, wrong-kind-of-key)
func ParseProviderKey(text string) (*ProviderKey, error) {
	return parse(text, format.PrefixProviderSecret, NewProviderKey)
}

// PublicKey returns the public half; the zero value for no key.
func (key *ProviderKey) PublicKey() ProviderPublicKey {
	if key == nil || key.isZero() {
		return ProviderPublicKey{}
	}
	return ProviderPublicKey{publicKey{string(key.secretKey.PublicKey()), format.PrefixProviderPublic}}
}

// A SigningKey signs messages by a certificate, and is replaced by another: PCK-SECRET-1…. It is not printed.
type SigningKey struct{ secretKey }

// GenerateSigningKey creates a key from the system's random source, and panics if that fails.
func GenerateSigningKey() *SigningKey {
	return core.Sure(NewSigningKey(core.Random(format.KeyLength)))
}

// NewSigningKey creates a key from its seed, 32 bytes.
func NewSigningKey(seed []byte) (*SigningKey, error) {
	key, err := newSecretKey(seed, format.PrefixSigningSecret)
	return &SigningKey{key}, err
}

// ParseSigningKey reads a key's text; one newline at its end is dropped. (malformed-key, wrong-checksum, wrong-kind-of-key)
func ParseSigningKey(text string) (*SigningKey, error) {
	return parse(text, format.PrefixSigningSecret, NewSigningKey)
}

// A Credential is what signs messages from epoch 1 on: a signing key, its certificate and the provider key. It is not printed.
type Credential struct {
	Key         *SigningKey
	Certificate Certificate
	Provider    ProviderPublicKey
}

// ParseCredential reads a signing key file: the secret key, the certificate and the provider key, a line each.
func ParseCredential(text string) (*Credential, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 3 {
		return nil, refuse(MalformedKey, "a signing key file has three lines: the key, its certificate, the provider key")
	}
	key, err := ParseSigningKey(lines[0])
	if err != nil {
		return nil, err
	}
	certificate, err := ParseCertificate(lines[1])
	if err != nil {
		return nil, err
	}
	provider, err := ParseProviderPublicKey(lines[2])
	return &Credential{key, certificate, provider}, err
}

// SecretText returns the text of the file, as secret as the key; "" if there is none.
func (credential *Credential) SecretText() string {
	if credential == nil || credential.Key == nil {
		return ""
	}
	return credential.Key.SecretText() + "\n" + credential.Certificate.String() + "\n" + credential.Provider.String() + "\n"
}

// Format prints no secret, whatever the verb.
func (credential Credential) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "Credential(%s, epoch %d)", credential.Provider, credential.Certificate.Epoch())
}

// A Key signs a provider's messages: a *ProviderKey at epoch 0, from then on a *Credential.
type Key interface{ signing() (*signing, error) }

// A signing is what signs messages, and whose they are.
type signing struct {
	key         *secretKey
	provider    ProviderPublicKey
	certificate Certificate
	hedge       []byte
}

func errNoKey() error { return refuse(UnusableKey, "there is no key: this is nil or the zero value") }

func newSigning(key *secretKey, provider ProviderPublicKey, certificate Certificate) *signing {
	return &signing{key, provider, certificate, core.HMAC(key.private.Seed(), []byte(format.LabelHedge))}
}

func (key *ProviderKey) signing() (*signing, error) {
	if key == nil || key.isZero() {
		return nil, errNoKey()
	}
	return newSigning(&key.secretKey, key.PublicKey(), Certificate{}), nil
}

func (credential *Credential) signing() (*signing, error) {
	switch {
	case credential == nil || credential.Key == nil || credential.Key.isZero():
		return nil, errNoKey()
	case credential.Certificate.IsZero() || credential.Provider.IsZero():
		return nil, refuse(WrongCertificate, "the credential has no certificate or no provider key")
	case !bytes.Equal(credential.Certificate.SigningKey(), credential.Key.PublicKey()):
		return nil, refuse(WrongCertificate, "the certificate is that of another signing key; install the one made for it")
	}
	return newSigning(&credential.Key.secretKey, credential.Provider, credential.Certificate), nil
}

// signingOf also refuses nil.
func signingOf(key Key) (*signing, error) {
	if key == nil {
		return nil, errNoKey()
	}
	return key.signing()
}

// draw returns a random value that a cloned machine repeats only for the same parts: Docs/Format.md, Randomness.
func (own *signing) draw(label string, parts ...[]byte) []byte {
	return core.HMAC(own.hedge, append([][]byte{[]byte(label), core.Random(32)}, parts...)...)
}
