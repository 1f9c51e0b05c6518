package core

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/big"
	"strings"

	"example.com/pushcrypt/Sources/Languages/go/internal/format"
)

// The kinds of keys, which are the prefixes of their texts, each with the one of suite 1 in whose place it may be given, its length, and its type in a key id.
var kinds = map[string]struct {
	as     string
	length int
	id     byte
}{
	format.PrefixDevicePublic:      {format.PrefixDevicePublic, format.KeyLength, 1},
	format.PrefixPostQuantumPublic: {format.PrefixDevicePublic, format.PostQuantumKeyLength, 3},
	format.PrefixProviderPublic:    {format.PrefixProviderPublic, format.KeyLength, 2},
	format.PrefixDeviceSecret:      {format.PrefixDeviceSecret, format.KeyLength, 0},
	format.PrefixPostQuantumSecret: {format.PrefixDeviceSecret, format.KeyLength, 0},
	format.PrefixProviderSecret:    {format.PrefixProviderSecret, format.KeyLength, 0},
	format.PrefixSigningSecret:     {format.PrefixSigningSecret, format.KeyLength, 0},
}

// Random returns bytes of the system's random source, without which nothing here can go on.
func Random(length int) []byte {
	data := make([]byte, length)
	if _, err := io.ReadFull(rand.Reader, data); err != nil {
		panic("pushcrypt: the system gives no random bytes: " + err.Error())
	}
	return data
}

// Sure returns what cannot fail.
func Sure[T any](value T, _ error) T { return value }

// KeyID returns the id of a public key.
func KeyID(kind string, key string) string {
	hash := sha256.Sum256([]byte(format.LabelKeyID + string(kinds[kind].id) + key))
	return hex.EncodeToString(hash[:format.KeyIDLength])
}

// CheckKey returns the code of what is wrong with a key's bytes, and what to do [K-7], [K-8].
func CheckKey(key []byte, kind string) (code, advice string) {
	isDevice := kinds[kind].as == format.PrefixDevicePublic
	switch {
	case len(key) != kinds[kind].length:
		return "malformed-key", "a key has 32 bytes, or 1,216 in suite 2"
	case isDevice && !isShare(key), kind == format.PrefixProviderPublic && !IsVerifying(key):
		return "weak-key", "no honest program makes this public key; find out who sent it"
	}
	return "", ""
}

// ReadKey returns a key's bytes and its kind, or the code of what is wrong, and what to do [K-4] to [K-6].
func ReadKey(text string, kind string) (key []byte, code, advice string) {
	text = strings.TrimSuffix(text, "\n")
	prefix, rest, _ := strings.Cut(text, "1")
	found, isKind := kinds[prefix]
	if !isKind || len(text) == len(prefix) {
		return nil, "malformed-key", "this is not the text of a key; it begins with " + kind + "1"
	}
	if found.as != kind {
		return nil, "wrong-kind-of-key", "this is a " + prefix + "1 key, and a " + kind + "1 key is needed"
	}
	values, isRight := []byte(rest), len(rest) == (8*found.length+4)/5+6
	for index := range values {
		value := strings.IndexByte(inCase(prefix, format.KeyAlphabet), values[index])
		isRight = isRight && value >= 0
		values[index] = byte(value)
	}
	if !isRight {
		return nil, "malformed-key", "the key's text has a wrong character, or is too short or too long; copy it whole"
	}
	if polymod(prefix, values) != 1 {
		return nil, "wrong-checksum", "the key was mistyped or cut; copy it again"
	}
	key, padding := regroup(values[:len(values)-6], 5, 8)
	if padding != 0 {
		return nil, "malformed-key", "the key's text has bits after its end"
	}
	if prefix == format.PrefixPostQuantumSecret {
		return nil, "unsupported-suite", "this is a key of suite 2, which this package does not open"
	}
	return key, "", ""
}

