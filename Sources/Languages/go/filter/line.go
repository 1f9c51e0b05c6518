package filter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/jsontext"
)

const (
	// The member by which answers are matched.
	numberMember  = "pushcrypt-number"
	longestAnswer = 1 << 22
)

// A Message is a line of "pushcrypt seal --batch". A zero value is as the command's options say.
type Message struct {
	// To is a device's id in the store, or the text of its public key.
	To string
	// HasNoKey says, instead of To, that the device has no key.
	HasNoKey bool
	// Payload is JSON as []byte or json.RawMessage, which is kept but for white space, or a value, written by encoding/json.
	Payload any
	// ID names the message, the same in every retry.
	ID    string
	Topic string
	// TimeToLive is whole seconds.
	TimeToLive time.Duration
	// Placeholder is a title, or a value with title, sound and clear.
	Placeholder any
	PushType    pushcrypt.PushType
	// Withdraw names earlier messages.
	Withdraw []string
	Drop     bool
	// From is whom the notification is from.
	From       *pushcrypt.Person
	CollapseID string
	Priority   int
	// Passed comes back with the answer: tokens, receipts.
	Passed map[string]any
}

// members returns everything but the payload.
func (message *Message) members() (map[string]any, error) {
	if message.TimeToLive < 0 || message.TimeToLive%time.Second != 0 {
		return nil, &pushcrypt.Error{Code: pushcrypt.InvalidTime, Text: "the time to live is whole seconds"}
	}
	if message.From != nil {
		if _, err := message.From.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	members := map[string]any{"to": message.To, "to_user": nil, "payload": nil, numberMember: nil}
	if message.HasNoKey {
		members["to"] = nil
	}
	own := map[string]any{
		"id": message.ID, "topic": message.Topic, "ttl": int64(message.TimeToLive / time.Second), "placeholder": message.Placeholder,
		"push_type": string(message.PushType), "withdraw": message.Withdraw, "drop": message.Drop, "from_name": message.From,
		"collapse_id": message.CollapseID, "priority": message.Priority,
	}
	for name := range message.Passed {
		_, isOwn := own[name]
		_, isTaken := members[name]
		if isOwn || isTaken {
			return nil, &pushcrypt.Error{Code: pushcrypt.InvalidRequest, Text: "a member of the message's own name cannot be passed through"}
		}
	}
	for _, name := range []string{"to_user", "payload", numberMember} {
		delete(members, name)
	}
	for name, value := range own {
		if value != nil && !reflect.ValueOf(value).IsZero() {
			members[name] = value
		}
	}
	for name, value := range message.Passed {
		members[name] = value
	}
	return members, nil
}

// An Answer is the command's: it has either Payload or Error.
type Answer struct {
	// Payload is what to send; with --emit request the other members have its headers.
	Payload json.RawMessage
	// Error says why this message is refused.
	Error *Refusal
	// Members are all others, as written.
	Members map[string]json.RawMessage
}

// A Refusal is why a message is refused. errors.Is finds its Code, one that "pushcrypt explain" knows.
type Refusal struct {
	Code    string
	Message string
}

// Is tells whether target is the refusal's code.
func (refusal *Refusal) Is(target error) bool { return target == pushcrypt.Code(refusal.Code) }

// Error returns the code and the text.
func (refusal *Refusal) Error() string { return refusal.Code + ": " + refusal.Message }

// encode returns the line without its last brace, so that the number can follow.
func (message *Message) encode() ([]byte, error) {
	members, err := message.members()
	if err != nil {
		return nil, err
	}
	var payload []byte
	switch value := message.Payload.(type) {
	case []byte:
		payload = value
	case json.RawMessage:
		payload = value
	default:
		payload, err = jsontext.Encode(value, 0)
	}
	if err == nil {
		// Checked, so that nothing in it can end the member.
		_, err = jsontext.ParseObject(payload)
	}
	if err != nil {
		return nil, &pushcrypt.Error{Code: pushcrypt.MalformedPayload, Text: "the payload: " + err.Error()}
	}
	line, err := jsontext.Encode(members, 1)
	if err != nil {
		return nil, &pushcrypt.Error{Code: pushcrypt.InvalidRequest, Text: "the message's other members: " + err.Error()}
	}
	return append(append(line[:len(line)-1], `,"payload":`...), jsontext.Minify(payload)...), nil
}

func numbered(line []byte, number uint64) []byte {
	return append(strconv.AppendUint(append(line, `,"`+numberMember+`":`...), number, 10), "}\n"...)
}

func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		if err != bufio.ErrBufferFull || len(line) > longestAnswer {
			return line, err
		}
	}
}

// decode returns number 0 unless everything is right.
func decode(line []byte) (number uint64, answer *Answer, err error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(line, &members); err != nil {
		return 0, nil, err
	}
	answer = &Answer{Payload: members["payload"], Members: members}
	if refusal, ok := members["error"]; ok {
		answer.Error = &Refusal{}
		if err := json.Unmarshal(refusal, answer.Error); err != nil {
			return 0, nil, err
		}
	}
	if answer.Error == nil && !bytes.HasPrefix(answer.Payload, []byte("{")) || answer.Error != nil && answer.Error.Code == "" {
		return 0, nil, errors.New("neither a payload nor an error")
	}
	if err := json.Unmarshal(members[numberMember], &number); err != nil {
		return 0, nil, err
	}
	for _, name := range []string{numberMember, "payload", "error"} {
		delete(members, name)
	}
	return number, answer, nil
}

// words keeps the child's last messages.
type words struct {
	mutex sync.Mutex
	log   func(string)
	rest  string
	lines []string
}

func (own *words) Write(data []byte) (int, error) {
	own.mutex.Lock()
	defer own.mutex.Unlock()
	own.rest += string(data)
	for {
		line, rest, ok := strings.Cut(own.rest, "\n")
		if !ok {
			return len(data), nil
		}
		own.rest, own.lines = rest, append(own.lines, line)
		if len(own.lines) > 10 {
			own.lines = own.lines[1:]
		}
		own.log(line)
	}
}

func (own *words) last() string {
	own.mutex.Lock()
	defer own.mutex.Unlock()
	if len(own.lines) == 0 {
		return ""
	}
	return ": " + strings.Join(own.lines, " ")
}
