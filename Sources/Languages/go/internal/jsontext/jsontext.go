// Package jsontext reads JSON by the rules [J-1] to [J-6] of Docs/Format.md, and writes it.
//
// encoding/json checks the syntax; it would take equal names, and replace half a surrogate pair.
package jsontext

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Depth is the most nested objects and arrays.
const Depth = 32

// A Kind is the first byte of a value; of numbers '0'.
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

// A Value is a parsed value; nil is an absent one.
type Value struct {
	Kind Kind
	// Text is an unescaped string, or a number as written.
	Text string
	// Raw is the value's own text.
	Raw []byte
	// Members are an object's, in order; Elements an array's.
	Members  []Member
	Elements []*Value
}

// A Member of an object, with its unescaped name.
type Member struct {
	Name  string
	Value *Value
}

// Get returns a member's value; nil if there is none.
func (value *Value) Get(name string) *Value {
	if value != nil {
		for _, member := range value.Members {
			if member.Name == name {
				return member.Value
			}
		}
	}
	return nil
}

// Present returns a member's value; nil if there is none, or it is null.
func (value *Value) Present(name string) *Value {
	if found := value.Get(name); !found.Is(Null) {
		return found
	}
	return nil
}

// Is tells whether a value is there, and of one of the kinds.
func (value *Value) Is(kinds ...Kind) bool {
	for _, kind := range kinds {
		if value != nil && value.Kind == kind {
			return true
		}
	}
	return false
}

// Integer returns a number that is written with digits alone and at most the limit.
func (value *Value) Integer(limit uint64) (uint64, bool) {
	if !value.Is(Number) {
		return 0, false
	}
	number, err := strconv.ParseUint(value.Text, 10, 64)
	return number, err == nil && number <= limit
}

// Float returns the nearest double of a number that has one.
func (value *Value) Float() (float64, bool) {
	if !value.Is(Number) {
		return 0, false
	}
	number, _ := strconv.ParseFloat(value.Text, 64)
	return number, !math.IsInf(number, 0)
}

// ErrMalformed is returned for whatever is not a JSON object.
var ErrMalformed = errors.New("it is not one JSON object in UTF-8, nested at most 32 deep, without equal names and half surrogate pairs")

// ParseObject parses a JSON object.
func ParseObject(data []byte) (*Value, error) {
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, ErrMalformed
	}
	p := parser{data: data}
	value := p.value(0)
	if p.failed || value.Kind != Object {
		return nil, ErrMalformed
	}
	return value, nil
}

// A parser reads what encoding/json has found valid.
type parser struct {
	data   []byte
	at     int
	failed bool
}

// next skips what is between tokens.
func (p *parser) next() byte {
	for strings.IndexByte(" \t\r\n,:", p.data[p.at]) >= 0 {
		p.at++
	}
	return p.data[p.at]
}

func (p *parser) value(depth int) *Value {
	value := &Value{Kind: Kind(p.next())}
	start := p.at
	switch value.Kind {
	case Object, Array:
		p.failed = p.failed || depth == Depth
		p.members(value, depth+1)
	case String:
		value.Text = p.text()
	default:
		for p.at < len(p.data) && strings.IndexByte(" \t\r\n,]}", p.data[p.at]) < 0 {
			p.at++
		}
		value.Text = string(p.data[start:p.at])
		if !value.Is(True, False, Null) {
			value.Kind = Number
		}
	}
	value.Raw = p.data[start:p.at]
	return value
}

func (p *parser) members(value *Value, depth int) {
	p.at++
	names := map[string]bool{}
	// The closing bracket is two after the opening one in ASCII.
	for !p.failed && p.next() != byte(value.Kind)+2 {
		if value.Kind == Array {
			value.Elements = append(value.Elements, p.value(depth))
			continue
		}
		name := p.text()
		p.failed = p.failed || names[name]
		names[name] = true
		value.Members = append(value.Members, Member{name, p.value(depth)})
	}
	p.at++
}

// text reads a string.
func (p *parser) text() (text string) {
	start, isEscaped := p.at, false
	for p.at++; p.data[p.at] != '"'; p.at++ {
		if p.data[p.at] != '\\' {
			continue
		}
		isEscaped = true
		switch unit := p.unit(p.at); {
		case !utf16.IsSurrogate(unit):
			p.at++
		case utf16.DecodeRune(unit, p.unit(p.at+6)) != unicode.ReplacementChar:
			p.at += 11
		default:
			p.at++
			p.failed = true
		}
	}
	p.at++
	if !isEscaped {
		return string(p.data[start+1 : p.at-1])
	}
	_ = json.Unmarshal(p.data[start:p.at], &text)
	return text
}

// unit returns the unit of an escape \uXXXX; 0 for anything else.
func (p *parser) unit(at int) rune {
	if at+6 > len(p.data) || p.data[at] != '\\' || p.data[at+1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(p.data[at+2:at+6]), 16, 32)
	return rune(unit)
}
