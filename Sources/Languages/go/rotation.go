package pushcrypt

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/binary"
	"math"
	"time"

	"example.com/pushcrypt/internal/curve"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
	"example.com/pushcrypt/internal/wire"
)

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
	// At is the present time; the zero time for the system's.
	At time.Time
}

// A PastEpoch is a certificate that was replaced, the zero value for epoch 0, and when.
type PastEpoch struct {
	Certificate Certificate
	ReplacedAt  time.Time
}

// A claim is what a certificate says but for its key.
type claim struct {
	epoch, floor          uint32
	graceUntil, expiresAt uint64
}

// claim returns what the next certificate says [T-7] to [T-9].
func (plan Plan) claim() (claim, error) {
	now, ok := wire.Milliseconds(plan.At)
	if !ok || plan.Lifetime < 0 || plan.Lifetime%time.Second != 0 {
		return claim{}, refuse(InvalidTime, "the clock is before 1970, or the lifetime is not whole seconds")
	}
	epoch, current := now/1000, plan.Current
	for _, last := range []Certificate{current, plan.Proven} {
		if next := uint64(last.Epoch()) + 1; next > epoch {
			epoch = next
		}
	}
	if 1000*epoch > wire.Later(now, format.ClockTolerance) || epoch > math.MaxUint32 {
		return claim{}, errImplausibleEpoch()
	}
	made := claim{uint32(epoch), uint32(epoch), 0, wire.Never}
	if plan.Lifetime != 0 {
		made.expiresAt = wire.Later(now, uint64(plan.Lifetime/time.Second))
	}
	isStale := !plan.Proven.IsZero() && plan.Proven.Epoch() >= current.Epoch() && plan.Proven.claim() != current.claim()
	if plan.Stolen || isStale {
		return made, nil
	}
	made.floor, made.graceUntil = current.Epoch(), wire.Later(now, format.CertificateGrace)
	for _, past := range plan.Past {
		at, _ := wire.Milliseconds(past.ReplacedAt)
		if wire.Later(at, format.CertificateGrace) >= now && past.Certificate.Epoch() < made.floor {
			made.floor = past.Certificate.Epoch()
		}
	}
	if made.floor < current.Floor() {
		made.floor = current.Floor()
	}
	return made, nil
}

func errImplausibleEpoch() error {
	return refuse(ImplausibleEpoch, "the epoch would be more than 24 hours from now; set the clock")
}

// certify has the provider key, here or in a service, sign a claim for a signing key.
func (made claim) certify(provider crypto.Signer, signing ed25519.PublicKey, topic string) (Certificate, error) {
	if err := checkTopic(topic); err != nil {
		return Certificate{}, err
	}
	own, err := newSigner(provider)
	if err != nil {
		return Certificate{}, err
	}
	key, err := NewProviderPublicKey(own.key)
	if err != nil {
		return Certificate{}, err
	}
	data := binary.BigEndian.AppendUint32([]byte{format.CertificateVersion}, made.epoch)
	data = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(data, made.floor), made.graceUntil)
	data = append(binary.BigEndian.AppendUint64(data, made.expiresAt), signing...)
	signature, err := own.sign(claimed(key, topic, string(data)))
	if err != nil {
		return Certificate{}, err
	}
	certificate, err := NewCertificate(append(data, signature...))
	if err == nil {
		err = certificate.Verify(key, topic)
	}
	return certificate, err
}

