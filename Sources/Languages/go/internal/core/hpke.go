// HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.

package core

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

// SetupS returns enc, and what encrypts one message without associated data, with its nonce.
func SetupS(recipient, info, ikmE []byte) (enc []byte, aead cipher.AEAD, nonce []byte, err error) {
	secret := labeledExpand(labeledExtract(nil, format.HPKEDkpPrk, ikmE), format.HPKESk)
	if enc, err = curve25519.X25519(secret, curve25519.Basepoint); err != nil {
		return nil, nil, nil, err
	}
	aead, nonce, err = setup(secret, recipient, enc, recipient, info)
	return enc, aead, nonce, err
}

// SetupR returns the same for the recipient. The KEM context is enc as received [O-4.1].
func SetupR(enc, secret, public, info []byte) (cipher.AEAD, []byte, error) {
	return setup(secret, enc, enc, public, info)
}

// setup fails for an all-zero result of X25519 [O-4.2], which the package curve25519 refuses.
func setup(secret, public, enc, recipient, info []byte) (cipher.AEAD, []byte, error) {
	dh, err := curve25519.X25519(secret, public)
	if err != nil {
		return nil, nil, err
	}
	shared := labeledExpand(labeledExtract(nil, format.HPKEEaePrk, dh), format.HPKESharedSecret, enc, recipient)
	infoHash := labeledExtract(nil, format.HPKEInfoHash, info)
	key := labeledExtract(shared, format.HPKESecret, nil)
	aead, err := chacha20poly1305.New(labeledExpand(key, format.HPKEKey, pskIDHash, infoHash))
	return aead, labeledExpand(key, format.HPKEBaseNonce, pskIDHash, infoHash)[:chacha20poly1305.NonceSize], err
}

// labeledExtract: for HMAC an empty salt and 32 zero bytes are the same key. The label has the suite in it.
func labeledExtract(salt []byte, label string, ikm []byte) []byte {
	return HMAC(salt, []byte(label), ikm)
}

// labeledExpand returns the first block of HKDF-Expand, 32 bytes. The label has the length and the suite in it.
func labeledExpand(prk []byte, label string, info ...[]byte) []byte {
	return HMAC(prk, append(append([][]byte{[]byte(label)}, info...), []byte{1})...)
}

// HMAC is HMAC-SHA256 over parts.
func HMAC(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
