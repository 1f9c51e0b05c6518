package jsontext

import (
	"fmt"
	"strconv"
	"strings"
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

// An Output is a JSON object to which members are added in order. A string that is empty, an empty slice and false are left out.
type Output struct{ data []byte }

// Add adds a member: a string, strings, a number, true, or JSON as bytes.
func (output *Output) Add(name string, value any) {
	text := ""
	switch value := value.(type) {
	case string:
		if value != "" {
			text = Quote(value)
		}
	case []string:
		text = array(len(value), func(index int) string { return Quote(value[index]) })
	case []uint8:
		text = string(value)
	case [][]byte:
		text = array(len(value), func(index int) string { return string(value[index]) })
	case uint64:
		text = strconv.FormatUint(value, 10)
	case bool:
		if value {
			text = "true"
		}
	}
	if text != "" {
		separator := ","
		if len(output.data) == 0 {
			separator = "{"
		}
		output.data = append(output.data, separator+Quote(name)+":"+text...)
	}
}

func array(length int, element func(int) string) string {
	if length == 0 {
		return ""
	}
	elements := make([]string, length)
	for index := range elements {
		elements[index] = element(index)
	}
	return "[" + strings.Join(elements, ",") + "]"
}

// IsEmpty tells whether nothing was added.
func (output *Output) IsEmpty() bool { return len(output.data) == 0 }

// Bytes returns the object.
func (output *Output) Bytes() []byte {
	if output.IsEmpty() {
		return []byte("{}")
	}
	return append(output.data, '}')
}
