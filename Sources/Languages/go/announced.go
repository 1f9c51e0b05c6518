package pushcrypt

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"
)

// AnnouncedStatements are what messages of a sender key carry, for a provider without the command's store. AnnouncingAll takes them.
type AnnouncedStatements struct {
	sender SenderPublicKey
	all    [][]byte
	// The key of each line.
	keys []SenderPublicKey
}

// ParseAnnouncedStatements reads what "pushcrypt export sender --statements" writes: 1 to 4 lines as of StatementLine, oldest first. Each
// rotation leads on from the line before, and the last line to sender. After a recovery, older rotations may be missing. The signatures of
// rotations are checked; that of a recovery needs the recovery key, which phones have.
func ParseAnnouncedStatements(text string, sender SenderPublicKey) (*AnnouncedStatements, error) {
	var all [][]byte
	var keys []SenderPublicKey
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
		// Zero if the text is of none.
		key, _ := ParseSenderPublicKey(words[0])
		if statement[0] == versionRecovery {
			last, err = key, checkRecovery(statement, key, len(all) == 0)
		} else {
			last, err = rotatedTo(statement, key, last)
		}
		if err != nil {
			return nil, err
		}
		all, keys = append(all, statement), append(keys, key)
	}
	if len(all) < 1 || len(all) > mostStatements {
		return nil, refuse(MalformedStatement, fmt.Sprintf("there are %d statements, and a message carries 1 to 4", len(all)))
	}
	if last != sender {
		return nil, refuse(UntrustedOldKey, "the last statement leads to another key than the one that signs")
	}
	return &AnnouncedStatements{sender, all, keys}, nil
}

func checkRecovery(statement []byte, key SenderPublicKey, isFirst bool) error {
	if _, err := NewSenderPublicKey(statement[5:37]); err != nil || !isFirst {
		return refuse(MalformedStatement, "a recovery must be the first line, and lead to a valid key")
	}
	if key == (SenderPublicKey{}) {
		return refuse(UntrustedOldKey, "the line of a recovery must begin with a sender key")
	}
	return nil
}

// rotatedTo returns the new key of a rotation, which replaces the old one, and so the last if there is one.
func rotatedTo(statement []byte, old, last SenderPublicKey) (SenderPublicKey, error) {
	if old.isZero() || !bytes.Equal(old.id[:], statement[1:5]) || !last.isZero() && last != old {
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

// Text returns the text that ParseAnnouncedStatements reads, to be stored.
func (announced *AnnouncedStatements) Text() string {
	text := ""
	for index, statement := range announced.all {
		text += lineOf(statement, announced.keys[index])
	}
	return text
}

// Adding returns what to announce after a rotation of Sender: these statements and that one. Its Sender is the new key.
//
// Older rotations stay for a time after their issue, for zero 60 days; a negative one is none. A recovery stays permanently; all that lead
// on from it stay while phones accept them and there is room. The zero value of at is now. The text of the first rotation is its
// StatementLine; so is that of a recovery, instead of all before it.
//
// If four others stay, the code is TooManyAnnouncements. Others are MalformedStatement, also of a recovery, UntrustedOldKey,
// BadStatementSignature, WeakKey, SupersededNewKey and InvalidTime.
func (announced *AnnouncedStatements) Adding(rotation []byte, announcedFor time.Duration, at time.Time) (*AnnouncedStatements, error) {
	switch {
	case announcedFor == 0:
		announcedFor = 60 * 24 * time.Hour
	case announcedFor < 0:
		announcedFor = 0
	}
	if err := checkForm(rotation); err != nil {
		return nil, err
	}
	old := announced.sender
	switch {
	case rotation[0] == versionRecovery:
		return nil, refuse(MalformedStatement, "a recovery is not added to a text: it begins another")
	case !bytes.Equal(old.id[:], rotation[1:5]):
		return nil, refuse(UntrustedOldKey, "the rotation replaces another key than the one that signs")
	}
	sender, err := rotatedTo(rotation, old, SenderPublicKey{})
	if err != nil {
		return nil, err
	}
	for _, key := range append([]SenderPublicKey{old}, announced.keys...) {
		if key == sender {
			return nil, refuse(SupersededNewKey, "the new key was replaced before, and phones never return to one")
		}
	}
	now, ok := milliseconds(at)
	if !ok || announcedFor/time.Second > math.MaxUint32 {
		return nil, refuse(InvalidTime, "the time to announce rotations for, or the present time, is out of range")
	}
	recoveries := 0
	if announced.all[0][0] == versionRecovery {
		recoveries = 1
	}
	first := len(announced.all)
	if announced.followsRecovery(at) {
		first = recoveries
	}
	for first > recoveries && now <= later(u64(announced.all[first-1][37:]), uint32(announcedFor/time.Second)) {
		first--
	}
	all := append(append([][]byte(nil), announced.all[:recoveries]...), announced.all[first:]...)
	if len(all) == mostStatements {
		return nil, refuse(TooManyAnnouncements, "4 statements are being announced, the most that a message carries: "+
			"wait until the first rotation's announcement ends, or shorten it and lose the phones that missed it")
	}
	rotations := append(append([]SenderPublicKey(nil), announced.keys[first:]...), old)
	// What a recovery leads to from now on.
	keys := append(append([]SenderPublicKey(nil), rotations[:recoveries]...), rotations...)
	return &AnnouncedStatements{sender, append(all, append([]byte(nil), rotation...)), keys}, nil
}

// followsRecovery tells whether phones that follow a recovery get to Sender, and there is room: without a line they would stop at its key.
func (announced *AnnouncedStatements) followsRecovery(at time.Time) bool {
	all := announced.all
	isWhole := all[0][0] == versionRecovery && bytes.Equal(all[0][5:37], announced.keys[0].bytes[:]) && len(announced.Accepted(at)) == len(all)
	return isWhole && len(all) < mostStatements
}

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
	return lineOf(statement, key), nil
}

func lineOf(statement []byte, key SenderPublicKey) string {
	return key.String() + " " + base64URL.EncodeToString(statement) + "\n"
}
