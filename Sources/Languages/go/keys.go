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
	typeSender   = 0x02
	typeXWing    = 0x03
	typeRecovery = 0x04
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

// A SenderPublicKey is what a phone trusts: pcs1…. Compare keys with ==.
type SenderPublicKey struct{ publicKey }

// NewSenderPublicKey creates a key from 32 bytes [K-7].
func NewSenderPublicKey(data []byte) (SenderPublicKey, error) {
	if err := checkVerifyingKey(data); err != nil {
		return SenderPublicKey{}, err
	}
	return SenderPublicKey{publicKey{*(*[keyLength]byte)(data), keyID(typeSender, data)}}, nil
}

// ParseSenderPublicKey reads a key's text; one newline at its end is dropped.
func ParseSenderPublicKey(text string) (SenderPublicKey, error) {
	data, err := readKey(text, kindSenderPublic)
	if err != nil {
		return SenderPublicKey{}, err
	}
	return NewSenderPublicKey(data)
}

// String returns the key's text.
func (key SenderPublicKey) String() string { return writeKey(key.bytes[:], kindSenderPublic) }

// MarshalText returns the key's text.
func (key SenderPublicKey) MarshalText() ([]byte, error) { return []byte(key.String()), nil }

// UnmarshalText parses a key's text.
func (key *SenderPublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseSenderPublicKey(string(text))
	return err
}

// A RecoveryPublicKey may replace a provider's stolen key: pcv1…. Compare keys with ==.
type RecoveryPublicKey struct{ publicKey }

// NewRecoveryPublicKey creates a key from 32 bytes [K-7].
func NewRecoveryPublicKey(data []byte) (RecoveryPublicKey, error) {
	if err := checkVerifyingKey(data); err != nil {
		return RecoveryPublicKey{}, err
	}
	return RecoveryPublicKey{publicKey{*(*[keyLength]byte)(data), keyID(typeRecovery, data)}}, nil
}

// ParseRecoveryPublicKey reads a key's text; one newline at its end is dropped.
func ParseRecoveryPublicKey(text string) (RecoveryPublicKey, error) {
	data, err := readKey(text, kindRecoveryPublic)
	if err != nil {
		return RecoveryPublicKey{}, err
	}
	return NewRecoveryPublicKey(data)
}

// String returns the key's text.
func (key RecoveryPublicKey) String() string { return writeKey(key.bytes[:], kindRecoveryPublic) }

// MarshalText returns the key's text.
func (key RecoveryPublicKey) MarshalText() ([]byte, error) { return []byte(key.String()), nil }

// UnmarshalText parses a key's text.
func (key *RecoveryPublicKey) UnmarshalText(text []byte) (err error) {
	*key, err = ParseRecoveryPublicKey(string(text))
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

// A SenderKey is a provider's signing key: PCS-SECRET-1…. It is a crypto.Signer, and not printed.
type SenderKey struct {
	private ed25519.PrivateKey
	public  SenderPublicKey
}

// GenerateSenderKey creates a key from the system's random source.
func GenerateSenderKey() (*SenderKey, error) {
	seed, err := randomKey()
	if err != nil {
		return nil, err
	}
	return NewSenderKey(seed)
}

// NewSenderKey creates a key from its seed, 32 bytes.
func NewSenderKey(seed []byte) (*SenderKey, error) {
	if len(seed) != keyLength {
		return nil, refuse(MalformedKey, "a key has 32 bytes")
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, err := NewSenderPublicKey(private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	return &SenderKey{private, public}, nil
}

// ParseSenderKey reads a key's text; one newline at its end is dropped.
func ParseSenderKey(text string) (*SenderKey, error) {
	seed, err := readKey(text, kindSenderSecret)
	if err != nil {
		return nil, err
	}
	return NewSenderKey(seed)
}

// PublicKey returns the public half.
func (key *SenderKey) PublicKey() SenderPublicKey { return key.public }

// Public returns the public half as an ed25519.PublicKey.
func (key *SenderKey) Public() crypto.PublicKey { return ed25519.PublicKey(key.public.Bytes()) }

// Sign signs a message with Ed25519; opts.HashFunc() has to be 0.
func (key *SenderKey) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	return key.private.Sign(random, message, opts)
}

// SecretText returns the key's text, as secret as the key.
func (key *SenderKey) SecretText() string { return writeKey(key.private.Seed(), kindSenderSecret) }

// Format prints the public half, whatever the verb.
func (key SenderKey) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "SenderKey(%s)", key.public)
}

// A RecoveryKey stays offline: PCV-SECRET-1…. It is not printed.
type RecoveryKey struct {
	private ed25519.PrivateKey
	public  RecoveryPublicKey
}

// GenerateRecoveryKey creates a key from the system's random source.
func GenerateRecoveryKey() (*RecoveryKey, error) {
	seed, err := randomKey()
	if err != nil {
		return nil, err
	}
	return NewRecoveryKey(seed)
}

// NewRecoveryKey creates a key from its seed, 32 bytes.
func NewRecoveryKey(seed []byte) (*RecoveryKey, error) {
	if len(seed) != keyLength {
		return nil, refuse(MalformedKey, "a key has 32 bytes")
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, err := NewRecoveryPublicKey(private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	return &RecoveryKey{private, public}, nil
}

// ParseRecoveryKey reads a key's text; one newline at its end is dropped.
func ParseRecoveryKey(text string) (*RecoveryKey, error) {
	seed, err := readKey(text, kindRecoverySecret)
	if err != nil {
		return nil, err
	}
	return NewRecoveryKey(seed)
}

// PublicKey returns the public half.
func (key *RecoveryKey) PublicKey() RecoveryPublicKey { return key.public }

// SecretText returns the key's text, as secret as the key.
func (key *RecoveryKey) SecretText() string { return writeKey(key.private.Seed(), kindRecoverySecret) }

// Format prints the public half, whatever the verb.
func (key RecoveryKey) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "RecoveryKey(%s)", key.public)
}

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

// checkVerifyingKey refuses what [K-7] refuses of sender and recovery keys. With u of the point in Montgomery form, X25519(5L - 1, u) = u
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

// verifies checks a signature by [K-9]. The key is of prime order; Go compares the bytes of R.
func (key publicKey) verifies(signature, message []byte) bool {
	return len(signature) == ed25519.SignatureSize && !bytes.Equal(signature[:32], identity) &&
		ed25519.Verify(key.bytes[:], message, signature)
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
