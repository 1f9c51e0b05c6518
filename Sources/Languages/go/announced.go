package pushcrypt

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// recoveryName stands in the line of a recovery, where a rotation has the key that it replaces.
const recoveryName = "recovery"

// AnnouncedStatements are what messages of a sender key carry, for a provider without the command's store. AnnouncingAll takes them.
type AnnouncedStatements struct {
	sender SenderPublicKey
	all    [][]byte
}

// ParseAnnouncedStatements reads what "pushcrypt export sender --statements" writes: 1 to 4 lines as of StatementLine, oldest first. Each
// rotation leads on from the one before, and the last to sender; behind a recovery older ones may be missing. The signatures of rotations are
// checked; that of a recovery needs the recovery key, which phones have.
func ParseAnnouncedStatements(text string, sender SenderPublicKey) (*AnnouncedStatements, error) {
	var all [][]byte
	var last SenderPublicKey
	for _, line := range strings.Split(text, "\n") {
		if line == "" {
			continue
		}
		words := strings.Split(line, " ")
		// The decoder skips line ends.
		if len(words) != 2 || strings.Contains(words[1], "\r") {
			return nil, errLine()
		}
		statement, err := base64URL.DecodeString(words[1])
		if err != nil {
			return nil, errLine()
		}
		if err := checkForm(statement); err != nil {
			return nil, err
		}
		if statement[0] == versionRecovery {
			if _, err := NewSenderPublicKey(statement[5:37]); err != nil || len(all) > 0 || words[0] != recoveryName {
				return nil, refuse(MalformedStatement, "a recovery is only the first line, behind 'recovery'")
			}
		} else if last, err = rotatedTo(statement, words[0], last); err != nil {
			return nil, err
		}
		all = append(all, statement)
	}
	if len(all) < 1 || len(all) > mostStatements {
		return nil, refuse(MalformedStatement, fmt.Sprintf("there are %d statements, and a message carries 1 to 4", len(all)))
	}
	if !last.isZero() && last != sender {
		return nil, refuse(UntrustedOldKey, "the last statement leads to another key than the one that signs")
	}
	return &AnnouncedStatements{sender, all}, nil
}

// rotatedTo returns the new key of a rotation, which replaces the key of a text and, if there is one, the last.
func rotatedTo(statement []byte, replaced string, last SenderPublicKey) (SenderPublicKey, error) {
	old, err := ParseSenderPublicKey(replaced)
	if err != nil || !bytes.Equal(old.id[:], statement[1:5]) || !last.isZero() && last != old {
		return SenderPublicKey{}, refuse(UntrustedOldKey, "a line replaces another key than the line before leads to")
	}
	claim := statement[:claimLength]
	if !old.verifies(statement[53:117], rotationMessage(roleOld, old, claim)) {
		return SenderPublicKey{}, refuse(BadStatementSignature, "the old key did not sign the statement")
	}
	key, err := NewSenderPublicKey(statement[5:37])
	if err == nil && !key.verifies(statement[117:], rotationMessage(roleNew, old, claim)) {
		err = refuse(BadStatementSignature, "the new key did not sign the statement")
	}
	return key, err
}

func errLine() error {
	return refuse(MalformedStatement, "a line is not a key and a statement, or is cut")
}

// Sender returns the key to which the last statement leads.
func (announced *AnnouncedStatements) Sender() SenderPublicKey { return announced.sender }

// Accepted returns the statements that phones accept at a time, for the zero value now: a recovery always, and rotations after the last
// expired one.
func (announced *AnnouncedStatements) Accepted(at time.Time) [][]byte {
	now, _ := milliseconds(at)
	rest := announced.all
	var accepted [][]byte
	add := func(statement []byte) { accepted = append(accepted, append([]byte(nil), statement...)) }
	if rest[0][0] == versionRecovery {
		add(rest[0])
		rest = rest[1:]
	}
	first := 0
	for index, statement := range rest {
		if now > later(u64(statement[37:]), u32(statement[45:])) {
			first = index + 1
		}
	}
	for _, statement := range rest[first:] {
		add(statement)
	}
	return accepted
}

// StatementLine returns the line of a statement, with its newline; replaced is the key that a rotation replaces, and nil for a recovery.
func StatementLine(statement []byte, replaced *SenderPublicKey) (string, error) {
	if err := checkForm(statement); err != nil {
		return "", err
	}
	if (statement[0] == versionRecovery) != (replaced == nil) || replaced != nil && !bytes.Equal(replaced.id[:], statement[1:5]) {
		return "", refuse(UntrustedOldKey, "a rotation needs the key that it replaces, and a recovery none")
	}
	name := recoveryName
	if replaced != nil {
		name = replaced.String()
	}
	return name + " " + base64URL.EncodeToString(statement) + "\n", nil
}
