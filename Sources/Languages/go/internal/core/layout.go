// Package core is what sealing and opening share: Docs/Format.md.
package core

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/curve25519"

	"example.com/pushcrypt/Sources/Languages/go/internal/format"
)

const (
	// SuiteX25519 is the first byte of an envelope, in hexadecimal digits.
	SuiteX25519 = "01"
	// Never is the end of what does not end.
	Never = math.MaxUint64
)

var topicPattern = regexp.MustCompile(`^[A-Za-z0-9.-]{1,255}$`)

// IsTopic is [K-2].
func IsTopic(topic string) bool { return topicPattern.MatchString(topic) }

// IsLabel tells whether a text has 1 to so many bytes of UTF-8, and no control characters.
func IsLabel(text string, longest int) bool {
	return 1 <= len(text) && len(text) <= longest && utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}

// AppendText is lp16.
func AppendText(data []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint16(data, uint16(len(text))), text...)
}

// EnvelopeInfo is HPKE's info.
func EnvelopeInfo(header []byte, topic string) []byte {
	return AppendText(append([]byte(format.LabelEnvelope), header...), topic)
}

// SignedMessage is what the signing key signs, at epoch 0 the provider key. The content is the inner plaintext from the kind on.
func SignedMessage(header, enc, recipient, provider, signing []byte, epoch uint32, topic string, content []byte) []byte {
	data := append(append(append([]byte(format.LabelSignature), header...), enc...), recipient...)
	data = binary.BigEndian.AppendUint32(append(append(data, provider...), signing...), epoch)
	hash := sha256.Sum256(content)
	return append(AppendText(data, topic), hash[:]...)
}

// NamedMessageID returns the id of a message that its caller named.
func NamedMessageID(name string) [16]byte {
	hash := sha256.Sum256([]byte(format.LabelCallerID + name))
	return *(*[16]byte)(hash[:16])
}

// Later adds seconds to milliseconds; the sum is at most the largest 64-bit time [K-3].
func Later(time uint64, seconds uint64) uint64 {
	if sum := time + 1000*seconds; sum >= time {
		return sum
	}
	return Never
}

// Now is the system's clock. Tests replace it.
var Now = time.Now

// TimeOrNow returns a caller's time in milliseconds, or the present one for the zero value; or the code of what is wrong, and what to do. A time that
// is more than a day from the system's is a mistake.
func TimeOrNow(at time.Time) (milliseconds uint64, code, advice string) {
	now, ok := Milliseconds(Now())
	if !ok || now > format.LargestTime {
		return 0, "invalid-time", "the system's clock is before 1970 or far ahead; set it"
	}
	if at.IsZero() {
		return now, "", ""
	}
	given, ok := Milliseconds(at)
	if !ok {
		return 0, "invalid-time", "the time is before 1970"
	}
	const day, year = 86_400_000, 366 * 86_400_000
	away := apart(now, given)
	guess := "or set this machine's clock"
	switch {
	case away <= day:
		return given, "", ""
	case given < now && apart(now, 1000*given) < year:
		guess = "seconds were taken for milliseconds; use time.Unix"
	case given > now && apart(now, given/1000) < year:
		guess = "milliseconds were taken for seconds; use time.UnixMilli"
	}
	return 0, "implausible-time", fmt.Sprintf("the time is %d days from the clock: %s", away/day, guess)
}

// Largest returns the larger of two.
func Largest(a, b uint64) uint64 {
	if a > b {
		return a
	}
	return b
}

// apart returns the difference of two.
func apart(a, b uint64) uint64 { return 2*Largest(a, b) - a - b }

// Milliseconds returns a time, the present one for the zero value; false for one before 1970. time.Time has all of the format's.
func Milliseconds(at time.Time) (uint64, bool) {
	if at.IsZero() {
		at = Now()
	}
	seconds := at.Unix()
	if seconds > Never/1000 {
		return Never, true
	}
	return uint64(seconds)*1000 + uint64(at.Nanosecond())/1_000_000, seconds >= 0
}

// Time returns the time of milliseconds.
func Time(milliseconds uint64) time.Time {
	return time.Unix(int64(milliseconds/1000), int64(milliseconds%1000)*1_000_000)
}

// Encode returns base64url without padding.
func Encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// Decode reads canonical base64url; nil for anything else. encoding/base64 skips line ends.
func Decode(text string) []byte {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil
	}
	return data
}

// ChunkNonce is the number of a file's chunk in 11 bytes, and whether it is the last.
func ChunkNonce(number uint64, isLast bool) []byte {
	nonce := binary.BigEndian.AppendUint64(make([]byte, 3, 12), number)
	if isLast {
		return append(nonce, 1)
	}
	return append(nonce, 0)
}

// IsFileSize is: the last chunk is empty only if it is the first.
func IsFileSize(size uint64) bool {
	if size < format.SmallestFile || size > format.LargestTime {
		return false
	}
	last := (size - uint64(len(format.FileHeader))) % format.SealedChunk
	return size == format.SmallestFile || last == 0 || last > format.SealedChunk-format.PlainChunk
}

// HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.

// The mode, 0 for base, and the hash of the empty psk_id.
var pskIDHash = append([]byte{0}, labeledExtract(nil, format.HPKEPskIDHash, nil)...)

// SetupS returns enc, and what encrypts one message without associated data, with its nonce.
func SetupS(recipient, info, ikmE []byte) (enc []byte, aead cipher.AEAD, nonce []byte, err error) {
	secret := labeledExpand(labeledExtract(nil, format.HPKEDkpPrk, ikmE), format.HPKESk)
	if enc, err = curve25519.X25519(secret, curve25519.Basepoint); err != nil {
		return nil, nil, nil, err
	}
	aead, nonce, err = Setup(secret, recipient, enc, recipient, info)
	return enc, aead, nonce, err
}

// Setup is also for the phone of tests, with enc as received for the KEM context [O-4.1]. It fails for an all-zero result of X25519 [O-4.2], which the package curve25519 refuses.
func Setup(secret, public, enc, recipient, info []byte) (cipher.AEAD, []byte, error) {
	dh, err := curve25519.X25519(secret, public)
	if err != nil {
		return nil, nil, err
	}
	shared := labeledExpand(labeledExtract(nil, format.HPKEEaePrk, dh), format.HPKESharedSecret, enc, recipient)
	infoHash := labeledExtract(nil, format.HPKEInfoHash, info)
	key := labeledExtract(shared, format.HPKESecret, nil)
	aead, err := chacha20poly1305.New(labeledExpand(key, format.HPKEKey, pskIDHash, infoHash))
	return aead, labeledExpand(key, format.HPKEBaseNonce, pskIDHash, infoHash)[:chacha20poly1305.NonceSize], err
}

// labeledExtract: for HMAC an empty salt and 32 zero bytes are the same key. The label has the suite in it.
func labeledExtract(salt []byte, label string, ikm []byte) []byte {
	return HMAC(salt, []byte(label), ikm)
}

// labeledExpand returns the first block of HKDF-Expand, 32 bytes. The label has the length and the suite in it.
func labeledExpand(prk []byte, label string, info ...[]byte) []byte {
	return HMAC(prk, append(append([][]byte{[]byte(label)}, info...), []byte{1})...)
}

// HMAC is HMAC-SHA256 over parts.
func HMAC(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
