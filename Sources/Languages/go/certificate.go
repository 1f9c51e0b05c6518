package pushcrypt

import (
	"crypto/ed25519"
	"encoding/binary"
	"time"

	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
)

// A Certificate says which key signs the messages of an epoch [T-1]. The zero value is none. Compare certificates with ==.
type Certificate struct{ bytes string }

// NewCertificate reads 121 bytes [T-1], but for what only the provider key decides: see Verify.
func NewCertificate(data []byte) (Certificate, error) {
	certificate := Certificate{string(data)}
	if len(data) != format.CertificateLength || data[0] != format.CertificateVersion || certificate.Epoch() < 1 ||
		certificate.Floor() > certificate.Epoch() || (certificate.graceUntil() == 0) != (certificate.Floor() == certificate.Epoch()) {
		return Certificate{}, errMalformedCertificate()
	}
	if !core.IsVerifying(certificate.SigningKey()) {
		return Certificate{}, errWeak()
	}
	return certificate, nil
}

// ParseCertificate reads the text of a certificate, 162 characters of base64url.
func ParseCertificate(text string) (Certificate, error) {
	data, ok := core.Decode(text)
	if !ok {
		return Certificate{}, errMalformedCertificate()
	}
	return NewCertificate(data)
}

func errMalformedCertificate() error {
	return refuse(MalformedCertificate, "this is not a certificate: 121 bytes, or 162 characters of text; copy it again")
}

// IsZero tells whether there is no certificate.
func (certificate Certificate) IsZero() bool { return certificate.bytes == "" }

// Bytes returns the 121 bytes.
func (certificate Certificate) Bytes() []byte { return []byte(certificate.bytes) }

// String returns the text, 162 characters; "" for no certificate.
func (certificate Certificate) String() string { return core.Encode(certificate.Bytes()) }

// MarshalText returns the text. It refuses the zero value.
func (certificate Certificate) MarshalText() ([]byte, error) {
	if certificate.IsZero() {
		return nil, errMalformedCertificate()
	}
	return []byte(certificate.String()), nil
}

// UnmarshalText is ParseCertificate.
func (certificate *Certificate) UnmarshalText(text []byte) (err error) {
	*certificate, err = ParseCertificate(string(text))
	return err
}

// Epoch returns the number of the key, 1 or more; 0 for no certificate.
func (certificate Certificate) Epoch() uint32 { return uint32(certificate.number(1, 5)) }

// Floor returns the lowest epoch whose messages still verify.
func (certificate Certificate) Floor() uint32 { return uint32(certificate.number(5, 9)) }

// GraceUntil returns the end of the epochs from Floor to before this one; the zero time if they have ended.
func (certificate Certificate) GraceUntil() time.Time {
	if certificate.graceUntil() == 0 {
		return time.Time{}
	}
	return core.Time(certificate.graceUntil())
}

// ExpiresAt returns the time until which messages are believed; the zero time if it does not expire.
func (certificate Certificate) ExpiresAt() time.Time {
	if certificate.IsZero() || certificate.expiresAt() == core.Never {
		return time.Time{}
	}
	return core.Time(certificate.expiresAt())
}

// SigningKey returns the key that signs the messages.
func (certificate Certificate) SigningKey() ed25519.PublicKey {
	return ed25519.PublicKey(certificate.part(25, format.ClaimLength))
}

// Verify refuses a certificate that is not this provider's for this app [T-1], [T-2].
func (certificate Certificate) Verify(provider ProviderPublicKey, topic string) error {
	if certificate.part(25, format.ClaimLength) == provider.bytes {
		return refuse(WeakKey, "the certificate's signing key is the provider key; each needs its own")
	}
	signature := []byte(certificate.part(format.ClaimLength, format.CertificateLength))
	if !core.Verifies(provider.Bytes(), signature, claimed(provider, topic, certificate.claim())) {
		return refuse(BadCertificateSignature, "the provider key did not sign this certificate for this app")
	}
	return nil
}

func (certificate Certificate) graceUntil() uint64 { return certificate.number(9, 17) }

func (certificate Certificate) expiresAt() uint64 { return certificate.number(17, 25) }

func (certificate Certificate) claim() string { return certificate.part(0, format.ClaimLength) }

func (certificate Certificate) part(from, to int) string {
	if len(certificate.bytes) != format.CertificateLength {
		return ""
	}
	return certificate.bytes[from:to]
}

func (certificate Certificate) number(from, to int) uint64 {
	data := make([]byte, 8)
	copy(data[8-to+from:], certificate.part(from, to))
	return binary.BigEndian.Uint64(data)
}

func claimed(provider ProviderPublicKey, topic, claim string) []byte {
	return append(core.AppendText([]byte(format.LabelCertificate+provider.bytes), topic), claim...)
}
