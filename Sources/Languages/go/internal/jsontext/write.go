package jsontext

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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

// An Output is a JSON object to which members are added in order. A string that is empty, an empty slice, false, the zero time and nil are
// left out.
type Output struct {
	data []byte
	// Err is the first error of a value.
	Err error
}

// Add adds a member: a string, strings, a number, numbers, true, a time in milliseconds, JSON as bytes, or what writes itself as JSON.
func (output *Output) Add(name string, value any) {
	text := ""
	switch value := value.(type) {
	case string:
		if value != "" {
			text = Quote(value)
		}
	case []string:
		text = list(value, Quote)
	case []int:
		text = list(value, strconv.Itoa)
	case []byte:
		text = string(value)
	case uint64:
		text = strconv.FormatUint(value, 10)
	case bool:
		if value {
			text = "true"
		}
	case time.Time:
		if !value.IsZero() {
			text = strconv.FormatInt(value.UnixMilli(), 10)
		}
	case json.Marshaler:
		text = output.marshal(value)
	case []json.Marshaler:
		text = list(value, output.marshal)
	}
	if text != "" {
		separator := map[bool]string{true: "{", false: ","}[len(output.data) == 0]
		output.data = append(output.data, separator+Quote(name)+":"+text...)
	}
}

func (output *Output) marshal(value json.Marshaler) string {
	data, err := value.MarshalJSON()
	if output.Err == nil {
		output.Err = err
	}
	return string(data)
}

func list[T any](values []T, text func(T) string) string {
	if len(values) == 0 {
		return ""
	}
	var texts []string
	for _, value := range values {
		texts = append(texts, text(value))
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// Bytes returns the object.
func (output *Output) Bytes() []byte {
	if len(output.data) == 0 {
		return []byte("{}")
	}
	return append(output.data, '}')
}
