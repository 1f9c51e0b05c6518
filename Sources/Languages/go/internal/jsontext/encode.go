package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ErrChanged is returned for a value that encoding/json would change.
var ErrChanged = errors.New("a string is not valid UTF-8, which encoding/json would replace")

// Encode writes a caller's value with encoding/json, without escaping for HTML, and refuses what that would change, and what is no JSON
// object by the rules here. More is how much deeper than Depth it may be.
func Encode(value any, more int) ([]byte, error) {
	var output bytes.Buffer
	encoder := json.NewEncoder(&output)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, errors.New("encoding/json cannot express a value of it")
	}
	data := bytes.TrimSuffix(output.Bytes(), []byte("\n"))
	if _, err := parse(data, -more); err != nil {
		return nil, err
	}
	// The replacement is written as an escape, unlike U+FFFD in a valid string.
	for rest := data; ; {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 {
			return data, nil
		}
		if bytes.HasPrefix(rest[at:], []byte(`\ufffd`)) {
			return nil, ErrChanged
		}
		rest = rest[at+2:]
	}
}
