package pushcrypt

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"reflect"
	"strings"

	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
)

// A Credential is what signs messages from epoch 1 on: a signing key, here a *SigningKey or in a service, its certificate and the provider
// key. It is a crypto.Signer, and not printed.
type Credential struct {
	// Signer is the signing key.
	crypto.Signer
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
	return &Credential{key, certificate, provider}, err
}

// SecretText returns the text of the file, as secret as the key; "" if that is not a *SigningKey.
func (credential *Credential) SecretText() string {
	key, ok := credential.Signer.(*SigningKey)
	if !ok || key == nil {
		return ""
	}
	return key.SecretText() + "\n" + credential.Certificate.String() + "\n" + credential.Provider.String() + "\n"
}

// Format prints no secret, whatever the verb.
func (credential Credential) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "Credential(%s, epoch %d)", credential.Provider, credential.Certificate.Epoch())
}

// A signer is an Ed25519 key, here or in a service.
type signer struct {
	crypto.Signer
	key ed25519.PublicKey
	// seed is nil if the key is elsewhere.
	seed []byte
}

// publicHalf is false for what is no Ed25519 key, such as nil and zero values.
func publicHalf(key crypto.Signer) (ed25519.PublicKey, bool) {
	if value := reflect.ValueOf(key); key == nil || value.Kind() == reflect.Pointer && value.IsNil() {
		return nil, false
	}
	public, ok := key.Public().(ed25519.PublicKey)
	return public, ok && len(public) == ed25519.PublicKeySize
}

func newSigner(key crypto.Signer) (signer, error) {
	public, ok := publicHalf(key)
	if !ok {
		return signer{}, refuse(UnusableKey, "there is no signing key, or it is no Ed25519 key")
	}
	own := signer{Signer: key, key: public}
	switch local := key.(type) {
	case *ProviderKey:
		own.seed = local.private.Seed()
	case *SigningKey:
		own.seed = local.private.Seed()
	}
	return own, nil
}

// sign returns a signature, which is checked if it comes from elsewhere.
func (own signer) sign(message []byte) ([]byte, error) {
	signature, err := own.Sign(rand.Reader, message, crypto.Hash(0))
	if err != nil {
		return nil, &Error{SigningFailed, "the signer did not sign; the payload can be sealed again", err}
	}
	if own.seed == nil && !core.Verifies(own.key, signature, message) {
		return nil, refuse(WrongSignature, "the signer returned no signature by its key; it has to sign the bytes, with pure Ed25519")
	}
	return signature, nil
}

// A signing is what signs messages: at epoch 0 the provider key, from then on that of a certificate.
type signing struct {
	signer
	provider    ProviderPublicKey
	certificate Certificate
	hedge       []byte
}

// newSigning asks a key that is elsewhere for one signature over a constant label, and derives the hedge key from it.
func newSigning(key crypto.Signer) (*signing, error) {
	var own signing
	var err error
	if credential, ok := key.(*Credential); ok {
		if credential == nil {
			return nil, refuse(UnusableKey, "there is no signing key")
		}
		key, own.certificate, own.provider = credential.Signer, credential.Certificate, credential.Provider
		if own.certificate.IsZero() || own.provider.IsZero() {
			return nil, refuse(WrongCertificate, "the credential has no certificate or no provider key")
		}
	} else if _, ok := key.(*SigningKey); ok {
		return nil, refuse(WrongCertificate, "a signing key signs by its certificate; give a *Credential")
	}
	if own.signer, err = newSigner(key); err != nil {
		return nil, err
	}
	if own.certificate.IsZero() {
		if own.provider, err = NewProviderPublicKey(own.key); err != nil {
			return nil, err
		}
	} else if !bytes.Equal(own.certificate.SigningKey(), own.key) {
		return nil, refuse(WrongCertificate, "the certificate is that of another signing key; install the one made for it")
	}
	seed := own.seed
	if seed == nil {
		if seed, err = own.sign([]byte(format.LabelHedgeSeed)); err != nil {
			return nil, err
		}
	}
	own.hedge = core.HMAC(seed, []byte(format.LabelHedge))
	return &own, nil
}

// draw returns a random value that a cloned machine repeats only for the same parts: Docs/FormatNotes.md, Randomness.
func (own *signing) draw(label string, parts ...[]byte) []byte {
	return core.HMAC(own.hedge, append([][]byte{[]byte(label), random(32)}, parts...)...)
}