// IssueCertificate issues the certificate of a new signing key. The provider key is a *ProviderKey, or a crypto.Signer of a key service. If it
// is on another machine, make a CertificateRequest.
func IssueCertificate(provider crypto.Signer, signing ed25519.PublicKey, topic string, plan Plan) (Certificate, error) {
	made, err := plan.claim()
	if err != nil {
		return Certificate{}, err
	}
	return made.certify(provider, signing, topic)
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

// ParseCertificateRequest reads a request. (malformed-request)
func ParseCertificateRequest(data []byte) (*CertificateRequest, error) {
	fields := newFields(data, MalformedRequest)
	fields.version()
	request := &CertificateRequest{Topic: fields.topic()}
	fields.require(request.Topic != "" && !fields.has("certificate"), "topic")
	key, _ := wire.Decode(fields.text("signing_key"))
	provider := fields.text("provider")
	plan := &request.Plan
	plan.Current, plan.Proven = fields.needsCertificate("current"), fields.needsCertificate("proven")
	seconds := fields.number("expires", 0)
	plan.Lifetime = time.Duration(seconds) * time.Second
	stolen := fields.members.Present("stolen")
	fields.require(stolen == nil || stolen.Is(jsontext.True, jsontext.False), "stolen")
	plan.Stolen = stolen.Is(jsontext.True)
	past := fields.members.Present("past")
	fields.require(past == nil || past.Is(jsontext.Array) && len(past.Elements) <= format.MostPastCertificates, "past")
	fields.require(seconds <= math.MaxInt64/uint64(time.Second), "expires")
	if past != nil {
		for _, element := range past.Elements {
			one := &fieldReader{element, fields.code, fields.err}
			replaced := one.number("replaced", wire.Never)
			plan.Past = append(plan.Past, PastEpoch{one.needsCertificate("certificate"), wire.Time(replaced)})
			one.require(replaced != wire.Never, "past")
			fields.err = one.err
		}
	}
	if fields.err != nil {
		return nil, fields.err
	}
	if len(key) != ed25519.PublicKeySize {
		return nil, refuse(MalformedRequest, "signing_key is not 32 bytes in base64url; copy the whole file")
	}
	if !curve.IsVerifying(key) {
		return nil, errWeak()
	}
	request.SigningKey = key
	var err error
	request.Provider, err = ParseProviderPublicKey(provider)
	return request, err
}

// MarshalJSON returns the request's text.
func (request *CertificateRequest) MarshalJSON() ([]byte, error) {
	var output jsontext.Output
	output.Add("version", uint64(1))
	output.Add("topic", request.Topic)
	output.Add("provider", request.Provider.String())
	output.Add("signing_key", wire.Encode(request.SigningKey))
	if request.Plan.Lifetime != 0 {
		output.Add("expires", uint64(request.Plan.Lifetime/time.Second))
	}
	output.Add("stolen", request.Plan.Stolen)
	output.Add("current", request.Plan.Current.String())
	var past [][]byte
	for _, epoch := range request.Plan.Past {
		var one jsontext.Output
		one.Add("certificate", epoch.Certificate.String())
		replaced, _ := wire.Milliseconds(epoch.ReplacedAt)
		one.Add("replaced", replaced)
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
// floor and grace itself. First show a person the app and the signing key. (wrong-certificate for another provider key; implausible-epoch)
func (request *CertificateRequest) Certify(provider crypto.Signer) ([]byte, error) {
	own, err := newSigner(provider)
	if err != nil {
		return nil, err
	}
	if string(own.key) != request.Provider.bytes {
		return nil, refuse(WrongCertificate, "the request is for another provider key; use that one")
	}
	certificates := []Certificate{request.Plan.Current, request.Plan.Proven}
	for _, epoch := range request.Plan.Past {
		certificates = append(certificates, epoch.Certificate)
	}
	for _, certificate := range certificates {
		if !certificate.IsZero() {
			if err := certificate.Verify(request.Provider, request.Topic); err != nil {
				return nil, err
			}
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
// bad-certificate-signature; implausible-epoch)
func (request *CertificateRequest) Install(key crypto.Signer, answer []byte) (*Credential, error) {
	fields := newFields(answer, MalformedRequest)
	fields.version()
	topic, provider, certificate := fields.topic(), fields.text("provider"), fields.needsCertificate("certificate")
	fields.require(!certificate.IsZero(), "the answer")
	now, _ := wire.Milliseconds(request.Plan.At)
	public, isKey := publicHalf(key)
	switch {
	case fields.err != nil:
		return nil, fields.err
	case topic != request.Topic, provider != request.Provider.String(), !bytes.Equal(certificate.SigningKey(), request.SigningKey):
		return nil, refuse(WrongCertificate, "the certificate is not for the app, the provider key and the signing key of this request; certify this one")
	case !isKey || !bytes.Equal(public, request.SigningKey):
		return nil, refuse(WrongCertificate, "the request was made for another signing key")
	case 1000*uint64(certificate.Epoch()) > wire.Later(now, format.ClockTolerance):
		return nil, errImplausibleEpoch()
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
