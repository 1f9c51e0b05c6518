package pushcrypt

import (
	"crypto/ed25519"
	"encoding/binary"
	"math"
	"time"
)

// rotationMessage is what the key of a role signs.
func rotationMessage(role byte, old SenderPublicKey, claim []byte) []byte {
	data := append([]byte("pushcrypt/1 rotation\x00"), role)
	return append(append(data, old.bytes[:]...), claim...)
}

// recoveryMessage is what the key of a role signs: the app too, so that each app needs its own statement.
func recoveryMessage(role byte, recovery RecoveryPublicKey, topic string, claim []byte) []byte {
	data := append([]byte("pushcrypt/1 recovery\x00"), role)
	return append(appendLP16(append(data, recovery.bytes[:]...), topic), claim...)
}

// A Rotation says how long its two keys count. The zero value of a field is its usual value.
type Rotation struct {
	// At is the time of issue, by default now.
	At time.Time
	// AcceptFor is how long phones accept the statement, by default 400 days.
	AcceptFor time.Duration
	// Overlap is how long the old key verifies messages, by default 31 days, at most 60; a negative one is none.
	Overlap time.Duration
}

// RotationStatement issues the statement that a key replaces another: 181 bytes, to announce with each message until all phones know it.
// A provider rotates a key once.
func RotationStatement(old, new *SenderKey, rotation Rotation) ([]byte, error) {
	if rotation.AcceptFor == 0 {
		rotation.AcceptFor = 400 * 24 * time.Hour
	}
	switch {
	case rotation.Overlap == 0:
		rotation.Overlap = 31 * 24 * time.Hour
	case rotation.Overlap < 0:
		rotation.Overlap = 0
	}
	at, ok := milliseconds(rotation.At)
	acceptFor, overlap := rotation.AcceptFor/time.Second, rotation.Overlap/time.Second
	switch {
	case !ok || at > largestTime || acceptFor < 0 || acceptFor > math.MaxUint32:
		return nil, refuse(InvalidTime, "the time of issue or the time to accept it for is out of range")
	case overlap > largestOverlap:
		return nil, refuse(OverlapTooLong, "the old key may verify for at most 60 days")
	case old.public == new.public:
		return nil, refuse(SupersededNewKey, "a key cannot replace itself")
	}
	claim := statementClaim(versionRotation, old.public.id, new, at, uint32(acceptFor), uint32(overlap))
	first := ed25519.Sign(old.private, rotationMessage(roleOld, old.public, claim))
	return append(append(claim, first...), ed25519.Sign(new.private, rotationMessage(roleNew, old.public, claim))...), nil
}

// RecoveryStatement issues the statement that pins a key whatever a phone of the app has pinned: 181 bytes. The serial is above that of
// each earlier recovery by this key for the app. Announce it before all others in each message, permanently.
func RecoveryStatement(recovery *RecoveryKey, new *SenderKey, topic string, serial uint32, at time.Time) ([]byte, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	issuedAt, ok := milliseconds(at)
	switch {
	case !ok || issuedAt > largestTime:
		return nil, refuse(InvalidTime, "the time of issue is out of range")
	case serial == 0:
		return nil, refuse(MalformedStatement, "the serial of a recovery is at least 1")
	case recovery.public.bytes == new.public.bytes:
		return nil, refuse(SupersededNewKey, "the new key is the recovery key; each needs its own")
	}
	claim := statementClaim(versionRecovery, recovery.public.id, new, issuedAt, math.MaxUint32, serial)
	first := ed25519.Sign(recovery.private, recoveryMessage(roleRecovery, recovery.public, topic, claim))
	second := ed25519.Sign(new.private, recoveryMessage(roleNew, recovery.public, topic, claim))
	return append(append(claim, first...), second...), nil
}

func statementClaim(version byte, id [4]byte, new *SenderKey, at uint64, fifth, sixth uint32) []byte {
	claim := append(make([]byte, 0, statementLength), version)
	claim = append(append(claim, id[:]...), new.public.bytes[:]...)
	claim = binary.BigEndian.AppendUint64(claim, at)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(claim, fifth), sixth)
}
