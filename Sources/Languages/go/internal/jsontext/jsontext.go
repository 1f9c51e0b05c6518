// Package jsontext reads JSON strictly, by the rules [J-1] to [J-6] of Docs/Format.md: encoding/json takes equal names and broken
// surrogates. Values keep their bytes.
package jsontext

import (
	"errors"
	"math"
	"strconv"
	"unicode/utf8"
)

// Depth is the most nested objects and arrays.
const Depth = 32

// A Kind is a kind of value.
type Kind byte

// The kinds of RFC 8259.
const (
	Object Kind = '{'
	Array  Kind = '['
	String Kind = '"'
	Number Kind = '0'
	True   Kind = 't'
	False  Kind = 'f'
	Null   Kind = 'n'
)

// A Value is a parsed value.
type Value struct {
	Kind Kind
	// Text is an unescaped string, or a number as written.
	Text string
	// Members are an object's, in order.
	Members []Member
	// Elements are an array's.
	Elements []Value
}

// A Member of an object, with its unescaped name.
type Member struct {
	Name  string
	Value Value
}

// Get returns a member's value; nil if there is none.
func (value *Value) Get(name string) *Value {
	if value == nil || value.Kind != Object {
		return nil
	}
	for index := range value.Members {
		if value.Members[index].Name == name {
			return &value.Members[index].Value
		}
	}
	return nil
}

// Present returns a member's value; nil if there is none, or it is null.
func (value *Value) Present(name string) *Value {
	if found := value.Get(name); found != nil && found.Kind != Null {
		return found
	}
	return nil
}

// IsString tells whether a value is there and a string.
func (value *Value) IsString() bool { return value != nil && value.Kind == String }

// Integer returns a number that is written with digits alone and at most the limit.
func (value *Value) Integer(limit uint64) (uint64, bool) {
	if value == nil || value.Kind != Number {
		return 0, false
	}
	for _, digit := range []byte(value.Text) {
		if digit < '0' || digit > '9' {
			return 0, false
		}
	}
	number, err := strconv.ParseUint(value.Text, 10, 64)
	return number, err == nil && number <= limit
}

// Float returns the nearest double of a number that has one.
func (value *Value) Float() (float64, bool) {
	if value == nil || value.Kind != Number {
		return 0, false
	}
	number, _ := strconv.ParseFloat(value.Text, 64)
	return number, !math.IsInf(number, 0)
}

// ErrMalformed is returned for whatever is not a JSON object.
var ErrMalformed = errors.New("it is not one JSON object in UTF-8, nested at most 32 deep, without equal names and half surrogate pairs")

// ParseObject parses a JSON object.
func ParseObject(data []byte) (*Value, error) { return parse(data, 0) }

func parse(data []byte, depth int) (*Value, error) {
	if !utf8.Valid(data) {
		return nil, ErrMalformed
	}
	p := parser{data: data}
	p.space()
	value := p.value(depth)
	p.space()
	if p.failed || p.at != len(data) || value.Kind != Object {
		return nil, ErrMalformed
	}
	return &value, nil
}

type parser struct {
	data   []byte
	at     int
	failed bool
}

// next is 0 at the end and after a failure, which no rule accepts.
func (p *parser) next() byte {
	if p.failed || p.at >= len(p.data) {
		return 0
	}
	return p.data[p.at]
}

func (p *parser) fail() Value {
	p.failed = true
	return Value{}
}

