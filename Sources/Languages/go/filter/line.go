package filter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
)

// The member by which answers are matched.
const numberMember = "pushcrypt-number"

var errNoAnswer = errors.New("it wrote something that is no answer to a message; the command has to be pushcrypt seal --batch")

// A Message is a line of "pushcrypt seal --batch". A zero value is as the command's options say.
type Message struct {
	// To is a device's id in the store, or the text of its public key.
	To string
	// HasNoKey says, instead of To, that the device has no key.
	HasNoKey bool
	// Payload is a JSON object, kept but for white space.
	Payload []byte
	// ID names the message, the same in every retry.
	ID    string
	Topic string
	// TimeToLive is whole seconds.
	TimeToLive time.Duration
	// Placeholder is a title, or a value with title, sound and clear; nil for none.
	Placeholder any
	PushType    pushcrypt.PushType
	// Withdraws names earlier messages.
	Withdraws []string
	// Drop says that nothing is to be shown.
	Drop bool
	// From is whom the notification is from; nil for nobody.
	From       *pushcrypt.Person
	CollapseID string
	// Priority is 10, 5 or 1; 0 is usual.
	Priority int
	// Passed comes back with the answer: tokens, receipts. It is written by encoding/json; nil for none.
	Passed map[string]any
}

// The names of a line that are not passed through.
var reserved = map[string]bool{
	"to": true, "to_user": true, "payload": true, numberMember: true, "id": true, "topic": true, "ttl": true, "placeholder": true,
	"push_type": true, "withdraw": true, "drop": true, "from_name": true, "collapse_id": true, "priority": true,
}

// An Answer is the command's: it has either Payload or Error.
type Answer struct {
	// Payload is what to send; with --emit request the other members have its headers.
	Payload json.RawMessage
	// Error says why this message is refused, nil if it is not; its code is one that "pushcrypt explain" knows.
	Error *pushcrypt.Error
	// Members are all others, as written.
	Members map[string]json.RawMessage
}

// encode returns the line without its last brace, so that the number can follow.
func (message *Message) encode() ([]byte, error) {
	if message.TimeToLive < 0 || message.TimeToLive%time.Second != 0 {
		return nil, &pushcrypt.Error{Code: pushcrypt.InvalidTime, Text: "the time to live is whole seconds"}
	}
	// Checked, so that nothing in it can end the member.
	if _, err := jsontext.ParseObject(message.Payload); err != nil {
		return nil, &pushcrypt.Error{Code: pushcrypt.MalformedPayload, Text: "the payload: " + err.Error()}
	}
	var output jsontext.Output
	to := []byte(jsontext.Quote(message.To))
	if message.HasNoKey {
		to = []byte("null")
	}
	output.Add("to", to)
	output.Add("id", message.ID)
	output.Add("topic", message.Topic)
	output.Add("push_type", string(message.PushType))
	output.Add("withdraw", message.Withdraws)
	output.Add("drop", message.Drop)
	output.Add("collapse_id", message.CollapseID)
	others := map[string]any{}
	for name, value := range message.Passed {
		if reserved[name] {
			return nil, invalid("a member of the message's own name cannot be passed through")
		}
		others[name] = value
	}
	if message.TimeToLive != 0 {
		others["ttl"] = int64(message.TimeToLive / time.Second)
	}
	if message.Priority != 0 {
		others["priority"] = message.Priority
	}
	if message.Placeholder != nil {
		others["placeholder"] = message.Placeholder
	}
	if message.From != nil {
		others["from_name"] = message.From
	}
	for name, value := range others {
		data, err := json.Marshal(value)
		var own *pushcrypt.Error
		if errors.As(err, &own) {
			return nil, own
		} else if err != nil {
			return nil, invalid("encoding/json cannot express what is passed through")
		}
		output.Add(name, data)
	}
	line := output.Bytes()
	if _, err := jsontext.ParseObject(line); err != nil {
		return nil, invalid("the message's other members: " + err.Error())
	}
	payload := bytes.NewBuffer(append(line[:len(line)-1], `,"payload":`...))
	_ = json.Compact(payload, message.Payload)
	if payload.Len() > format.FilterLongestLine-len(numberMember)-32 {
		return nil, invalid("the message has over 1 MiB, and the command reads no such line")
	}
	return payload.Bytes(), nil
}

func invalid(text string) error { return &pushcrypt.Error{Code: pushcrypt.InvalidRequest, Text: text} }

func numbered(line []byte, number uint64) []byte {
	return append(strconv.AppendUint(append(line, `,"`+numberMember+`":`...), number, 10), "}\n"...)
}

func readLine(reader *bufio.Reader) (line []byte, err error) {
	for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull && len(line) <= format.FilterLongestAnswer; {
		var part []byte
		part, err = reader.ReadSlice('\n')
		line = append(line, part...)
	}
	return line, err
}

// decode reads an answer with its number.
func decode(line []byte) (number uint64, answer *Answer, err error) {
	members := map[string]json.RawMessage{}
	refusal := struct{ Code, Message string }{}
	if json.Unmarshal(line, &members) != nil || json.Unmarshal(members[numberMember], &number) != nil {
		return 0, nil, errNoAnswer
	}
	answer = &Answer{Payload: members["payload"], Members: members}
	if text, ok := members["error"]; ok {
		if json.Unmarshal(text, &refusal) != nil || refusal.Code == "" {
			return 0, nil, errNoAnswer
		}
		answer.Error = &pushcrypt.Error{Code: pushcrypt.Code(refusal.Code), Text: refusal.Message}
	} else if !bytes.HasPrefix(answer.Payload, []byte("{")) {
		return 0, nil, errNoAnswer
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
