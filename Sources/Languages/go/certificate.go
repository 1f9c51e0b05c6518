package pushcrypt

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// Certificates, by which a provider key says which key signs now: Docs/FormatTrust.md, [T-1], [T-2] and [T-7] to [T-9].
const (
	certificateLength  = 121
	claimLength        = 57
	certificateVersion = 0x01
	grace              = 38 * 86_400
)

// A Certificate says which key signs the messages of an epoch. The zero value is none. Compare certificates with ==.
type Certificate struct{ bytes [certificateLength]byte }

// NewCertificate reads 121 bytes [T-1], but for what only the provider key decides.
func NewCertificate(data []byte) (Certificate, error) {
	if len(data) != certificateLength || data[0] != certificateVersion {
		return Certificate{}, errMalformedCertificate()
	}
	certificate := Certificate{*(*[certificateLength]byte)(data)}
	if certificate.Epoch() < 1 || certificate.Floor() > certificate.Epoch() {
		return Certificate{}, errMalformedCertificate()
	}
	if (certificate.graceUntil() == 0) != (certificate.Floor() == certificate.Epoch()) {
		return Certificate{}, errMalformedCertificate()
	}
	if err := checkVerifyingKey(certificate.signingKey()); err != nil {
		return Certificate{}, err
	}
	return certificate, nil
}

// ParseCertificate reads the text of a certificate, 162 characters.
func ParseCertificate(text string) (Certificate, error) {
	data, err := base64URL.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return Certificate{}, errMalformedCertificate()
	}
	return NewCertificate(data)
}

func errMalformedCertificate() error {
	return refuse(MalformedCertificate, "this is not a certificate: 121 bytes, or 162 characters of text; copy it again")
}

// IsZero tells whether there is no certificate.
func (certificate Certificate) IsZero() bool { return certificate == Certificate{} }

// Bytes returns the 121 bytes.
func (certificate Certificate) Bytes() []byte { return append([]byte(nil), certificate.bytes[:]...) }

// String returns the text, 162 characters.
func (certificate Certificate) String() string {
	return base64.RawURLEncoding.EncodeToString(certificate.bytes[:])
}

// Epoch returns the number of the key, 1 or more; 0 for no certificate.
func (certificate Certificate) Epoch() uint32 { return u32(certificate.bytes[1:]) }

// Floor returns the lowest epoch whose messages still verify.
func (certificate Certificate) Floor() uint32 { return u32(certificate.bytes[5:]) }

// ExpiresAt returns the time until which messages are believed; the zero time if it does not expire.
func (certificate Certificate) ExpiresAt() time.Time {
	if certificate.expiresAt() == never {
		return time.Time{}
	}
	return timeOf(certificate.expiresAt())
}

func (certificate Certificate) graceUntil() uint64 { return u64(certificate.bytes[9:]) }

func (certificate Certificate) expiresAt() uint64 { return u64(certificate.bytes[17:]) }

func (certificate Certificate) signingKey() []byte { return certificate.bytes[25:claimLength] }

func (certificate Certificate) claim() [claimLength]byte {
	return *(*[claimLength]byte)(certificate.bytes[:claimLength])
}

// check refuses a certificate that is not this provider's for this app [T-1], [T-2].
func (certificate Certificate) check(provider ProviderPublicKey, topic string) error {
	if bytes.Equal(certificate.signingKey(), provider.bytes[:]) {
		return refuse(WeakKey, "the certificate's signing key is the provider key; each needs its own")
	}
	if !verifies(provider.bytes[:], certificate.bytes[claimLength:], claimed(provider, topic, certificate.bytes[:claimLength])) {
		return refuse(BadCertificateSignature, "the provider key did not sign this certificate for this app")
	}
	return nil
}

// conflicts tells whether both are of one epoch and say different things.
func (certificate Certificate) conflicts(other Certificate) bool {
	return !other.IsZero() && certificate.Epoch() == other.Epoch() && certificate.claim() != other.claim()
}

func (certificate Certificate) isHigher(other Certificate) bool {
	return bytes.Compare(certificate.bytes[:], other.bytes[:]) > 0
}

func claimed(provider ProviderPublicKey, topic string, claim []byte) []byte {
	data := append([]byte("pushcrypt/1 certificate\x00"), provider.bytes[:]...)
	return append(appendLP16(data, topic), claim...)
}

