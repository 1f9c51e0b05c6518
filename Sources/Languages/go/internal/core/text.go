package core

import (
	"strings"

	"example.com/pushcrypt/internal/format"
)

// A Kind is the prefix of a key's text, in the case of the text [K-6].
type Kind string

// The kinds of keys. Those with a 2 are of suite 2.
const (
	DevicePublic   Kind = format.PrefixDevicePublic
	DevicePublic2  Kind = format.PrefixPostQuantumPublic
	ProviderPublic Kind = format.PrefixProviderPublic
	DeviceSecret   Kind = format.PrefixDeviceSecret
	DeviceSecret2  Kind = format.PrefixPostQuantumSecret
	ProviderSecret Kind = format.PrefixProviderSecret
	SigningSecret  Kind = format.PrefixSigningSecret
)

// The kinds, each with the one of suite 1 in whose place it may be given.
var kinds = map[Kind]Kind{
	DevicePublic: DevicePublic, DevicePublic2: DevicePublic, ProviderPublic: ProviderPublic, DeviceSecret: DeviceSecret,
	DeviceSecret2: DeviceSecret, ProviderSecret: ProviderSecret, SigningSecret: SigningSecret,
}

// ReadKey returns a key's bytes, or the code of what is wrong, and what to do [K-4] to [K-6].
func ReadKey(text string, kind Kind) (key []byte, code, advice string) {
	text = strings.TrimSuffix(text, "\n")
	prefix, rest, _ := strings.Cut(text, "1")
	found := Kind(prefix)
	if kinds[found] == "" || len(text) == len(prefix) {
		return nil, "malformed-key", "this is not the text of a key; it begins with " + string(kind) + "1"
	}
	if kinds[found] != kind {
		return nil, "wrong-kind-of-key", "this is a " + prefix + "1 key, and a " + string(kind) + "1 key is needed"
	}
	length := format.KeyLength
	if found == DevicePublic2 {
		length = format.PostQuantumKeyLength
	}
	if len(rest) != (8*length+4)/5+6 {
		return nil, "malformed-key", "the key's text is too short or too long; copy it whole"
	}
	values := []byte(rest)
	for index := range values {
		value := strings.IndexByte(found.inCase(format.KeyAlphabet), values[index])
		if value < 0 {
			return nil, "malformed-key", "the key's text has a wrong character; copy it whole"
		}
		values[index] = byte(value)
	}
	if polymod(found, values) != 1 {
		return nil, "wrong-checksum", "the key was mistyped or cut; copy it again"
	}
	key, padding := regroup(values[:len(values)-6], 5, 8)
	if padding != 0 {
		return nil, "malformed-key", "the key's text has bits after its end"
	}
	if found == DeviceSecret2 {
		return nil, "unsupported-suite", "this is a key of suite 2, which this package does not open"
	}
	return key, "", ""
}

// WriteKey returns a key's text.
func WriteKey(key []byte, kind Kind) string {
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
	return string(kind) + "1" + kind.inCase(string(values))
}

// inCase returns a text in the case of the kind: that of secret keys is upper.
func (kind Kind) inCase(text string) string {
	if strings.HasSuffix(string(kind), "-") {
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
func polymod(kind Kind, values []byte) uint32 {
	prefix := []byte(strings.ToLower(string(kind)))
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
