package pushcrypt_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
	kit "example.com/pushcrypt/Sources/Languages/go/pushcrypttest"
)

var now = time.UnixMilli(1_767_225_600_000)

// setClock sets the package's clock, which stands still in tests.
func setClock(at time.Time) { *pushcrypt.Clock = func() time.Time { return at } }

func init() { setClock(now) }

func TestCredentials(t *testing.T) {
	pin, key := provider.PublicKey(), pushcrypt.GenerateSigningKey()
	first := must(pushcrypt.IssueCertificate(provider, key.PublicKey(), "a", pushcrypt.Plan{At: now}))
	second := must(pushcrypt.IssueCertificate(provider, key.PublicKey(), "a", pushcrypt.Plan{At: now, Current: first, Stolen: true}))
	past := must(pushcrypt.IssueCertificate(provider, key.PublicKey(), "a", pushcrypt.Plan{At: now.Add(-time.Hour), Current: second}))
	if past.Epoch() != second.Epoch()+1 {
		t.Error("a clock that was set back gave epoch", past.Epoch())
	}
	_, err := pushcrypt.IssueCertificate(provider, pin.Bytes(), "a", pushcrypt.Plan{})
	refused(t, "the provider key as signing key", pushcrypt.WeakKey, err)
	_, err = pushcrypt.IssueCertificate(provider, key.PublicKey(), "", pushcrypt.Plan{})
	refused(t, "no app", pushcrypt.WrongTopic, err)
	for _, lifetime := range []time.Duration{-time.Second, 1} {
		_, err = pushcrypt.IssueCertificate(provider, key.PublicKey(), "a", pushcrypt.Plan{Lifetime: lifetime})
		refused(t, "a lifetime", pushcrypt.InvalidTime, err)
	}
	_, err = pushcrypt.IssueCertificate(provider, nil, "a", pushcrypt.Plan{})
	refused(t, "no signing key", pushcrypt.MalformedCertificate, err)
	expect(t, "what it says", first.ExpiresAt().IsZero() && second.Floor() == second.Epoch(), true)

	credential := &pushcrypt.Credential{Key: key, Certificate: first, Provider: pin}
	expect(t, "its file", must(pushcrypt.ParseCredential(credential.SecretText())).SecretText(), credential.SecretText())
	must(pushcrypt.NewSealer(credential, "a"))
	_, err = pushcrypt.NewSealer(credential, "b")
	refused(t, "the certificate of another app", pushcrypt.BadCertificateSignature, err)
	_, err = pushcrypt.NewSealer(&pushcrypt.Credential{Key: pushcrypt.GenerateSigningKey(), Certificate: first, Provider: pin}, "a")
	refused(t, "the certificate of another key", pushcrypt.WrongCertificate, err)
	_, err = pushcrypt.ParseCredential(strings.Join(strings.Split(credential.SecretText(), "\n")[:2], "\n"))
	refused(t, "a signing key file of two lines", pushcrypt.MalformedKey, err)
}

func TestExpiredCertificateDoesNotSeal(t *testing.T) {
	key := pushcrypt.GenerateSigningKey()
	certificate := must(pushcrypt.IssueCertificate(provider, key.PublicKey(), "a", pushcrypt.Plan{At: now, Lifetime: time.Hour}))
	sealer := must(pushcrypt.NewSealer(&pushcrypt.Credential{Key: key, Certificate: certificate, Provider: provider.PublicKey()}, "a"))
	must(sealer.Seal([]byte(good), phone.Device("a"), pushcrypt.WithTime(now.Add(time.Hour))))
	defer setClock(now)
	for _, at := range []time.Time{now.Add(time.Hour + time.Millisecond), {}} {
		setClock(now.Add(2 * time.Hour))
		_, err := sealer.Seal([]byte(good), phone.Device("a"), pushcrypt.WithTime(at))
		refused(t, "an expired certificate [S-10]", pushcrypt.InvalidTime, err)
	}
}

