package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
)

// The member by which answers are matched, and the end of a line that has it.
const (
	numberMember = "pushcrypt-number"
	numbered     = `,"` + numberMember + `":%d}` + "\n"
)

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

// The members of a line but for the payload, which is added as it is.
type members struct {
	To          any                `json:"to"`
	ID          string             `json:"id,omitempty"`
	Topic       string             `json:"topic,omitempty"`
	TimeToLive  int64              `json:"ttl,omitempty"`
	Placeholder any                `json:"placeholder,omitempty"`
	PushType    pushcrypt.PushType `json:"push_type,omitempty"`
	Withdraws   []string           `json:"withdraw,omitempty"`
	Drop        bool               `json:"drop,omitempty"`
	From        *pushcrypt.Person  `json:"from_name,omitempty"`
	CollapseID  string             `json:"collapse_id,omitempty"`
	Priority    int                `json:"priority,omitempty"`
}

// Names that only the filter may write.
var ownMembers = func() map[string]bool {
	own := map[string]bool{"to_user": true, "payload": true, numberMember: true}
	for fields, at := reflect.TypeOf(members{}), 0; at < fields.NumField(); at++ {
		name, _, _ := strings.Cut(fields.Field(at).Tag.Get("json"), ",")
		own[name] = true
	}
	return own
}()

// addPassed adds the members to pass through to an object that has others.
func (message *Message) addPassed(line []byte) ([]byte, error) {
	for name := range message.Passed {
		if ownMembers[name] {
			return nil, invalid("a member of the message's own name cannot be passed through")
		}
	}
	passed, err := json.Marshal(message.Passed)
	if err == nil {
		_, err = jsontext.ParseObject(passed)
	}
	if err != nil {
		return nil, err
	}
	return append(append(line[:len(line)-1], ','), passed[1:]...), nil
}

// encode returns the line without its last brace, so that the number can follow.
func (message *Message) encode() ([]byte, error) {
	if message.TimeToLive < 0 || message.TimeToLive%time.Second != 0 {
		return nil, &pushcrypt.Error{Code: pushcrypt.InvalidTime, Text: "the time to live is whole seconds"}
	}
	// Nothing in it can end the member; the command checks the rest.
	var payload bytes.Buffer
	payload.Grow(len(message.Payload))
	if !utf8.Valid(message.Payload) || json.Compact(&payload, message.Payload) != nil || payload.Bytes()[0] != '{' {
		return nil, &pushcrypt.Error{Code: pushcrypt.MalformedPayload, Text: "the payload is not a JSON object in UTF-8"}
	}
	if message.From != nil {
		if err := message.From.Check(); err != nil {
			return nil, err
		}
	}
	members := members{
		message.To, message.ID, message.Topic, int64(message.TimeToLive / time.Second), message.Placeholder, message.PushType, message.Withdraws,
		message.Drop, message.From, message.CollapseID, message.Priority,
	}
	if message.HasNoKey {
		members.To = nil
	}
	if message.Placeholder != nil && reflect.ValueOf(message.Placeholder).IsZero() {
		members.Placeholder = nil
	}
	line, err := json.Marshal(members)
	if err == nil && len(message.Passed) > 0 {
		line, err = message.addPassed(line)
	}
	// That is how encoding/json writes what is no UTF-8.
	if bytes.Contains(line, []byte(`\ufffd`)) && !utf8.ValidString(fmt.Sprint(members, message.Passed)) {
		return nil, invalid("a text is not UTF-8, and encoding/json would change it")
	}
	if refused := (*pushcrypt.Error)(nil); errors.As(err, &refused) {
		return nil, refused
	} else if err != nil {
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
	if json.Unmarshal(line, &members) != nil {
		return 0, nil
	}
	number, err := strconv.ParseUint(string(members[numberMember]), 10, 64)
	if err != nil {
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
