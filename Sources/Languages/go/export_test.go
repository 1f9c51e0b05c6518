package pushcrypt

import (
	"crypto/ed25519"
	"encoding/binary"
	"time"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
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
func CollapseIDOf(provider ProviderPublicKey, topic, name string, device DevicePublicKey, message string, collapseName *string) string {
	return collapseID(provider, topic, name, collapseName, core.NamedMessageID(message), device)
}

// Clock is the package's.
var Clock = &core.Now

// SealFor seals with a time to live that is not rounded, in seconds.
func (sealer *Sealer) SealFor(payload []byte, device *StoredDevice, sentAt, life uint64, options ...Option) (*Push, error) {
	m, err := sealer.defaults.with(append(options, WithTime(time.UnixMilli(int64(sentAt)))))
	if err != nil {
		return nil, err
	}
	return sealer.seal(m, payload, device, sentAt, life)
}
