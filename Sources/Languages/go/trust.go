package pushcrypt

import (
	"bytes"
	"errors"
	"time"
)

// Trust and its changes: Docs/FormatRotation.md, rules to.
const (
	statementLength  = 181
	claimLength      = 53
	versionRotation  = 0x01
	versionRecovery  = 0x02
	roleOld          = 0x01
	roleNew          = 0x02
	roleRecovery     = 0x03
	clockTolerance   = 86_400
	largestOverlap   = 5_184_000
	mostRecoveryKeys = 2
)

// A Superseded key is no longer pinned, and never verifies a statement again. It verifies messages to the end of its overlap.
//
// Without a statement it is revoked, by the app or by a recovery: it verifies nothing, for any sender. The statement is always
// kept: and need it.
type Superseded struct {
	Key       SenderPublicKey
	Statement []byte
}

func (old Superseded) isRevoked() bool { return len(old.Statement) == 0 }

func (old Superseded) verifies(now uint64) bool {
	return !old.isRevoked() && now <= later(u64(old.Statement[37:]), u32(old.Statement[49:]))
}

// A Sender is what a receiver has of one sender.
type Sender struct {
	// Name is the app's for the sender.
	Name string
	// Pinned is the zero value if the app has removed the pin.
	Pinned SenderPublicKey
	// Superseded keys are in the order in which they lost the pin.
	Superseded []Superseded
	// Recovery has at most two keys, which come from the app, or with the reply that brings the first pin.
	Recovery []RecoveryPublicKey
	// LastRecovery is the first 53 bytes of the last recovery statement, which include the serial.
	LastRecovery []byte
}

func (sender *Sender) hasPin() bool { return !sender.Pinned.isZero() }

// own returns the keys that the sender has and had.
func (sender *Sender) own() []SenderPublicKey {
	var keys []SenderPublicKey
	if sender.hasPin() {
		keys = append(keys, sender.Pinned)
	}
	for _, old := range sender.Superseded {
		keys = append(keys, old.Key)
	}
	return keys
}

func (sender *Sender) had(key SenderPublicKey) bool {
	for _, old := range sender.Superseded {
		if old.Key == key {
			return true
		}
	}
	return false
}

// Trust is the senders that an app trusts for one topic, in order. It is immutable: a change gives another.
//
// It is durable and only grows. Two messages may be opened at the same time, each with the trust stored before. So never store the trust
// that a message was opened with: under one lock read the stored one, let it Follow the message's statements, and store that, superseded
// keys, their statements and the last recovery included.
type Trust struct{ senders []Sender }

// NewTrust creates a trust from what an app has stored or built in.
func NewTrust(senders ...Sender) (*Trust, error) {
	trust := &Trust{append([]Sender(nil), senders...)}
	for index := range trust.senders {
		sender := &trust.senders[index]
		if len(sender.Recovery) > mostRecoveryKeys || len(sender.LastRecovery) != 0 && len(sender.LastRecovery) != claimLength {
			return nil, refuse(CorruptStore, "a sender has over 2 recovery keys, or part of a recovery")
		}
		seen := map[SenderPublicKey]bool{}
		for _, key := range sender.own() {
			if seen[key] || trust.isRecoveryKey(key) {
				return nil, refuse(SenderSuperseded, "one key is pinned and superseded, superseded twice, or a recovery key as well [K-10]")
			}
			seen[key] = true
		}
		for _, old := range sender.Superseded {
			if old.Key.isZero() || !old.isRevoked() && len(old.Statement) != statementLength {
				return nil, refuse(CorruptStore, "a superseded key is missing, or has a part of its statement")
			}
		}
	}
	return trust, nil
}

// Senders returns what to store.
func (trust *Trust) Senders() []Sender { return append([]Sender(nil), trust.senders...) }

func (trust *Trust) isRevoked(key SenderPublicKey) bool {
	for _, sender := range trust.senders {
		for _, old := range sender.Superseded {
			if old.Key == key && old.isRevoked() {
				return true
			}
		}
	}
	return false
}

func (trust *Trust) isRecoveryKey(key SenderPublicKey) bool {
	for _, sender := range trust.senders {
		for _, recovery := range sender.Recovery {
			if recovery.bytes == key.bytes {
				return true
			}
		}
	}
	return false
}

