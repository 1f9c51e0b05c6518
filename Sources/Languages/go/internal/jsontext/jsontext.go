// Package jsontext reads JSON by the rules [J-1] to [J-6] of Docs/Format.md, and writes it.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/pushcrypt/Sources/Languages/go/internal/format"
)

// ErrMalformed is returned for whatever is not a JSON object.
var ErrMalformed = errors.New("it is not one JSON object in UTF-8, nested at most 32 deep, without equal names and half surrogate pairs")

// An escape, but for half of a pair of surrogates.
var escape = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[^dD]...|u.[0-7]..|[^u])`)

// ParseObject parses a JSON object: values are map[string]any, []any, string, json.Number, bool and nil. encoding/json checks the syntax; it
// would take equal names, and replace half a surrogate pair.
func ParseObject(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) || !json.Valid(data) || bytes.IndexByte(escape.ReplaceAll(data, nil), '\\') >= 0 {
		return nil, ErrMalformed
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	value, ok := read(decoder, 0)
	if object, isObject := value.(map[string]any); ok && isObject {
		return object, nil
	}
	return nil, ErrMalformed
}

// read reads a value; false for equal names, and what is nested too deep.
func read(decoder *json.Decoder, depth int) (value any, ok bool) {
	token, err := decoder.Token()
	bracket, isNested := token.(json.Delim)
	if err != nil || !isNested {
		return token, err == nil
	}
	object, array, ok := map[string]any{}, []any{}, depth < format.DeepestJSON
	for ok && decoder.More() {
		if bracket == '[' {
			value, ok = read(decoder, depth+1)
			array = append(array, value)
			continue
		}
		token, _ := decoder.Token()
		name, _ := token.(string)
		_, isTwice := object[name]
		value, ok = read(decoder, depth+1)
		object[name] = value
		ok = ok && !isTwice
	}
	_, _ = decoder.Token()
	if bracket == '[' {
		return array, ok
	}
	return object, ok
}

// Escapes that follow each other, as those of a pair of surrogates do.
var run = regexp.MustCompile(`(?:\\(?:u....|[^u]))+`)

// Minimal returns a checked text without white space between its tokens, and with the fewest bytes in its strings; numbers stay as written [S-7].
func Minimal(data []byte) []byte {
	if bytes.Contains(data, []byte(`\u`)) || bytes.Contains(data, []byte(`\/`)) {
		data = run.ReplaceAllFunc(data, func(found []byte) []byte {
			var text string
			_ = json.Unmarshal([]byte(`"`+string(found)+`"`), &text)
			return []byte(escapes.Replace(text))
		})
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, data)
	return compact.Bytes()
}

// Object returns a value that is an object; nil, which has no members, for another.
func Object(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

// Integer returns a number that is written with digits alone and at most the limit.
func Integer(value any, limit uint64) (uint64, bool) {
	text, _ := value.(json.Number)
	number, err := strconv.ParseUint(string(text), 10, 64)
	return number, err == nil && number <= limit
}

// Whole returns the value of a whole number, 0 to 2^63 - 1, that may be written as 3.0 or 3e0 [J-8].
func Whole(value any) (uint64, bool) {
	if number, ok := Integer(value, 1<<63-1); ok {
		return number, true
	}
	number, ok := Float(value)
	return uint64(number), ok && 0 <= number && number < 1<<53 && number == math.Trunc(number)
}

// Flag returns what is true or false, or the number 1 or 0 [J-8].
func Flag(value any) (isSet, ok bool) {
	if isSet, ok = value.(bool); ok {
		return isSet, true
	}
	number, ok := Whole(value)
	return number == 1, ok && number <= 1
}

// Float returns the nearest double of a number that has one.
func Float(value any) (float64, bool) {
	text, ok := value.(json.Number)
	number, _ := strconv.ParseFloat(string(text), 64)
	return number, ok && !math.IsInf(number, 0)
}

// escapes are those that a string needs, and no others.
var escapes = func() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`}
	for c := 0; c < ' '; c++ {
		pairs = append(pairs, string(rune(c)), fmt.Sprintf(`\u%04x`, c))
	}
	return strings.NewReplacer(pairs...)
}()

// Quote returns a text, which is valid UTF-8, as a JSON string.
func Quote(text string) string { return `"` + escapes.Replace(text) + `"` }

// An Output is a JSON object to which members are added in order. A string that is empty, false, the zero time and nil are left out.
type Output struct {
	data []byte
	// Err is the first error of a value.
	Err error
}

// Add adds a member: JSON as bytes, a time, which is written in milliseconds, or what encoding/json can write.
func (output *Output) Add(name string, value any) {
	text := ""
	switch value := value.(type) {
	case string:
		if text = Quote(value); value == "" {
			return
		}
	case []byte:
		text = string(value)
	case time.Time:
		if text = strconv.FormatInt(value.UnixMilli(), 10); value.IsZero() {
			return
		}
	default:
		text = output.encode(value)
	}
	if text != "false" && text != "null" {
		output.data = append(output.data, ","+Quote(name)+":"+text...)
	}
}

// AddNumber adds a member that is left out if it is 0.
func (output *Output) AddNumber(name string, value uint64) {
	if value != 0 {
		output.Add(name, value)
	}
}

// encode writes without escapes for HTML, and keeps what a value's own MarshalJSON refuses.
func (output *Output) encode(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	if own := errors.Unwrap(err); own != nil {
		err = own
	}
	if output.Err == nil {
		output.Err = err
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// Bytes returns the object.
func (output *Output) Bytes() []byte {
	return append(append([]byte("{"), bytes.TrimPrefix(output.data, []byte(","))...), '}')
}
