package pushcrypt

import (
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

// signing is a key, here or in a service, with its hedge.
type signing struct {
	signer crypto.Signer
	public SenderPublicKey
	hedge
}

// newSigning asks a key that is elsewhere for a signature over a constant label, and derives the hedge key from it.
func newSigning(signer crypto.Signer) (*signing, error) {
	if signer == nil {
		return nil, refuse(InvalidRequest, "there is no signing key")
	}
	own := &signing{signer: signer}
	seed := []byte(nil)
	if key, ok := signer.(*SenderKey); ok {
		own.public, seed = key.public, key.private.Seed()
	} else {
		public, ok := signer.Public().(ed25519.PublicKey)
		if !ok {
			return nil, refuse(WrongSignature, "the signer's key is no Ed25519 key")
		}
		var err error
		if own.public, err = NewSenderPublicKey(public); err != nil {
			return nil, err
		}
		if seed, err = own.sign([]byte("pushcrypt/1 hedge seed\x00")); err != nil {
			return nil, err
		}
	}
	own.key = hedge{seed}.sum("hedge")
	return own, nil
}

// sign returns a checked signature.
func (own *signing) sign(message []byte) ([]byte, error) {
	signature, err := own.signer.Sign(rand.Reader, message, crypto.Hash(0))
	if err != nil {
		return nil, &Error{SigningFailed, "the signer did not sign; the payload can be sealed again", err}
	}
	if _, ok := own.signer.(*SenderKey); !ok && !own.public.verifies(signature, message) {
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
