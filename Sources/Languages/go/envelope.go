package pushcrypt

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"time"
)

// The layout of an envelope: Docs/Format.md, Envelope, Construction, Inner plaintext and Times.
const (
	suiteX25519       = 0x01
	outsideLength     = 53
	contentOffset     = 68
	bodyOffset        = 99
	longestText       = 4850
	longestTimeToLive = 2_592_000
	largestTime       = 1<<53 - 1
	clockTolerance    = 86_400
	kindClass         = 0x0f
	kindReserved      = 0x70
	kindCertified     = 0x80
	never             = math.MaxUint64
)

var buckets = [...]int{256, 512, 1024, 1536, 2048, 2560, 2816, 3584}

var base64URL = base64.RawURLEncoding.Strict()

// An Envelope is the value of ENCRYPTED_DATA, not yet opened.
type Envelope struct {
	bytes []byte
	text  string
}

// ParseEnvelope reads the text of an envelope [O-2.1] to [O-2.5], of which an envelope has exactly one.
func ParseEnvelope(text string) (*Envelope, error) {
	malformed := refuse(MalformedEnvelope, "ENCRYPTED_DATA is not an envelope; it was cut, or encoded twice")
	// The decoder skips line ends.
	if len(text) == 0 || len(text) > longestText || strings.ContainsAny(text, "\r\n") {
		return nil, malformed
	}
	data, err := base64URL.DecodeString(text)
	if err != nil {
		return nil, malformed
	}
	if data[0] != suiteX25519 {
		return nil, refuse(UnsupportedSuite, "the envelope's suite is not known; update this package")
	}
	for _, bucket := range buckets {
		if len(data) == bucket+outsideLength {
			return &Envelope{data, text}, nil
		}
	}
	return nil, malformed
}

// String returns the envelope's text.
func (envelope *Envelope) String() string { return envelope.text }

// RecipientKeyID returns the id of the device's key: a hint.
func (envelope *Envelope) RecipientKeyID() string { return hex.EncodeToString(envelope.bytes[1:5]) }

// Bucket returns the length of the content, padding included.
func (envelope *Envelope) Bucket() int { return len(envelope.bytes) - outsideLength }

// Fingerprint names an envelope, by its text, in the logs of a provider and of phones. Never decide anything by it.
func Fingerprint(text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:4])
}

// checkTopic refuses what is not a bundle id [K-2].
func checkTopic(topic string) error {
	if isTopic(topic) {
		return nil
	}
	return refuse(WrongTopic, "the topic is not a bundle id: 1 to 255 ASCII letters, digits, '.' and '-'")
}

func isTopic(topic string) bool {
	for _, c := range []byte(topic) {
		if !isAlphanumeric(c) && c != '.' && c != '-' {
			return false
		}
	}
	return 1 <= len(topic) && len(topic) <= 255
}

func isAlphanumeric(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func appendLP16(data []byte, text string) []byte {
	return append(append(data, byte(len(text)>>8), byte(len(text))), text...)
}

func envelopeInfo(header []byte, topic string) []byte {
	return appendLP16(append([]byte("pushcrypt/1 envelope\x00"), header...), topic)
}

// signedMessage is what the signing key signs, at epoch 0 the provider key.
func signedMessage(header, enc []byte, recipient publicKey, provider ProviderPublicKey, signing []byte, epoch uint32, topic string, contentHash [32]byte) []byte {
	data := append([]byte("pushcrypt/1 signature\x00"), header...)
	data = append(append(append(data, enc...), recipient.bytes[:]...), provider.bytes[:]...)
	data = binary.BigEndian.AppendUint32(append(data, signing...), epoch)
	return append(appendLP16(data, topic), contentHash[:]...)
}

// A MessageID names one message; a retry has the same.
type MessageID [16]byte

// String returns 32 hexadecimal digits.
func (id MessageID) String() string { return hex.EncodeToString(id[:]) }

// NamedMessageID returns the id of a message that its caller named.
func NamedMessageID(name string) MessageID {
	hash := sha256.Sum256([]byte("pushcrypt/1 caller id\x00" + name))
	return *(*MessageID)(hash[:16])
}

// later adds seconds to milliseconds; the sum is at most the largest 64-bit time [K-3].
func later(time uint64, seconds uint32) uint64 {
	if sum := time + 1000*uint64(seconds); sum >= time {
		return sum
	}
	return never
}

// milliseconds returns a time, the present one for the zero value; false for one before 1970. time.Time has all of the format's.
func milliseconds(at time.Time) (uint64, bool) {
	if at.IsZero() {
		at = time.Now()
	}
	seconds := at.Unix()
	if seconds > never/1000 {
		return never, true
	}
	return uint64(seconds)*1000 + uint64(at.Nanosecond())/1_000_000, seconds >= 0
}

func timeOf(milliseconds uint64) time.Time {
	return time.Unix(int64(milliseconds/1000), int64(milliseconds%1000)*1_000_000)
}

func u32(data []byte) uint32 { return binary.BigEndian.Uint32(data) }

func u64(data []byte) uint64 { return binary.BigEndian.Uint64(data) }