func TestWhenCertificatesWereReplaced(t *testing.T) {
	signing := pushcrypt.GenerateSigningKey().PublicKey()
	past := must(pushcrypt.IssueCertificate(provider, signing, topic, pushcrypt.Plan{At: now}))
	current := must(pushcrypt.IssueCertificate(provider, signing, topic, pushcrypt.Plan{At: now, Current: past}))
	next := must(pushcrypt.IssueCertificate(provider, signing, topic, pushcrypt.Plan{
		At: now, Current: current, Past: []pushcrypt.PastEpoch{{Certificate: past, ReplacedAt: now.Add(48 * time.Hour)}},
	}))
	expect(t, "the floor with a time ahead of the clock", next.Floor(), past.Epoch())
	for _, at := range []time.Time{time.UnixMilli(0), time.UnixMilli(now.Unix()), time.Unix(now.UnixMilli(), 0), time.Unix(1<<60, 0)} {
		plan := pushcrypt.Plan{At: now, Current: current, Past: []pushcrypt.PastEpoch{{Certificate: past, ReplacedAt: at}}}
		_, err := pushcrypt.IssueCertificate(provider, signing, topic, plan)
		refused(t, "another unit", pushcrypt.ImplausibleTime, err)
		_, err = json.Marshal(&pushcrypt.CertificateRequest{Topic: topic, Provider: provider.PublicKey(), SigningKey: signing, Plan: plan})
		refused(t, "another unit in a request", pushcrypt.ImplausibleTime, err)
	}
}

func TestRequestAndInstall(t *testing.T) {
	old, key := pushcrypt.GenerateSigningKey(), pushcrypt.GenerateSigningKey()
	current := must(pushcrypt.IssueCertificate(provider, old.PublicKey(), topic, pushcrypt.Plan{}))
	request := &pushcrypt.CertificateRequest{
		Topic: topic, Provider: provider.PublicKey(), SigningKey: key.PublicKey(),
		Plan: pushcrypt.Plan{Current: current, Past: []pushcrypt.PastEpoch{{ReplacedAt: now.Add(-40 * 24 * time.Hour)}}, Lifetime: 90 * 24 * time.Hour},
	}
	text := must(json.Marshal(request))
	carried := must(pushcrypt.ParseCertificateRequest(text))
	expect(t, "no secret", strings.Contains(string(text), "SECRET"), false)
	answer := must(carried.Certify(provider))
	credential := must(request.Install(key, answer))
	expect(t, "the next epoch", credential.Certificate.Epoch() > current.Epoch() && credential.Certificate.Floor() == current.Epoch() && !credential.Certificate.ExpiresAt().IsZero(), true)
	push := must(must(pushcrypt.NewSealer(credential, topic)).Seal([]byte(good), phone.Device(topic))).Payload
	must(kit.Phone{Topic: topic, Key: phone, Provider: provider.PublicKey()}.Open(push, time.Time{}))

	_, err := carried.Certify(pushcrypt.GenerateProviderKey())
	refused(t, "another provider key", pushcrypt.WrongCertificate, err)
	_, err = carried.Certify(nil)
	refused(t, "no provider key", pushcrypt.UnusableKey, err)
	foreign := *request
	foreign.Plan.Current = must(pushcrypt.IssueCertificate(pushcrypt.GenerateProviderKey(), old.PublicKey(), topic, pushcrypt.Plan{}))
	_, err = foreign.Certify(provider)
	refused(t, "a certificate of another provider in it", pushcrypt.BadCertificateSignature, err)

	install := func(change func(*pushcrypt.CertificateRequest), key *pushcrypt.SigningKey, answer []byte) error {
		other := *request
		if change != nil {
			change(&other)
		}
		_, err := other.Install(key, answer)
		return err
	}
	refused(t, "another app", pushcrypt.WrongCertificate, install(func(r *pushcrypt.CertificateRequest) { r.Topic = "a" }, key, answer))
	refused(t, "another provider", pushcrypt.WrongCertificate, install(func(r *pushcrypt.CertificateRequest) {
		r.Provider = pushcrypt.GenerateProviderKey().PublicKey()
	}, key, answer))
	refused(t, "another key", pushcrypt.WrongCertificate, install(nil, old, answer))
	refused(t, "no key", pushcrypt.UnusableKey, install(nil, nil, answer))
	refused(t, "the key of another request", pushcrypt.WrongCertificate, install(func(r *pushcrypt.CertificateRequest) { r.SigningKey = old.PublicKey() }, old, answer))
	refused(t, "a clock that is behind", pushcrypt.Code(""), errOr(install(func(r *pushcrypt.CertificateRequest) {
		r.Plan.At = now.Add(-23 * time.Hour)
	}, key, answer)))
	refused(t, "seconds as milliseconds", pushcrypt.ImplausibleTime, install(func(r *pushcrypt.CertificateRequest) {
		r.Plan.At = time.UnixMilli(now.Unix())
	}, key, answer))
	setClock(now.Add(91 * 24 * time.Hour))
	refused(t, "an expired one", pushcrypt.WrongCertificate, install(nil, key, answer))
	setClock(now)
	refused(t, "an older epoch", pushcrypt.WrongCertificate, install(func(r *pushcrypt.CertificateRequest) {
		r.Plan.Current = must(pushcrypt.IssueCertificate(provider, old.PublicKey(), topic, pushcrypt.Plan{Current: credential.Certificate}))
	}, key, answer))
	refused(t, "installed before", pushcrypt.Code(""), errOr(install(func(r *pushcrypt.CertificateRequest) { r.Plan.Current = credential.Certificate }, key, answer)))
	refused(t, "the request itself", pushcrypt.MalformedRequest, install(nil, key, text))
	refused(t, "nothing", pushcrypt.MalformedRequest, install(nil, key, nil))
	forged := strings.Replace(string(answer), credential.Certificate.String()[150:], strings.Repeat("A", 12), 1)
	refused(t, "a forged one", pushcrypt.BadCertificateSignature, install(nil, key, []byte(forged)))
	_, err = pushcrypt.ParseCertificateRequest(answer)
	refused(t, "an answer as a request", pushcrypt.MalformedRequest, err)
	for _, wrong := range []string{"pcs1", provider.PublicKey().String()[:50], "pcs1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqd3u8zu"} {
		_, err = pushcrypt.ParseCertificateRequest([]byte(strings.Replace(string(text), provider.PublicKey().String(), wrong, 1)))
		refused(t, "no provider key, or a weak one", pushcrypt.MalformedRequest, err)
	}
}