func (p *parser) space() {
	for c := p.next(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = p.next() {
		p.at++
	}
}

// take consumes a byte after white space, if it is the next one.
func (p *parser) take(c byte) bool {
	p.space()
	if p.next() != c || c == 0 {
		return false
	}
	p.at++
	return true
}

func (p *parser) value(depth int) Value {
	switch c := p.next(); {
	case (c == '{' || c == '[') && depth == Depth:
		return p.fail()
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == '"':
		return Value{Kind: String, Text: p.string()}
	case c == 't':
		return p.word("true", True)
	case c == 'f':
		return p.word("false", False)
	case c == 'n':
		return p.word("null", Null)
	default:
		return p.number()
	}
}

func (p *parser) word(word string, kind Kind) Value {
	if len(p.data)-p.at < len(word) || string(p.data[p.at:p.at+len(word)]) != word {
		return p.fail()
	}
	p.at += len(word)
	return Value{Kind: kind}
}

func (p *parser) object(depth int) Value {
	value := Value{Kind: Object}
	p.at++
	if p.take('}') {
		return value
	}
	names := map[string]bool{}
	for {
		p.space()
		if p.next() != '"' {
			return p.fail()
		}
		name := p.string()
		if names[name] || !p.take(':') {
			return p.fail()
		}
		names[name] = true
		p.space()
		value.Members = append(value.Members, Member{name, p.value(depth)})
		if p.take('}') {
			return value
		}
		if !p.take(',') {
			return p.fail()
		}
	}
}

func (p *parser) array(depth int) Value {
	value := Value{Kind: Array}
	p.at++
	if p.take(']') {
		return value
	}
	for {
		p.space()
		value.Elements = append(value.Elements, p.value(depth))
		if p.take(']') {
			return value
		}
		if !p.take(',') {
			return p.fail()
		}
	}
}

func (p *parser) number() Value {
	start := p.at
	if p.next() == '-' {
		p.at++
	}
	if p.next() == '0' {
		p.at++
	} else if !p.digits() {
		return p.fail()
	}
	if p.next() == '.' {
		p.at++
		if !p.digits() {
			return p.fail()
		}
	}
	if c := p.next(); c == 'e' || c == 'E' {
		p.at++
		if c := p.next(); c == '+' || c == '-' {
			p.at++
		}
		if !p.digits() {
			return p.fail()
		}
	}
	return Value{Kind: Number, Text: string(p.data[start:p.at])}
}

func (p *parser) digits() bool {
	start := p.at
	for c := p.next(); '0' <= c && c <= '9'; c = p.next() {
		p.at++
	}
	return p.at > start
}

// string reads a string from its quotation mark. The bytes are valid UTF-8.
func (p *parser) string() string {
	p.at++
	start := p.at
	for {
		switch c := p.next(); {
		case c == '"':
			p.at++
			return string(p.data[start : p.at-1])
		case c == '\\':
			return p.escaped(append([]byte(nil), p.data[start:p.at]...))
		case c < 0x20:
			p.fail()
			return ""
		}
		p.at++
	}
}

func (p *parser) escaped(text []byte) string {
	for {
		c := p.next()
		switch {
		case c == '"':
			p.at++
			return string(text)
		case c < 0x20:
			p.fail()
			return ""
		case c != '\\':
			text = append(text, c)
			p.at++
			continue
		}
		p.at++
		switch c := p.next(); c {
		case '"', '\\', '/':
			text = append(text, c)
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'n':
			text = append(text, '\n')
		case 'r':
			text = append(text, '\r')
		case 't':
			text = append(text, '\t')
		case 'u':
			point := p.unit()
			if 0xD800 <= point && point < 0xDC00 && p.at+1 < len(p.data) && p.data[p.at] == '\\' && p.data[p.at+1] == 'u' {
				p.at++
				if low := p.unit(); 0xDC00 <= low && low < 0xE000 {
					point = 0x10000 + (point-0xD800)<<10 + low - 0xDC00
				}
			}
			if 0xD800 <= point && point < 0xE000 || p.failed {
				p.fail()
				return ""
			}
			text = utf8.AppendRune(text, point)
			continue
		default:
			p.fail()
			return ""
		}
		p.at++
	}
}

// unit reads u and four digits.
func (p *parser) unit() rune {
	var unit rune
	for place := 1; place <= 4; place++ {
		if p.at+place >= len(p.data) {
			p.fail()
			return 0
		}
		c := p.data[p.at+place]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			p.fail()
			return 0
		}
		unit = unit<<4 | rune(c)
	}
	p.at += 5
	return unit
}

// Minify removes the white space between the tokens of a valid text; strings and numbers keep their bytes.
func Minify(data []byte) []byte {
	output := make([]byte, 0, len(data))
	inside := false
	for index := 0; index < len(data); index++ {
		c := data[index]
		switch {
		case inside && c == '\\':
			output = append(output, c)
			index++
			c = data[index]
		case c == '"':
			inside = !inside
		case !inside && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			continue
		}
		output = append(output, c)
	}
	return output
}

// AppendString appends a string in quotation marks, of which only what has to be is escaped. The text is valid UTF-8.
func AppendString(output []byte, text string) []byte {
	const digits = "0123456789abcdef"
	output = append(output, '"')
	for index := 0; index < len(text); index++ {
		c := text[index]
		switch {
		case c == '"' || c == '\\':
			output = append(output, '\\', c)
		case c >= 0x20:
			output = append(output, c)
		case c == '\b':
			output = append(output, '\\', 'b')
		case c == '\f':
			output = append(output, '\\', 'f')
		case c == '\n':
			output = append(output, '\\', 'n')
		case c == '\r':
			output = append(output, '\\', 'r')
		case c == '\t':
			output = append(output, '\\', 't')
		default:
			output = append(output, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(output, '"')
}