// A Plan says how the next certificate follows from others. Its zero value is that of a first certificate.
type Plan struct {
	// Current is the certificate that is replaced; none at epoch 0.
	Current Certificate
	// Past has earlier epochs.
	Past []PastEpoch
	// Proven is one that a record showed and that you never issued: ShowsStaleStore.
	Proven Certificate
	// IsStolen says that nothing of the epochs before may open any more.
	IsStolen bool
	// Lifetime is the time after which nobody believes the certificate, whole seconds; 0 if it never expires.
	Lifetime time.Duration
	// At is the present time, by default the system's.
	At time.Time
}

// A PastEpoch is the number of a key that signed before, and when it was replaced.
type PastEpoch struct {
	Epoch      uint32
	ReplacedAt time.Time
}

// A Claim is what a certificate says but for its key. Its times are in milliseconds since 1970.
type Claim struct {
	Epoch, Floor          uint32
	GraceUntil, ExpiresAt uint64
}

// Claim returns what the next certificate says [T-7] to [T-9].
func (plan Plan) Claim() (Claim, error) {
	now, ok := milliseconds(plan.At)
	if !ok {
		return Claim{}, refuse(InvalidTime, "the clock is before 1970")
	}
	epoch, current := now/1000, plan.Current
	for _, last := range []Certificate{current, plan.Proven} {
		if next := uint64(last.Epoch()) + 1; next > epoch {
			epoch = next
		}
	}
	if 1000*epoch > later(now, clockTolerance) || epoch > math.MaxUint32 {
		return Claim{}, refuse(ImplausibleEpoch, "the epoch would be more than 24 hours from now; set the clock")
	}
	claim := Claim{uint32(epoch), uint32(epoch), 0, never}
	if plan.Lifetime != 0 {
		claim.ExpiresAt = later(now, uint32(plan.Lifetime/time.Second))
	}
	if plan.IsStolen || !plan.Proven.IsZero() && plan.Proven.Epoch() >= current.Epoch() && plan.Proven.claim() != current.claim() {
		return claim, nil
	}
	claim.Floor, claim.GraceUntil = current.Epoch(), later(now, grace)
	for _, past := range plan.Past {
		if at, _ := milliseconds(past.ReplacedAt); later(at, grace) >= now && past.Epoch < claim.Floor {
			claim.Floor = past.Epoch
		}
	}
	if claim.Floor < current.Floor() {
		claim.Floor = current.Floor()
	}
	return claim, nil
}

// Certify signs a claim for a signing key, for one app.
func (claim Claim) Certify(provider *ProviderKey, signing ed25519.PublicKey, topic string) (Certificate, error) {
	if err := checkTopic(topic); err != nil {
		return Certificate{}, err
	}
	data := binary.BigEndian.AppendUint32([]byte{certificateVersion}, claim.Epoch)
	data = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(data, claim.Floor), claim.GraceUntil)
	data = append(binary.BigEndian.AppendUint64(data, claim.ExpiresAt), signing...)
	made, err := NewCertificate(append(data, ed25519.Sign(provider.private, claimed(provider.public, topic, data))...))
	if err == nil {
		err = made.check(provider.public, topic)
	}
	return made, err
}

// IssueCertificate issues the certificate of a new signing key.
func IssueCertificate(provider *ProviderKey, signing ed25519.PublicKey, topic string, plan Plan) (Certificate, error) {
	claim, err := plan.Claim()
	if err != nil {
		return Certificate{}, err
	}
	return claim.Certify(provider, signing, topic)
}

// A Credential is what signs messages from epoch 1 on: a signing key, here a *SigningKey or in a service, its certificate and the provider
// key. It is a crypto.Signer, and not printed.
type Credential struct {
	Key         crypto.Signer
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
	if err != nil {
		return nil, err
	}
	return &Credential{key, certificate, provider}, nil
}

// SecretText returns the text of the file, as secret as the key; empty if that is not a *SigningKey.
func (credential *Credential) SecretText() string {
	key, ok := credential.Key.(*SigningKey)
	if !ok {
		return ""
	}
	return key.SecretText() + "\n" + credential.Certificate.String() + "\n" + credential.Provider.String() + "\n"
}

// Public returns the public half of the signing key.
func (credential *Credential) Public() crypto.PublicKey { return credential.Key.Public() }

// Sign signs a message with the signing key.
func (credential *Credential) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	return credential.Key.Sign(random, message, opts)
}

// Format prints no secret, whatever the verb.
func (credential Credential) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "Credential(%s, epoch %d)", credential.Provider, credential.Certificate.Epoch())
}
