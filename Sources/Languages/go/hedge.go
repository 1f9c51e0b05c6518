package pushcrypt

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io"
)

// A hedge computes random values that a cloned machine repeats only for the same message: Docs/FormatNotes.md, Randomness. They depend on
// crypto/rand.Reader, on a secret key and on their purpose.
type hedge struct{ key []byte }

// signing is a key, here or in a service, with its hedge: at epoch 0 the provider key, from then on that of a certificate.
type signing struct {
	signer      crypto.Signer
	key         []byte
	provider    ProviderPublicKey
	certificate Certificate
	hedge       hedge
}

// newSigning asks a key that is elsewhere for a signature over a constant label, and derives the hedge key from it.
func newSigning(signer crypto.Signer) (*signing, error) {
	own := &signing{signer: signer}
	if credential, ok := signer.(*Credential); ok {
		if credential == nil {
			return nil, refuse(InvalidRequest, "there is no signing key")
		}
		own.signer, own.certificate, own.provider = credential.Key, credential.Certificate, credential.Provider
		if own.certificate.IsZero() || own.provider.isZero() {
			return nil, refuse(WrongCertificate, "the credential has no certificate or no provider key")
		}
	}
	if own.signer == nil {
		return nil, refuse(InvalidRequest, "there is no signing key")
	}
	public, ok := own.signer.Public().(ed25519.PublicKey)
	if !ok {
		return nil, refuse(WrongSignature, "the signer's key is no Ed25519 key")
	}
	own.key = public
	if own.certificate.IsZero() {
		if _, ok := own.signer.(*SigningKey); ok {
			return nil, refuse(WrongCertificate, "a signing key signs by its certificate; give a *Credential")
		}
		var err error
		if own.provider, err = NewProviderPublicKey(public); err != nil {
			return nil, err
		}
	} else if !bytes.Equal(own.certificate.signingKey(), public) {
		return nil, refuse(WrongCertificate, "the certificate is that of another signing key; install the one made for it")
	}
	seed, err := own.seed()
	if err != nil {
		return nil, err
	}
	own.hedge = hedge{hedge{seed}.sum("hedge")}
	return own, nil
}

func (own *signing) seed() ([]byte, error) {
	if private := own.private(); private != nil {
		return private.Seed(), nil
	}
	return own.sign([]byte("pushcrypt/1 hedge seed\x00"))
}

// private returns the key if it is here; otherwise nil.
func (own *signing) private() ed25519.PrivateKey {
	switch key := own.signer.(type) {
	case *ProviderKey:
		return key.private
	case *SigningKey:
		return key.private
	}
	return nil
}

// sign returns a checked signature.
func (own *signing) sign(message []byte) ([]byte, error) {
	signature, err := own.signer.Sign(rand.Reader, message, crypto.Hash(0))
	if err != nil {
		return nil, &Error{SigningFailed, "the signer did not sign; the payload can be sealed again", err}
	}
	if own.private() == nil && !verifies(own.key, signature, message) {
		return nil, refuse(WrongSignature, "the signer returned no signature by its key; it has to sign the bytes, with pure Ed25519")
	}
	return signature, nil
}

// sum is an HMAC over a label and its parts.
func (own hedge) sum(label string, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, own.key)
	mac.Write([]byte("pushcrypt/1 " + label + "\x00"))
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

func random(length int) ([]byte, error) {
	data := make([]byte, length)
	_, err := io.ReadFull(rand.Reader, data)
	return data, err
}