// candidates returns the keys under which a message with the sender key id may verify.
func (trust *Trust) candidates(id []byte, now uint64) []SenderPublicKey {
	var keys []SenderPublicKey
	add := func(key SenderPublicKey) {
		if bytes.Equal(key.id[:], id) && !trust.isRevoked(key) {
			keys = append(keys, key)
		}
	}
	for _, sender := range trust.senders {
		if sender.hasPin() {
			add(sender.Pinned)
		}
	}
	for _, sender := range trust.senders {
		for _, old := range sender.Superseded {
			if old.verifies(now) {
				add(old.Key)
			}
		}
	}
	return keys
}

// HadBefore returns a sender's key, and those that it had before and that still verify messages: whose messages it may withdraw [O-8.12].
func (trust *Trust) HadBefore(key SenderPublicKey, at time.Time) []SenderPublicKey {
	now, _ := milliseconds(at)
	keys := []SenderPublicKey{key}
	for _, sender := range trust.senders {
		end := 0
		for index, old := range sender.Superseded {
			if old.Key == key {
				end = index
			}
		}
		if sender.Pinned == key {
			end = len(sender.Superseded)
		}
		for _, old := range sender.Superseded[:end] {
			if old.verifies(now) && !trust.isRevoked(old.Key) {
				keys = append(keys, old.Key)
			}
		}
	}
	return keys
}

// Follow evaluates statements in order, and ignores one that fails. It returns the trust afterwards, the accepted statements, and
// the conflicts to tell the app of.
func (trust *Trust) Follow(statements [][]byte, topic string, at time.Time) (after *Trust, accepted [][]byte, told []Code) {
	now, _ := milliseconds(at)
	return trust.follow(statements, topic, now)
}

func (trust *Trust) follow(statements [][]byte, topic string, now uint64) (after *Trust, accepted [][]byte, told []Code) {
	after = trust
	conflicts := map[Code]bool{}
	for _, statement := range statements {
		next, conflict, err := after.evaluate(statement, topic, now)
		var refused *Error
		if errors.As(err, &refused) && isConflict(refused.Code) {
			conflict = refused.Code
		}
		if err == nil && next != after {
			after, accepted = next, append(accepted, statement)
		}
		conflicts[conflict] = true
	}
	for _, conflict := range []Code{RecoveryConflict, RotationConflict} {
		if conflicts[conflict] {
			told = append(told, conflict)
		}
	}
	return after, accepted, told
}

// Evaluate follows one statement. Each sender is evaluated separately. It returns the trust itself if nothing changes, and a
// conflict, or "", that the statement raises nevertheless.
func (trust *Trust) Evaluate(statement []byte, topic string, at time.Time) (after *Trust, conflict Code, err error) {
	now, _ := milliseconds(at)
	return trust.evaluate(statement, topic, now)
}

func isConflict(code Code) bool { return code == RotationConflict || code == RecoveryConflict }

func (trust *Trust) evaluate(statement []byte, topic string, now uint64) (after *Trust, conflict Code, err error) {
	if err := checkForm(statement); err != nil {
		return nil, "", err
	}
	worst := broken{3, UntrustedOldKey}
	if statement[0] == versionRecovery {
		worst = broken{15, UnknownRecoveryKey}
	}
	senders, changed, failures := append([]Sender(nil), trust.senders...), false, 0
	for index := range senders {
		var next *Sender
		var fails broken
		if statement[0] == versionRotation {
			next, fails = trust.rotated(&trust.senders[index], statement, now)
		} else {
			next, fails = trust.recovered(&trust.senders[index], statement, topic)
		}
		if fails.rule != 0 {
			failures++
			if isConflict(fails.code) && conflict == "" {
				conflict = fails.code
			}
			if fails.rule > worst.rule {
				worst = fails
			}
		} else if next != nil {
			senders[index], changed = *next, true
		}
	}
	switch {
	case changed:
		return &Trust{senders}, conflict, nil
	case conflict != "":
		return nil, "", errStatement(conflict)
	case failures < len(senders):
		return trust, "", nil
	}
	return nil, "", errStatement(worst.code)
}

// checkForm refuses what is not a statement.
func checkForm(statement []byte) error {
	if len(statement) != statementLength || statement[0] != versionRotation && statement[0] != versionRecovery ||
		statement[0] == versionRecovery && u32(statement[49:]) == 0 {
		return refuse(MalformedStatement, "a statement has 181 bytes, a known version and, for a recovery, a serial")
	}
	return nil
}