// WriteKey returns a key's text.
func WriteKey(key []byte, kind string) string {
	values, rest := regroup(key, 8, 5)
	// No key's length is a multiple of five bytes.
	values = append(values, rest)
	checksum := polymod(kind, append(values[:len(values):len(values)], 0, 0, 0, 0, 0, 0)) ^ 1
	for place := 25; place >= 0; place -= 5 {
		values = append(values, byte(checksum>>place&31))
	}
	for index, value := range values {
		values[index] = format.KeyAlphabet[value]
	}
	return kind + "1" + inCase(kind, string(values))
}

// inCase returns a text in the case of the kind: that of secret keys is upper.
func inCase(kind, text string) string {
	if strings.HasSuffix(kind, "-") {
		return strings.ToUpper(text)
	}
	return text
}

// regroup returns the same bits in groups of another size, and the rest, filled up with zero bits.
func regroup(data []byte, from, to int) (groups []byte, rest byte) {
	bits, count := 0, 0
	for _, value := range data {
		bits, count = bits<<from|int(value), count+from
		for count >= to {
			count -= to
			groups = append(groups, byte(bits>>count&(1<<to-1)))
		}
		bits &= 1<<count - 1
	}
	return groups, byte(bits << (to - count))
}

// polymod is the checksum of BIP-173, which is 1 for a valid text. It is computed over the lower-case form.
func polymod(kind string, values []byte) uint32 {
	prefix := []byte(strings.ToLower(kind))
	var all []byte
	for _, c := range prefix {
		all = append(all, c>>5)
	}
	all = append(all, 0)
	for _, c := range prefix {
		all = append(all, c&31)
	}
	checksum := uint32(1)
	for _, value := range append(all, values...) {
		top := checksum >> 25
		checksum = checksum&0x1FFFFFF<<5 ^ uint32(value)
		for bit, generator := range [5]uint32{0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3} {
			checksum ^= generator * (top >> bit & 1)
		}
	}
	return checksum
}

// The field's prime P.
var primeP = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))

// isShare tells whether a device key may be encrypted to [K-8]: a u-coordinate, after the reduced 12-bit numbers of a key for ML-KEM.
func isShare(data []byte) bool {
	u := data[len(data)-format.KeyLength:]
	isRight := isReduced(u) && !isOneOf(format.WeakDeviceKeys, u)
	for at := 0; at+2*format.KeyLength < len(data); at += 3 {
		low, high := int(data[at])|int(data[at+1]&15)<<8, int(data[at+1])>>4|int(data[at+2])<<4
		isRight = isRight && low < format.MlkemModulus && high < format.MlkemModulus
	}
	return isRight
}

// IsVerifying tells whether 32 bytes are an Ed25519 key by [K-7]: not an unreduced coordinate, and not that of a point of small order.
func IsVerifying(data []byte) bool {
	return len(data) == format.KeyLength && isReduced(coordinate(data)) && !isOneOf(format.WeakVerifyingKeys, coordinate(data))
}

// Verifies checks a signature by [K-9]. The key has passed [K-7]; Go compares the bytes of R, and refuses a key that is no point.
func Verifies(key, signature, message []byte) bool {
	return len(key) == ed25519.PublicKeySize && len(signature) == ed25519.SignatureSize &&
		!isOneOf(format.WeakVerifyingKeys, coordinate(signature[:32])) && ed25519.Verify(key, message, signature)
}

// coordinate returns the y-coordinate of an encoded point, without the sign of x.
func coordinate(point []byte) []byte {
	return append(append([]byte(nil), point[:31]...), point[31]&127)
}

func isOneOf(keys []string, data []byte) bool {
	return strings.Contains(strings.Join(keys, " "), hex.EncodeToString(data))
}

// isReduced tells whether 32 bytes, little-endian, are below P.
func isReduced(data []byte) bool {
	flipped := make([]byte, len(data))
	for index, value := range data {
		flipped[len(data)-1-index] = value
	}
	return new(big.Int).SetBytes(flipped).Cmp(primeP) < 0
}
