package filter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
)

// The member by which answers are matched.
const numberMember = "pushcrypt-number"

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
	// Nothing in it can end the member; the command checks the rest.
	var payload bytes.Buffer
	if !utf8.Valid(message.Payload) || json.Compact(&payload, message.Payload) != nil || payload.Bytes()[0] != '{' {
		return nil, &pushcrypt.Error{Code: pushcrypt.MalformedPayload, Text: "the payload is not a JSON object in UTF-8"}
	}
	members := map[string]any{
		"to": message.To, "id": message.ID, "topic": message.Topic, "ttl": int64(message.TimeToLive / time.Second), "placeholder": message.Placeholder,
		"push_type": string(message.PushType), "withdraw": message.Withdraws, "drop": message.Drop, "from_name": message.From,
		"collapse_id": message.CollapseID, "priority": message.Priority, "to_user": nil, "payload": nil, numberMember: nil,
	}
	for name := range message.Passed {
		if _, isOwn := members[name]; isOwn {
			return nil, invalid("a member of the message's own name cannot be passed through")
		}
	}
	for name, value := range members {
		if value == nil || reflect.ValueOf(value).IsZero() {
			delete(members, name)
		}
	}
	if members["to"] = message.To; message.HasNoKey {
		members["to"] = nil
	}
	for name, value := range message.Passed {
		members[name] = value
	}
	if message.From != nil {
		if err := message.From.Check(); err != nil {
			return nil, err
		}
	}
	line, err := json.Marshal(members)
	// That is how encoding/json writes what is no UTF-8.
	if bytes.Contains(line, []byte(`\ufffd`)) && !utf8.ValidString(fmt.Sprint(members)) {
		return nil, invalid("a text is not UTF-8, and encoding/json would change it")
	}
	if err == nil && len(message.Passed) > 0 {
		_, err = jsontext.ParseObject(line)
	}
	if err != nil {
		return nil, invalid("encoding/json cannot express the message, or it breaks the rules of a line")
	}
	line = append(append(line[:len(line)-1], `,"payload":`...), payload.Bytes()...)
	if len(line) > format.FilterLongestLine-len(numberMember)-32 {
		return nil, invalid("the message has over 1 MiB, and the command reads no such line")
	}
	return line, nil
}

func invalid(text string) error { return &pushcrypt.Error{Code: pushcrypt.InvalidRequest, Text: text} }

// decode reads an answer with its number; nil for anything else.
func decode(line []byte) (number uint64, answer *Answer) {
	members, refusal := map[string]json.RawMessage{}, struct{ Code, Message string }{}
	if json.Unmarshal(line, &members) != nil || json.Unmarshal(members[numberMember], &number) != nil {
		return 0, nil
	}
	answer = &Answer{Payload: members["payload"], Members: members}
	if text, ok := members["error"]; ok {
		if json.Unmarshal(text, &refusal) != nil || refusal.Code == "" {
			return 0, nil
		}
		answer.Error = &pushcrypt.Error{Code: pushcrypt.Code(refusal.Code), Text: refusal.Message}
	} else if !bytes.HasPrefix(answer.Payload, []byte("{")) {
		return 0, nil
	}
	for _, name := range []string{numberMember, "payload", "error"} {
		delete(members, name)
	}
	return number, answer
}