func errStatement(code Code) error {
	return refuse(code, "the statement changes nothing here; pushcrypt explain has the reason")
}

// broken is a rule that a statement breaks for one sender; 0 is none.
type broken struct {
	rule int
	code Code
}

// rotated returns the sender after a rotation to; nil if nothing changes.
func (trust *Trust) rotated(sender *Sender, statement []byte, now uint64) (*Sender, broken) {
	claim := statement[:claimLength]
	for _, old := range sender.Superseded {
		if !old.isRevoked() && bytes.Equal(old.Statement[:claimLength], claim) {
			return nil, broken{}
		}
	}
	known := false
	var old SenderPublicKey
	for _, key := range sender.own() {
		if !bytes.Equal(key.id[:], statement[1:5]) {
			continue
		}
		known = true
		if key.verifies(statement[53:117], rotationMessage(roleOld, key, claim)) {
			old = key
			break
		}
	}
	if !known {
		return nil, broken{3, UntrustedOldKey}
	}
	if old.isZero() {
		return nil, broken{4, BadStatementSignature}
	}
	added, err := NewSenderPublicKey(statement[5:37])
	issuedAt := u64(statement[37:])
	switch {
	case err != nil:
		return nil, broken{5, WeakKey}
	case !added.verifies(statement[117:], rotationMessage(roleNew, old, claim)):
		return nil, broken{6, BadStatementSignature}
	case trust.isRevoked(old):
		return nil, broken{7, UntrustedOldKey}
	case old != sender.Pinned:
		return nil, broken{7, RotationConflict}
	case added == old || !trust.mayPin(added, sender):
		return nil, broken{8, SupersededNewKey}
	case u32(statement[49:]) > largestOverlap:
		return nil, broken{9, OverlapTooLong}
	case issuedAt > later(now, clockTolerance):
		return nil, broken{10, StatementNotYetValid}
	case now > later(issuedAt, u32(statement[45:])):
		return nil, broken{11, StatementExpired}
	}
	after := *sender
	after.Pinned = added
	after.Superseded = append(append([]Superseded(nil), sender.Superseded...), Superseded{old, append([]byte(nil), statement...)})
	return &after, broken{}
}

// recovered returns the sender after a recovery to; nil if nothing changes. No clock decides.
func (trust *Trust) recovered(sender *Sender, statement []byte, topic string) (*Sender, broken) {
	claim := statement[:claimLength]
	known, signed := false, false
	var recovery RecoveryPublicKey
	for _, key := range sender.Recovery {
		if !sender.hasPin() || !bytes.Equal(key.id[:], statement[1:5]) {
			continue
		}
		known = true
		if key.verifies(statement[53:117], recoveryMessage(roleRecovery, key, topic, claim)) {
			recovery, signed = key, true
			break
		}
	}
	if !known {
		return nil, broken{15, UnknownRecoveryKey}
	}
	if !signed {
		return nil, broken{16, BadStatementSignature}
	}
	added, err := NewSenderPublicKey(statement[5:37])
	if err != nil {
		return nil, broken{17, WeakKey}
	}
	if !added.verifies(statement[117:], recoveryMessage(roleNew, recovery, topic, claim)) {
		return nil, broken{18, BadStatementSignature}
	}
	serial, last := u32(statement[49:]), uint32(0)
	if len(sender.LastRecovery) > 0 {
		last = u32(sender.LastRecovery[49:])
	}
	switch {
	case serial < last || bytes.Equal(claim, sender.LastRecovery):
		return nil, broken{}
	case serial == last:
		return nil, broken{19, RecoveryConflict}
	case !trust.mayPin(added, sender):
		return nil, broken{20, SupersededNewKey}
	}
	after := *sender
	after.Pinned, after.LastRecovery, after.Superseded = added, append([]byte(nil), claim...), nil
	for _, old := range sender.Superseded {
		after.Superseded = append(after.Superseded, Superseded{Key: old.Key})
	}
	if sender.Pinned != added {
		after.Superseded = append(after.Superseded, Superseded{Key: sender.Pinned})
	}
	return &after, broken{}
}

func (trust *Trust) mayPin(key SenderPublicKey, sender *Sender) bool {
	return !sender.had(key) && !trust.isRevoked(key) && !trust.isRecoveryKey(key)
}
