package pushcrypt

import "strings"

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// A keyKind is the prefix of a key's text, in the case of the text. [K-4] to [K-6]
type keyKind string

const (
	kindDevicePublic   keyKind = "pcr"
	kindProviderPublic keyKind = "pcs"
	kindDeviceSecret   keyKind = "PCR-SECRET-"
	kindProviderSecret keyKind = "PCS-SECRET-"
	kindSigningSecret  keyKind = "PCK-SECRET-"
	// Keys of suite 2, post-quantum: a provider may hold public ones, and secret ones are refused as what they are.
	kindDevicePublic2 keyKind = "pcrx"
	kindDeviceSecret2 keyKind = "PCRX-SECRET-"
)

var keyKinds = []keyKind{
	kindDevicePublic, kindProviderPublic, kindDeviceSecret, kindProviderSecret, kindSigningSecret, kindDevicePublic2, kindDeviceSecret2,
}

func (kind keyKind) isSecret() bool { return strings.HasSuffix(string(kind), "-") }

// suite1 is the kind of suite 1 in whose place a key may be given.
func (kind keyKind) suite1() keyKind {
	switch kind {
	case kindDevicePublic2:
		return kindDevicePublic
	case kindDeviceSecret2:
		return kindDeviceSecret
	}
	return kind
}

func (kind keyKind) length() int {
	if kind == kindDevicePublic2 {
		return longKeyLength
	}
	return keyLength
}

func readKey(text string, kind keyKind) ([]byte, error) {
	text = strings.TrimSuffix(text, "\n")
	var found keyKind
	for _, other := range keyKinds {
		if strings.HasPrefix(text, string(other)+"1") {
			found = other
		}
	}
	if found == "" {
		return nil, refuse(MalformedKey, "this is not the text of a key; it begins with "+string(kind)+"1")
	}
	if found.suite1() != kind {
		return nil, refuse(WrongKindOfKey, "this is a "+string(found)+"1 key, and a "+string(kind)+"1 key is needed")
	}
	alphabet := bech32Alphabet
	if found.isSecret() {
		alphabet = strings.ToUpper(alphabet)
	}
	text = text[len(found)+1:]
	values := make([]byte, len(text))
	for index := range values {
		value := strings.IndexByte(alphabet, text[index])
		if value < 0 {
			return nil, refuse(MalformedKey, "the key's text has a wrong character; copy it whole")
		}
		values[index] = byte(value)
	}
	count := characters(found.length())
	if len(values) != count+6 {
		return nil, refuse(MalformedKey, "the key's text is too short or too long; copy it whole")
	}
	if polymod(found, values) != 1 {
		return nil, refuse(WrongChecksum, "the key was mistyped or cut; copy it again")
	}
	if values[count-1]&(1<<(5*count-8*found.length())-1) != 0 {
		return nil, refuse(MalformedKey, "the key's text has bits after its end")
	}
	if found == kindDeviceSecret2 {
		return nil, refuse(UnsupportedSuite, "this is a "+string(found)+"1 key, of suite 2, which this package does not open")
	}
	key, bits, rest := make([]byte, 0, found.length()), 0, 0
	for _, value := range values[:count] {
		bits, rest = bits<<5|int(value), rest+5
		if rest >= 8 {
			rest -= 8
			key = append(key, byte(bits>>rest))
			bits &= 1<<rest - 1
		}
	}
	return key, nil
}

// characters returns the number of Bech32 characters for a key of length bytes.
func characters(length int) int { return (8*length + 4) / 5 }

func writeKey(key []byte, kind keyKind) string {
	values, bits, count, most := make([]byte, 0, characters(len(key))+6), 0, 0, characters(len(key))
	for _, value := range append(append([]byte(nil), key...), 0) {
		bits, count = bits<<8|int(value), count+8
		for count >= 5 && len(values) < most {
			count -= 5
			values = append(values, byte(bits>>count&31))
			bits &= 1<<count - 1
		}
	}
	checksum := polymod(kind, append(append([]byte(nil), values...), 0, 0, 0, 0, 0, 0)) ^ 1
	for place := 5; place >= 0; place-- {
		values = append(values, byte(checksum>>(5*place)&31))
	}
	for index, value := range values {
		values[index] = bech32Alphabet[value]
	}
	if kind.isSecret() {
		return string(kind) + "1" + strings.ToUpper(string(values))
	}
	return string(kind) + "1" + string(values)
}

// polymod is the checksum of BIP-173: 1 for a valid text. It is computed over the lower-case form.
func polymod(kind keyKind, values []byte) uint32 {
	checksum := uint32(1)
	add := func(value byte) {
		top := checksum >> 25
		checksum = checksum&0x1FFFFFF<<5 ^ uint32(value)
		for bit, generator := range [5]uint32{0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3} {
			if top>>bit&1 == 1 {
				checksum ^= generator
			}
		}
	}
	prefix := strings.ToLower(string(kind))
	for index := range []byte(prefix) {
		add(prefix[index] >> 5)
	}
	add(0)
	for index := range []byte(prefix) {
		add(prefix[index] & 31)
	}
	for _, value := range values {
		add(value)
	}
	return checksum
}
