package filter

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"example.com/pushcrypt/internal/jsontext"
)

const (
	// The member by which answers are matched.
	numberMember  = "pushcrypt-number"
	longestAnswer = 1 << 22
)

// A Message is a line of "pushcrypt seal --batch": to, payload, id and others; what the command does not know comes back in the answer. It
// may not have to-user, whose number of answers is not known.
//
// A payload that is []byte or json.RawMessage is JSON, which is kept but for white space; any other value is written by encoding/json.
type Message map[string]any

// An Answer is the command's: it has either Payload or Error.
type Answer struct {
	// Payload is what to send; with --emit request the other members have its headers.
	Payload json.RawMessage
	// Error says why this message is refused.
	Error *Refusal
	// Members are all others, as written.
	Members map[string]json.RawMessage
}

// A Refusal is why a message is refused; Code is one that "pushcrypt explain" knows.
type Refusal struct {
	Code    string
	Message string
}

// Error returns the code and the text.
func (refusal *Refusal) Error() string { return refusal.Code + ": " + refusal.Message }

// encode returns the line of a message without its last brace, so that the number can follow.
func encode(message Message) ([]byte, error) {
	if len(message) == 0 {
		return nil, errors.New("pushcrypt: a message has to and payload")
	}
	var payload []byte
	rest := Message{}
	for name, value := range message {
		if name == "to-user" || name == numberMember {
			return nil, fmt.Errorf("pushcrypt: a message has to, not to-user, and no %s", numberMember)
		}
		raw, isRaw := value.(json.RawMessage)
		if data, ok := value.([]byte); ok {
			raw, isRaw = data, true
		}
		if name == "payload" && isRaw {
			payload = raw
		} else {
			rest[name] = value
		}
	}
	line, err := jsontext.Encode(rest, 1)
	if err == nil && payload != nil {
		// Checked, so that nothing in it can end the member.
		_, err = jsontext.ParseObject(payload)
	}
	if err != nil {
		return nil, fmt.Errorf("pushcrypt: malformed-payload: %w", err)
	}
	line = line[:len(line)-1]
	if payload == nil {
		return line, nil
	}
	if len(rest) > 0 {
		line = append(line, ',')
	}
	return append(append(line, `"payload":`...), jsontext.Minify(payload)...), nil
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
