package pushcrypt

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// AnnouncedStatements are what messages of a sender key carry, for a provider without the command's store. AnnouncingAll takes them.
type AnnouncedStatements struct {
	sender SenderPublicKey
	all    [][]byte
}

// ParseAnnouncedStatements reads what "pushcrypt export sender --statements" writes: 1 to 4 lines as of StatementLine, oldest first. Each
// rotation leads on from the line before, and the last line to sender. After a recovery, older rotations may be missing. The signatures of
// rotations are checked; that of a recovery needs the recovery key, which phones have.
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
			last, err = recoveredTo(statement, words[0], len(all) == 0)
		} else {
			last, err = rotatedTo(statement, words[0], last)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, statement)
	}
	if len(all) < 1 || len(all) > mostStatements {
		return nil, refuse(MalformedStatement, fmt.Sprintf("there are %d statements, and a message carries 1 to 4", len(all)))
	}
	if last != sender {
		return nil, refuse(UntrustedOldKey, "the last statement leads to another key than the one that signs")
	}
	return &AnnouncedStatements{sender, all}, nil
}

// recoveredTo returns the key of a text, to which the line of a recovery leads.
func recoveredTo(statement []byte, text string, isFirst bool) (SenderPublicKey, error) {
	if _, err := NewSenderPublicKey(statement[5:37]); err != nil || !isFirst {
		return SenderPublicKey{}, refuse(MalformedStatement, "a recovery must be the first line, and lead to a valid key")
	}
	key, err := ParseSenderPublicKey(text)
	if err != nil {
		err = refuse(UntrustedOldKey, "the line of a recovery must begin with a sender key")
	}
	return key, err
}

// rotatedTo returns the new key of a rotation, which replaces the key of a text and, if there is one, the last.
func rotatedTo(statement []byte, replaced string, last SenderPublicKey) (SenderPublicKey, error) {
	old, err := ParseSenderPublicKey(replaced)
	if err != nil || !bytes.Equal(old.id[:], statement[1:5]) || !last.isZero() && last != old {
		return SenderPublicKey{}, refuse(UntrustedOldKey, "a line does not begin with the key that it replaces, or that the line before leads to")
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

// Sender returns the key to which the last line leads.
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

// StatementLine returns the line of a statement, with its newline. For a rotation, key is the key it replaces. For a recovery, it is the
// key that the next line replaces or, if that is the last line, the key that signs. Unless rotations are missing, this is the recovery's
// new key. The code is UntrustedOldKey without a key, or for a rotation of another one.
func StatementLine(statement []byte, key SenderPublicKey) (string, error) {
	if err := checkForm(statement); err != nil {
		return "", err
	}
	if key.isZero() {
		return "", refuse(UntrustedOldKey, "the line of a statement needs a key")
	}
	if statement[0] != versionRecovery && !bytes.Equal(key.id[:], statement[1:5]) {
		return "", refuse(UntrustedOldKey, "the line of a rotation needs the key that it replaces")
	}
	return key.String() + " " + base64URL.EncodeToString(statement) + "\n", nil
}
