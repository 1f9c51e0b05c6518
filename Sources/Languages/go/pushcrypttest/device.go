package pushcrypttest

import (
	"crypto/rand"
	"fmt"
	"io"

	"golang.org/x/crypto/curve25519"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
)

// A DeviceKey is a device's secret key: PCR-SECRET-1…, 32 bytes. It is not printed. The zero value is no key.
type DeviceKey struct {
	secret []byte
	public pushcrypt.DevicePublicKey
}

// GenerateDeviceKey creates a key from the system's random source.
func GenerateDeviceKey() (*DeviceKey, error) {
	secret := make([]byte, format.KeyLength)
	if _, err := io.ReadFull(rand.Reader, secret); err != nil {
		return nil, err
	}
	return NewDeviceKey(secret)
}

// NewDeviceKey creates a key from 32 bytes.
func NewDeviceKey(secret []byte) (*DeviceKey, error) {
	if len(secret) != format.KeyLength {
		return nil, refuse(pushcrypt.MalformedKey, "a key has 32 bytes")
	}
	data, err := curve25519.X25519(secret, curve25519.Basepoint)
	if err != nil {
		return nil, refuse(pushcrypt.WeakKey, "the key gives no public key")
	}
	public, err := pushcrypt.NewDevicePublicKey(data)
	return &DeviceKey{append([]byte(nil), secret...), public}, err
}

// ParseDeviceKey reads a key's text; one newline at its end is dropped.
func ParseDeviceKey(text string) (*DeviceKey, error) {
	secret, code, advice := core.ReadKey(text, core.DeviceSecret)
	if code != "" {
		return nil, refuse(pushcrypt.Code(code), advice)
	}
	return NewDeviceKey(secret)
}

// PublicKey returns the public half.
func (key *DeviceKey) PublicKey() pushcrypt.DevicePublicKey { return key.public }

// SecretText returns the key's text, as secret as the key.
func (key *DeviceKey) SecretText() string { return core.WriteKey(key.secret, core.DeviceSecret) }

// Format prints the public half, whatever the verb.
func (key DeviceKey) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "DeviceKey(%s)", key.public)
}
