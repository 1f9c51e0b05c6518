package pushcrypt

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"math"
	"time"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
	"example.com/pushcrypt/Sources/Languages/go/internal/jsontext"
)

// A Certificate says which key signs the messages of an epoch [T-1]. The zero value is none. Compare certificates with ==.
type Certificate struct{ bytes string }

// NewCertificate reads 121 bytes [T-1], but for what only the provider key decides: see Verify.
func NewCertificate(data []byte) (Certificate, error) {
	certificate := Certificate{string(data)}
	if len(data) != format.CertificateLength || data[0] != format.CertificateVersion || certificate.Epoch() < 1 ||
		certificate.Floor() > certificate.Epoch() || (certificate.graceUntil() == 0) != (certificate.Floor() == certificate.Epoch()) {
		return Certificate{}, refuse(MalformedCertificate, "this is not a certificate: 121 bytes, or 162 characters of text; copy it again")
	}
	if !core.IsVerifying(certificate.SigningKey()) {
		return Certificate{}, errWeak()
	}
	return certificate, nil
}

// ParseCertificate reads the text of a certificate, 162 characters of base64url.
func ParseCertificate(text string) (Certificate, error) {
	return NewCertificate(core.Decode(text))
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
		return nil, refuse(MalformedCertificate, "there is no certificate: this is the zero value")
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

// ExpiresAt returns the time until which messages are believed; the zero time if it does not expire.
func (certificate Certificate) ExpiresAt() (at time.Time) {
	if !certificate.IsZero() && certificate.expiresAt() != core.Never {
		at = core.Time(certificate.expiresAt())
	}
	return at
}

// SigningKey returns the key that signs the messages.
func (certificate Certificate) SigningKey() ed25519.PublicKey {
	return ed25519.PublicKey(certificate.part(25, format.ClaimLength))
}

// Verify refuses a certificate that is not this provider's for this app [T-1], [T-2].
func (certificate Certificate) Verify(provider ProviderPublicKey, topic string) error {
	if err := checkTopic(topic); err != nil {
		return err
	}
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

// A Plan says how the next certificate follows from others. Its zero value is that of a first certificate.
type Plan struct {
	// Current is the certificate that is replaced; the zero value at epoch 0.
	Current Certificate
	// Past has earlier epochs, of the last 38 days.
	Past []PastEpoch
	// Proven is one that a record showed and that you never issued: Accepted.StaleStore.
	Proven Certificate
	// Stolen says that nothing of the epochs before may open any more [T-9].
	Stolen bool
	// Lifetime is the time after which nobody believes the certificate, whole seconds; 0 if it never expires.
	Lifetime time.Duration
	// At is the present time, within a day of the system's; the zero time for that.
	At time.Time
}

// A PastEpoch is a certificate that was replaced, the zero value for epoch 0, and when.
type PastEpoch struct {
	Certificate Certificate
	ReplacedAt  time.Time
}

// plausible refuses a plan with a replacement before 1973 or after 2100: its time was in another unit. (implausible-time)
func (plan Plan) plausible() error {
	for _, past := range plan.Past {
		at, ok := core.Milliseconds(past.ReplacedAt)
		if !ok || at < format.TimeFieldEnd || at/1000 > format.LatestClock {
			return refuse(ImplausibleTime, "seconds and milliseconds were confused in a ReplacedAt")
		}
	}
	return nil
}

// claim returns what the next certificate says, but for its key [T-7] to [T-9].
func (plan Plan) claim() ([]byte, error) {
	now, err := timeOrNow(plan.At)
	if err != nil {
		return nil, err
	}
	if err := plan.plausible(); err != nil {
		return nil, err
	}
	if plan.Lifetime < 0 || plan.Lifetime%time.Second != 0 {
		return nil, refuse(InvalidTime, "the lifetime is not whole seconds")
	}
	epoch, current, expiresAt := now/1000, plan.Current, uint64(core.Never)
	if epoch > format.LatestClock {
		epoch = 0
	}
	for _, last := range []Certificate{current, plan.Proven} {
		if next := uint64(last.Epoch()) + 1; next > epoch {
			epoch = next
		}
	}
	if epoch > math.MaxUint32 {
		return nil, refuse(EpochsExhausted, "the provider key has used its last epoch; make another provider key")
	}
	if plan.Lifetime != 0 {
		expiresAt = core.Later(now, uint64(plan.Lifetime/time.Second))
	}
	isStale := !plan.Proven.IsZero() && plan.Proven.claim() != current.claim()
	if plan.Stolen || isStale {
		return claimOf(uint32(epoch), uint32(epoch), 0, expiresAt), nil
	}
	floor := current.Epoch()
	for _, past := range plan.Past {
		at, _ := core.Milliseconds(past.ReplacedAt)
		if core.Later(at, format.CertificateGrace) >= now && past.Certificate.Epoch() < floor {
			floor = past.Certificate.Epoch()
		}
	}
	if floor < current.Floor() {
		floor = current.Floor()
	}
	return claimOf(uint32(epoch), floor, core.Later(now, format.CertificateGrace), expiresAt), nil
}

func claimOf(epoch, floor uint32, graceUntil, expiresAt uint64) []byte {
	data := binary.BigEndian.AppendUint32([]byte{format.CertificateVersion}, epoch)
	data = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(data, floor), graceUntil)
	return binary.BigEndian.AppendUint64(data, expiresAt)
}

// IssueCertificate issues the certificate of a new signing key. If the provider key is on another machine, make a CertificateRequest.
func IssueCertificate(provider *ProviderKey, signing ed25519.PublicKey, topic string, plan Plan) (Certificate, error) {
	claim, err := plan.claim()
	if err != nil {
		return Certificate{}, err
	}
	return certify(provider, topic, append(claim, signing...))
}

// certify signs the first 57 bytes of a certificate.
func certify(provider *ProviderKey, topic string, claim []byte) (Certificate, error) {
	if provider == nil || provider.isZero() {
		return Certificate{}, errNoKey()
	}
	key := provider.PublicKey()
	certificate, err := NewCertificate(append(claim, ed25519.Sign(provider.private, claimed(key, topic, string(claim)))...))
	if err == nil {
		err = certificate.Verify(key, topic)
	}
	return certificate, err
}

// A CertificateRequest asks the machine that has the provider key for the certificate of a new signing key. It is a text without secrets, the same
// as that of "pushcrypt key rotate --request": "pushcrypt key certify" answers it too.
type CertificateRequest struct {
	// Topic is the app's bundle id.
	Topic      string
	Provider   ProviderPublicKey
	SigningKey ed25519.PublicKey
	// Plan says what is replaced. Its At is not written: each machine has its own clock.
	Plan Plan
}

// ParseCertificateRequest reads a request. (malformed-request; malformed-certificate or weak-key for a certificate or the signing key in it)
func ParseCertificateRequest(data []byte) (*CertificateRequest, error) {
	fields := newFields(data, MalformedRequest)
	fields.version()
	request := &CertificateRequest{Topic: fields.checked("topic", core.IsTopic)}
	fields.require(request.Topic != "" && fields.has("provider") && fields.has("signing_key") && !fields.has("certificate"), "a request's member")
	seconds := fields.number("expires", 0)
	fields.require(seconds <= math.MaxInt64/uint64(time.Second), "expires")
	plan := Plan{Stolen: fields.flag("stolen"), Lifetime: time.Duration(seconds) * time.Second}
	for _, element := range fields.list("past", format.MostPastCertificates) {
		one := &fieldReader{jsontext.Object(element), fields.code, fields.most, fields.err}
		one.require(one.has("replaced"), "past")
		plan.Past = append(plan.Past, PastEpoch{read(one, "certificate", ParseCertificate), core.Time(one.number("replaced", 0))})
		fields.err = one.err
	}
	plan.Current, plan.Proven = read(fields, "current", ParseCertificate), read(fields, "proven", ParseCertificate)
	request.SigningKey, request.Plan = read(fields, "signing_key", parseVerifyingKey), plan
	provider, err := ParseProviderPublicKey(fields.text("provider"))
	fields.require(err == nil, "provider")
	request.Provider = provider
	return request, fields.err
}

// MarshalJSON returns the request's text.
func (request *CertificateRequest) MarshalJSON() ([]byte, error) {
	if err := request.Plan.plausible(); err != nil {
		return nil, err
	}
	var output jsontext.Output
	output.Add("version", uint64(1))
	output.Add("topic", request.Topic)
	output.Add("provider", request.Provider.String())
	output.Add("signing_key", core.Encode(request.SigningKey))
	if request.Plan.Lifetime != 0 {
		output.Add("expires", uint64(request.Plan.Lifetime/time.Second))
	}
	output.Add("stolen", request.Plan.Stolen)
	output.Add("current", request.Plan.Current.String())
	var past []json.RawMessage
	for _, epoch := range request.Plan.Past {
		var one jsontext.Output
		one.Add("certificate", epoch.Certificate.String())
		one.Add("replaced", epoch.ReplacedAt)
		past = append(past, one.Bytes())
	}
	output.Add("past", past)
	output.Add("proven", request.Plan.Proven.String())
	_, err := ParseCertificateRequest(output.Bytes())
	return output.Bytes(), err
}

// UnmarshalJSON is ParseCertificateRequest.
func (request *CertificateRequest) UnmarshalJSON(data []byte) error {
	return unmarshal(request, data, ParseCertificateRequest)
}

// Certify answers a request, where the provider key is: a JSON text for Install, or for "pushcrypt key rotate --install". It computes epoch,
// floor and grace itself. First show a person the app and the signing key. (wrong-certificate for another provider key)
func (request *CertificateRequest) Certify(provider *ProviderKey) ([]byte, error) {
	if provider == nil || provider.isZero() || request == nil {
		return nil, errNoKey()
	}
	if provider.PublicKey() != request.Provider {
		return nil, refuse(WrongCertificate, "the request is for another provider key; use that one")
	}
	plan := request.Plan
	for _, one := range append([]PastEpoch{{Certificate: plan.Current}, {Certificate: plan.Proven}}, plan.Past...) {
		if err := one.Certificate.Verify(request.Provider, request.Topic); err != nil && !one.Certificate.IsZero() {
			return nil, err
		}
	}
	made, err := IssueCertificate(provider, request.SigningKey, request.Topic, request.Plan)
	if err != nil {
		return nil, err
	}
	var output jsontext.Output
	output.Add("version", uint64(1))
	output.Add("topic", request.Topic)
	output.Add("provider", request.Provider.String())
	output.Add("certificate", made.String())
	return output.Bytes(), nil
}

// Install returns what signs from now on: the signing key that the request was made for, with the certificate of an answer to it.
// (malformed-request; wrong-certificate for the answer to another request, an epoch that is not above the last, or an expired one;
// bad-certificate-signature)
func (request *CertificateRequest) Install(key *SigningKey, answer []byte) (*Credential, error) {
	if request == nil {
		return nil, errNoKey()
	}
	fields := newFields(answer, MalformedRequest)
	fields.version()
	topic, provider, certificate := fields.text("topic"), fields.text("provider"), read(fields, "certificate", ParseCertificate)
	fields.require(!certificate.IsZero(), "the answer")
	now, err := timeOrNow(request.Plan.At)
	switch {
	case err != nil:
		return nil, err
	case fields.err != nil:
		return nil, fields.err
	case key == nil || key.isZero():
		return nil, errNoKey()
	case topic != request.Topic, provider != request.Provider.String(), !bytes.Equal(certificate.SigningKey(), request.SigningKey):
		return nil, refuse(WrongCertificate, "the certificate is not for the app, the provider key and the signing key of this request; certify this one")
	case !bytes.Equal(key.PublicKey(), request.SigningKey):
		return nil, refuse(WrongCertificate, "the request was made for another signing key")
	case certificate.expiresAt() <= now:
		return nil, refuse(WrongCertificate, "the certificate has expired; certify the request again")
	}
	for _, last := range []Certificate{request.Plan.Current, request.Plan.Proven} {
		if certificate.Epoch() <= last.Epoch() && certificate.claim() != last.claim() {
			return nil, refuse(WrongCertificate, "the certificate's epoch is not above the last; make another request, and certify that")
		}
	}
	if err := certificate.Verify(request.Provider, topic); err != nil {
		return nil, err
	}
	return &Credential{key, certificate, request.Provider}, nil
}
