package pushcrypt

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"

	"golang.org/x/crypto/curve25519"
)

// The lengths of a key, of a public key of suite 2, and of its half for ML-KEM.
const (
	keyLength     = 32
	longKeyLength = 1216
	latticeLength = longKeyLength - keyLength
)

// ML-KEM's modulus: every coefficient in a key is below it.
const mlkemQ = 3329

// Types of keys in a key id.
const (
	typeDevice   = 0x01
	typeProvider = 0x02
	typeXWing    = 0x03
)

func keyID(kind byte, key []byte) [4]byte {
	hash := sha256.New()
	hash.Write([]byte("pushcrypt/1 key id\x00"))
	hash.Write([]byte{kind})
	hash.Write(key)
	return *(*[4]byte)(hash.Sum(nil))
}

// publicKey is what the kinds of public keys share. It is comparable.
type publicKey struct {
	bytes [keyLength]byte
	id    [4]byte
}

// Bytes returns the 32 bytes of the key.
func (key publicKey) Bytes() []byte { return append([]byte(nil), key.bytes[:]...) }

// ID returns the key's id, 8 hexadecimal digits: a hint for people and look-ups, never to be compared instead of the key [K-1].
func (key publicKey) ID() string { return hex.EncodeToString(key.id[:]) }

func (key publicKey) isZero() bool { return key.bytes == [keyLength]byte{} }

// A DevicePublicKey is what a payload is sealed to: pcr1…. One of suite 2, pcrx1…, can be held for a device [D-24], but this package does
// not seal to it. Compare keys with ==.
type DevicePublicKey struct {
	// The last 32 bytes of a key of suite 2.
	publicKey
	// lattice is what comes before them, for ML-KEM; empty in suite 1.
	lattice string
}

// NewDevicePublicKey creates a key from 32 bytes, or of suite 2 from 1,216 [K-8].
func NewDevicePublicKey(data []byte) (DevicePublicKey, error) {
	kind, start := byte(typeDevice), 0
	switch len(data) {
	case keyLength:
	case longKeyLength:
		kind, start = typeXWing, latticeLength
	default:
		return DevicePublicKey{}, refuse(MalformedKey, "a key has 32 bytes, or 1,216 in suite 2")
	}
	u := littleEndian(data[start:])
	if u.Cmp(primeP) >= 0 || isSmallOrder(u) || !isLattice(data[:start]) {
		return DevicePublicKey{}, errWeak()
	}
	return DevicePublicKey{publicKey{*(*[keyLength]byte)(data[start:]), keyID(kind, data)}, string(data[:start])}, nil
}

// isLattice reports whether ML-KEM's 12-bit coefficients are reduced.
func isLattice(data []byte) bool {
	for at := 0; at+keyLength < len(data); at += 3 {
		low, high := int(data[at])|int(data[at+1]&15)<<8, int(data[at+1])>>4|int(data[at+2])<<4
		if low >= mlkemQ || high >= mlkemQ {
			return false
		}
	}
	return true
}

// Suite returns 1, or 2 for pcrx1….
func (key DevicePublicKey) Suite() uint8 {
	if key.lattice == "" {
		return 1
	}
	return 2
}

// Bytes returns the 32 bytes of the key, or 1,216 in suite 2.
func (key DevicePublicKey) Bytes() []byte { return append([]byte(key.lattice), key.bytes[:]...) }

// ParseDevicePublicKey reads a key's text; one newline at its end is dropped.
func ParseDevicePublicKey(text string) (DevicePublicKey, error) {
	data, err := readKey(text, kindDevicePublic)
	if err != nil {
		return DevicePublicKey{}, err
	}
	return NewDevicePublicKey(data)
}

// String returns the key's text.
func (key DevicePublicKey) String() string {
	if key.Suite() != suiteNumber {
		return writeKey(key.Bytes(), kindDevicePublic2)
	}
	return writeKey(key.bytes[:], kindDevicePublic)
}

// MarshalText returns the key's text.
func (key DevicePublicKey) MarshalText() ([]byte, error) { return []byte(key.String()), nil }

// UnmarshalText parses a key's text.
func (key *DevicePublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseDevicePublicKey(string(text))
	return err
}

// A ProviderPublicKey is what a phone pins: pcs1…. Compare keys with ==.
type ProviderPublicKey struct{ publicKey }

// NewProviderPublicKey creates a key from 32 bytes [K-7].
func NewProviderPublicKey(data []byte) (ProviderPublicKey, error) {
	if err := checkVerifyingKey(data); err != nil {
		return ProviderPublicKey{}, err
	}
	return ProviderPublicKey{publicKey{*(*[keyLength]byte)(data), keyID(typeProvider, data)}}, nil
}