// errOr gives an error that says that there is none.
func errOr(err error) error {
	if err == nil {
		return &pushcrypt.Error{}
	}
	return err
}

// TestRequestsOfTheCommand has pushcrypt certify a request of this package, and this package one of pushcrypt's.
func TestRequestsOfTheCommand(t *testing.T) {
	program := os.Getenv("PUSHCRYPT")
	if program == "" {
		program, _ = exec.LookPath("pushcrypt")
	}
	if program == "" {
		t.Skip("there is no pushcrypt: set PUSHCRYPT")
	}
	setClock(time.Now())
	defer setClock(now)
	folder := t.TempDir()
	place := func(name string) string { return filepath.Join(folder, name) }
	run := func(words ...string) string {
		command := exec.Command(program, words...)
		command.Dir, command.Env = folder, append(os.Environ(), "HOME="+folder)
		output, err := command.Output()
		if err != nil {
			t.Fatal(words, err, string(err.(*exec.ExitError).Stderr))
		}
		return strings.TrimSpace(string(output))
	}
	must(0, os.WriteFile(place("provider.key"), []byte(provider.SecretText()), 0o600))
	key := pushcrypt.GenerateSigningKey()
	request := &pushcrypt.CertificateRequest{Topic: topic, Provider: provider.PublicKey(), SigningKey: key.PublicKey(), Plan: pushcrypt.Plan{Lifetime: time.Hour}}
	must(0, os.WriteFile(place("request.json"), must(json.Marshal(request)), 0o600))
	run("key", "certify", "request.json", "--provider-key-file", "provider.key", "--yes", "-o", "certificate.json")
	must(request.Install(key, must(os.ReadFile(place("certificate.json")))))

	run("--store", "P", "init")
	run("--store", "P", "key", "new", "provider", "--topic", topic, "--offline", "-o", "offline.key")
	run("--store", "P", "key", "rotate", "--request", "--stolen", "--expires", "90d", "-o", "theirs.json")
	theirs := must(pushcrypt.ParseCertificateRequest(must(os.ReadFile(place("theirs.json")))))
	expect(t, "what it asks", theirs.Plan.Stolen && theirs.Plan.Lifetime == 90*24*time.Hour && !theirs.Plan.Current.IsZero(), true)
	offline := must(pushcrypt.ParseProviderKey(string(must(os.ReadFile(place("offline.key"))))))
	must(0, os.WriteFile(place("ours.json"), must(theirs.Certify(offline)), 0o600))
	run("--store", "P", "key", "rotate", "--install", "ours.json")
}
