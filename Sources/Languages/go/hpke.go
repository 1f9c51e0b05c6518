package pushcrypt

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/curve25519"
)

// HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.

var (
	kemSuite  = []byte("KEM\x00\x20")
	hpkeSuite = []byte("HPKE\x00\x20\x00\x01\x00\x03")
	// The mode, 0 for base, and the hash of the empty psk_id.
	pskIDHash = append([]byte{0}, labeledExtract(hpkeSuite, nil, "psk_id_hash")...)
)

// An hpkeContext is at sequence number 0, for one message.
type hpkeContext struct {
	aead  cipher.AEAD
	nonce []byte
}

func errNotAuthentic() error {
	return refuse(AuthenticationFailed,
		"the message was changed, or not sealed by a pinned provider for this app and device; compare topic and keys on both ends")
}

// setupBaseS returns enc and the sealer's context.
func setupBaseS(recipient, info, ikmE []byte) ([]byte, hpkeContext, error) {
	prk := labeledExtract(kemSuite, nil, "dkp_prk", ikmE)
	secret := labeledExpand(kemSuite, prk, "sk", 32)
	enc, err := curve25519.X25519(secret, curve25519.Basepoint)
	if err != nil {
		return nil, hpkeContext{}, err
	}
	shared, err := sharedSecret(secret, recipient, enc, recipient)
	if err != nil {
		return nil, hpkeContext{}, err
	}
	context, err := keySchedule(shared, info)
	return enc, context, err
}

// setupBaseR returns the recipient's context. The KEM context is enc as received [O-4.1].
func setupBaseR(enc []byte, key *DeviceKey, info []byte) (hpkeContext, error) {
	shared, err := sharedSecret(key.secret[:], enc, enc, key.public.bytes[:])
	if err != nil {
		return hpkeContext{}, errNotAuthentic()
	}
	return keySchedule(shared, info)
}

// sharedSecret fails for an all-zero result of X25519 [O-4.2], which the package curve25519 refuses.
func sharedSecret(secret, public, enc, recipient []byte) ([]byte, error) {
	dh, err := curve25519.X25519(secret, public)
	if err != nil {
		return nil, err
	}
	prk := labeledExtract(kemSuite, nil, "eae_prk", dh)
	return labeledExpand(kemSuite, prk, "shared_secret", 32, enc, recipient), nil
}

func keySchedule(shared, info []byte) (hpkeContext, error) {
	infoHash := labeledExtract(hpkeSuite, nil, "info_hash", info)
	secret := labeledExtract(hpkeSuite, shared, "secret")
	aead, err := chacha20poly1305.New(labeledExpand(hpkeSuite, secret, "key", 32, pskIDHash, infoHash))
	return hpkeContext{aead, labeledExpand(hpkeSuite, secret, "base_nonce", 12, pskIDHash, infoHash)}, err
}

// labeledExtract: for HMAC an empty salt and 32 zero bytes are the same key.
func labeledExtract(suite, salt []byte, label string, ikm ...[]byte) []byte {
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte("HPKE-v1"))
	mac.Write(suite)
	mac.Write([]byte(label))
	for _, part := range ikm {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// labeledExpand returns at most 32 bytes, for which only the first block of HKDF-Expand is needed.
func labeledExpand(suite, prk []byte, label string, length byte, info ...[]byte) []byte {
	mac := hmac.New(sha256.New, prk)
	mac.Write([]byte{0, length})
	mac.Write([]byte("HPKE-v1"))
	mac.Write(suite)
	mac.Write([]byte(label))
	for _, part := range info {
		mac.Write(part)
	}
	mac.Write([]byte{1})
	return mac.Sum(nil)[:length]
}