// ParseProviderPublicKey reads a key's text; one newline at its end is dropped.
func ParseProviderPublicKey(text string) (ProviderPublicKey, error) {
	data, err := readKey(text, kindProviderPublic)
	if err != nil {
		return ProviderPublicKey{}, err
	}
	return NewProviderPublicKey(data)
}

// String returns the key's text.
func (key ProviderPublicKey) String() string { return writeKey(key.bytes[:], kindProviderPublic) }

// MarshalText returns the key's text.
func (key ProviderPublicKey) MarshalText() ([]byte, error) { return []byte(key.String()), nil }

// UnmarshalText parses a key's text.
func (key *ProviderPublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseProviderPublicKey(string(text))
	return err
}

// A DeviceKey is a device's secret key: PCR-SECRET-1…. It is not printed.
type DeviceKey struct {
	secret [keyLength]byte
	public DevicePublicKey
}

// GenerateDeviceKey creates a key from the system's random source.
func GenerateDeviceKey() (*DeviceKey, error) {
	secret, err := randomKey()
	if err != nil {
		return nil, err
	}
	return NewDeviceKey(secret)
}

// NewDeviceKey creates a key from 32 bytes.
func NewDeviceKey(secret []byte) (*DeviceKey, error) {
	if len(secret) != keyLength {
		return nil, refuse(MalformedKey, "a key has 32 bytes")
	}
	data, err := curve25519.X25519(secret, curve25519.Basepoint)
	if err != nil {
		return nil, errWeak()
	}
	public, err := NewDevicePublicKey(data)
	if err != nil {
		return nil, err
	}
	return &DeviceKey{*(*[keyLength]byte)(secret), public}, nil
}

// ParseDeviceKey reads a key's text; one newline at its end is dropped.
func ParseDeviceKey(text string) (*DeviceKey, error) {
	secret, err := readKey(text, kindDeviceSecret)
	if err != nil {
		return nil, err
	}
	return NewDeviceKey(secret)
}

// PublicKey returns the public half.
func (key *DeviceKey) PublicKey() DevicePublicKey { return key.public }

// SecretText returns the key's text, as secret as the key.
func (key *DeviceKey) SecretText() string { return writeKey(key.secret[:], kindDeviceSecret) }

// Format prints the public half, whatever the verb.
func (key DeviceKey) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "DeviceKey(%s)", key.public)
}

// A ProviderKey signs certificates and, at epoch 0, messages: PCS-SECRET-1…. It is a crypto.Signer, and not printed.
type ProviderKey struct {
	private ed25519.PrivateKey
	public  ProviderPublicKey
}

// GenerateProviderKey creates a key from the system's random source.
func GenerateProviderKey() (*ProviderKey, error) {
	seed, err := randomKey()
	if err != nil {
		return nil, err
	}
	return NewProviderKey(seed)
}

// NewProviderKey creates a key from its seed, 32 bytes.
func NewProviderKey(seed []byte) (*ProviderKey, error) {
	if len(seed) != keyLength {
		return nil, refuse(MalformedKey, "a key has 32 bytes")
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, err := NewProviderPublicKey(private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	return &ProviderKey{private, public}, nil
}

// ParseProviderKey reads a key's text; one newline at its end is dropped.
func ParseProviderKey(text string) (*ProviderKey, error) {
	seed, err := readKey(text, kindProviderSecret)
	if err != nil {
		return nil, err
	}
	return NewProviderKey(seed)
}

// PublicKey returns the public half.
func (key *ProviderKey) PublicKey() ProviderPublicKey { return key.public }

// Public returns the public half as an ed25519.PublicKey.
func (key *ProviderKey) Public() crypto.PublicKey { return ed25519.PublicKey(key.public.Bytes()) }

// Sign signs a message with Ed25519; opts.HashFunc() has to be 0.
func (key *ProviderKey) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	return key.private.Sign(random, message, opts)
}

// SecretText returns the key's text, as secret as the key.
func (key *ProviderKey) SecretText() string { return writeKey(key.private.Seed(), kindProviderSecret) }

// Format prints the public half, whatever the verb.
func (key ProviderKey) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "ProviderKey(%s)", key.public)
}

// A SigningKey signs messages by a certificate, and is replaced by another: PCK-SECRET-1…. It is a crypto.Signer, and not printed.
type SigningKey struct{ private ed25519.PrivateKey }

