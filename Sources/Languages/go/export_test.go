package pushcrypt

import (
	"crypto/ed25519"
	"encoding/binary"
	"time"

	"example.com/pushcrypt/internal/core"
)

// What the vectors need and no program should have.

// ClaimOf returns what a plan's certificate says: epoch, floor, grace until and expires at.
func ClaimOf(plan Plan) (values []uint64, err error) {
	made, err := plan.claim()
	if err != nil {
		return nil, err
	}
	return []uint64{
		uint64(binary.BigEndian.Uint32(made[1:])), uint64(binary.BigEndian.Uint32(made[5:])), binary.BigEndian.Uint64(made[9:]), binary.BigEndian.Uint64(made[17:]),
	}, nil
}

// CertifyClaim signs such values.
func CertifyClaim(provider *ProviderKey, signing ed25519.PublicKey, topic string, epoch, floor uint32, graceUntil, expiresAt uint64) (Certificate, error) {
	return certify(provider, topic, append(claimOf(epoch, floor, graceUntil, expiresAt), signing...))
}

// CollapseIDOf is that of a message of a provider of which only the public key is known.
func CollapseIDOf(provider ProviderPublicKey, topic string, device DevicePublicKey, name string, options ...Option) string {
	m, _ := message{title: "a"}.with(options)
	return collapseID(provider, topic, m, core.NamedMessageID(name), device)
}

// SealFor seals with a time to live that is not rounded, in seconds.
func (sealer *Sealer) SealFor(payload []byte, device DevicePublicKey, sentAt, life uint64, options ...Option) (*Push, error) {
	m, err := sealer.defaults.with(append(options, WithTime(time.UnixMilli(int64(sentAt)))))
	if err != nil {
		return nil, err
	}
	return sealer.seal(m, payload, device, sentAt, life)
}
