package core

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"math/big"

	"golang.org/x/crypto/curve25519"

	"example.com/pushcrypt/internal/format"
)

// The field's prime P, and 5L - 1, where L is the order of the curve's large subgroup, in 32 bytes, little-endian.
var (
	one       = big.NewInt(1)
	primeP    = new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	orderL, _ = new(big.Int).SetString("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed", 16)
	fiveL1    = reversed(new(big.Int).Sub(new(big.Int).Mul(orderL, big.NewInt(5)), one).FillBytes(make([]byte, 32)))
	// The encoding of the identity.
	identity = append([]byte{1}, make([]byte, 31)...)
)

// IsShare tells whether 32 bytes are a u-coordinate to which one may encrypt [K-8].
func IsShare(data []byte) bool {
	return littleEndian(data).Cmp(primeP) < 0 && !isSmallOrder(data)
}

// IsLattice tells whether the 12-bit numbers of a key for ML-KEM are reduced [K-8].
func IsLattice(data []byte) bool {
	for at := 0; at+format.KeyLength < len(data); at += 3 {
		low, high := int(data[at])|int(data[at+1]&15)<<8, int(data[at+1])>>4|int(data[at+2])<<4
		if low >= format.MlkemModulus || high >= format.MlkemModulus {
			return false
		}
	}
	return true
}

// IsVerifying tells whether 32 bytes are an Ed25519 key by [K-7]. With u of the point in Montgomery form, X25519(5L - 1, u) = u exactly for a
// point of order L; a y of no point gives one of the twist, which has none of that order.
func IsVerifying(data []byte) bool {
	if len(data) != format.KeyLength {
		return false
	}
	y := littleEndian(data)
	y.SetBit(y, 255, 0)
	if y.Cmp(primeP) >= 0 || y.Cmp(one) == 0 {
		return false
	}
	u := new(big.Int).Sub(one, y)
	u.Mod(u, primeP).ModInverse(u, primeP).Mul(u, y.Add(y, one)).Mod(u, primeP)
	encoded := reversed(u.FillBytes(make([]byte, format.KeyLength)))
	product, err := curve25519.X25519(fiveL1, encoded)
	return !isSmallOrder(encoded) && err == nil && bytes.Equal(product, encoded)
}

// Verifies checks a signature by [K-9]. The key has passed [K-7]; Go compares the bytes of R.
func Verifies(key, signature, message []byte) bool {
	return len(key) == ed25519.PublicKeySize && len(signature) == ed25519.SignatureSize && !bytes.Equal(signature[:32], identity) &&
		ed25519.Verify(key, message, signature)
}

func isSmallOrder(u []byte) bool {
	digits, isWeak := hex.EncodeToString(u), false
	for _, weak := range format.WeakDeviceKeys {
		isWeak = isWeak || digits == weak
	}
	return isWeak
}

func littleEndian(data []byte) *big.Int { return new(big.Int).SetBytes(reversed(data)) }

func reversed(data []byte) []byte {
	flipped := make([]byte, len(data))
	for index, value := range data {
		flipped[len(data)-1-index] = value
	}
	return flipped
}