// GenerateSigningKey creates a key from the system's random source.
func GenerateSigningKey() (*SigningKey, error) {
	seed, err := randomKey()
	if err != nil {
		return nil, err
	}
	return NewSigningKey(seed)
}

// NewSigningKey creates a key from its seed, 32 bytes.
func NewSigningKey(seed []byte) (*SigningKey, error) {
	if len(seed) != keyLength {
		return nil, refuse(MalformedKey, "a key has 32 bytes")
	}
	return &SigningKey{ed25519.NewKeyFromSeed(seed)}, nil
}

// ParseSigningKey reads a key's text; one newline at its end is dropped.
func ParseSigningKey(text string) (*SigningKey, error) {
	seed, err := readKey(text, kindSigningSecret)
	if err != nil {
		return nil, err
	}
	return NewSigningKey(seed)
}

// Public returns the public half, an ed25519.PublicKey.
func (key *SigningKey) Public() crypto.PublicKey { return key.private.Public() }

// Sign signs a message with Ed25519; opts.HashFunc() has to be 0.
func (key *SigningKey) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	return key.private.Sign(random, message, opts)
}

// SecretText returns the key's text, as secret as the key.
func (key *SigningKey) SecretText() string { return writeKey(key.private.Seed(), kindSigningSecret) }

// Format prints nothing of the key, whatever the verb.
func (key SigningKey) Format(state fmt.State, _ rune) { fmt.Fprint(state, "SigningKey") }

func randomKey() ([]byte, error) {
	key := make([]byte, keyLength)
	_, err := io.ReadFull(rand.Reader, key)
	return key, err
}

// The field's prime P, and 5L - 1, where L is the order of the curve's large subgroup.
var (
	primeP, _  = new(big.Int).SetString("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed", 16)
	orderL, _  = new(big.Int).SetString("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed", 16)
	fiveL1     = reversed(new(big.Int).Sub(new(big.Int).Mul(orderL, big.NewInt(5)), big.NewInt(1)))
	smallOrder = []*big.Int{
		big.NewInt(0), big.NewInt(1), hexLittleEndian("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
		hexLittleEndian("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"), new(big.Int).Sub(primeP, big.NewInt(1)),
	}
	// The encoding of the identity.
	identity = append([]byte{1}, make([]byte, 31)...)
)

func isSmallOrder(u *big.Int) bool {
	for _, other := range smallOrder {
		if u.Cmp(other) == 0 {
			return true
		}
	}
	return false
}

// checkVerifyingKey refuses what [K-7] refuses of provider and signing keys. With u of the point in Montgomery form, X25519(5L - 1, u) = u
// exactly for a point of order L; a y of no point gives one of the twist, which has none of that order.
func checkVerifyingKey(data []byte) error {
	if len(data) != keyLength {
		return refuse(MalformedKey, "a key has 32 bytes")
	}
	y := littleEndian(data)
	y.SetBit(y, 255, 0)
	one := big.NewInt(1)
	if y.Cmp(primeP) >= 0 || y.Cmp(one) == 0 {
		return errWeak()
	}
	u := new(big.Int).Sub(one, y)
	u.Mod(u, primeP).ModInverse(u, primeP).Mul(u, y.Add(y, one)).Mod(u, primeP)
	if isSmallOrder(u) {
		return errWeak()
	}
	encoded := reversed(u)
	product, err := curve25519.X25519(fiveL1, encoded)
	if err != nil || !bytes.Equal(product, encoded) {
		return errWeak()
	}
	return nil
}

func errWeak() error {
	return refuse(WeakKey, "no honest program makes this public key; find out who sent it")
}

// verifies checks a signature by [K-9]. The key has passed [K-7]; Go compares the bytes of R.
func verifies(key, signature, message []byte) bool {
	return len(signature) == ed25519.SignatureSize && !bytes.Equal(signature[:32], identity) && ed25519.Verify(key, message, signature)
}

func littleEndian(data []byte) *big.Int {
	flipped := make([]byte, len(data))
	for index, value := range data {
		flipped[len(data)-1-index] = value
	}
	return new(big.Int).SetBytes(flipped)
}

func hexLittleEndian(digits string) *big.Int {
	data, _ := hex.DecodeString(digits)
	return littleEndian(data)
}

// reversed returns a number in 32 bytes, little-endian.
func reversed(number *big.Int) []byte {
	data := number.FillBytes(make([]byte, keyLength))
	for low, high := 0, len(data)-1; low < high; low, high = low+1, high-1 {
		data[low], data[high] = data[high], data[low]
	}
	return data
}
