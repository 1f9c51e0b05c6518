// Package hpke is HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.
package hpke

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/curve25519"

	"example.com/pushcrypt/internal/format"
)

// The mode, 0 for base, and the hash of the empty psk_id.
var pskIDHash = append([]byte{0}, labeledExtract(nil, format.HPKEPskIDHash, nil)...)

// A Context is at sequence number 0, for one message without associated data.
type Context struct {
	aead  cipher.AEAD
	nonce []byte
}

// Seal appends the ciphertext.
func (context Context) Seal(output, plain []byte) []byte {
	return context.aead.Seal(output, context.nonce, plain, nil)
}

// Open returns the plaintext [O-4.3].
func (context Context) Open(sealed []byte) ([]byte, error) {
	return context.aead.Open(nil, context.nonce, sealed, nil)
}

// SetupS returns enc and the sealer's context.
func SetupS(recipient, info, ikmE []byte) (enc []byte, context Context, err error) {
	secret := labeledExpand(labeledExtract(nil, format.HPKEDkpPrk, ikmE), format.HPKESk)
	if enc, err = curve25519.X25519(secret, curve25519.Basepoint); err != nil {
		return nil, Context{}, err
	}
	context, err = setup(secret, recipient, enc, recipient, info)
	return enc, context, err
}

// SetupR returns the recipient's context. The KEM context is enc as received [O-4.1].
func SetupR(enc, secret, public, info []byte) (Context, error) {
	return setup(secret, enc, enc, public, info)
}

// setup fails for an all-zero result of X25519 [O-4.2], which the package curve25519 refuses.
func setup(secret, public, enc, recipient, info []byte) (Context, error) {
	dh, err := curve25519.X25519(secret, public)
	if err != nil {
		return Context{}, err
	}
	shared := labeledExpand(labeledExtract(nil, format.HPKEEaePrk, dh), format.HPKESharedSecret, enc, recipient)
	infoHash := labeledExtract(nil, format.HPKEInfoHash, info)
	key := labeledExtract(shared, format.HPKESecret, nil)
	aead, err := chacha20poly1305.New(labeledExpand(key, format.HPKEKey, pskIDHash, infoHash))
	return Context{aead, labeledExpand(key, format.HPKEBaseNonce, pskIDHash, infoHash)[:chacha20poly1305.NonceSize]}, err
}

// labeledExtract: for HMAC an empty salt and 32 zero bytes are the same key. The label has the suite in it.
func labeledExtract(salt []byte, label string, ikm []byte) []byte {
	return sum(salt, []byte(label), ikm)
}

// labeledExpand returns the first block of HKDF-Expand, 32 bytes. The label has the length and the suite in it.
func labeledExpand(prk []byte, label string, info ...[]byte) []byte {
	return sum(prk, append(append([][]byte{[]byte(label)}, info...), []byte{1})...)
}

func sum(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
