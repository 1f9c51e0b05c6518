package pushcrypt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
)

// A payload has passed all rules, so that it can be opened and shown after sealing.
type payload struct {
	json     []byte
	aps      *jsontext.Value
	hasSound bool
	wakesApp bool
}

func newPayload(data []byte, pushType PushType) (*payload, error) {
	members, err := jsontext.ParseObject(data)
	if err != nil {
		return nil, refuse(MalformedPayload, err.Error())
	}
	if members.Get("ENCRYPTED_DATA") != nil {
		return nil, refuse(ReservedKey, "the payload has ENCRYPTED_DATA: seal the original, not a sealed one")
	}
	if members.Get("pushcrypt") != nil {
		return nil, refuse(ReservedKey, "the key pushcrypt at the top level is the format's; rename yours, and pass attachments separately")
	}
	aps := members.Get("aps")
	if !aps.Is(jsontext.Object) {
		return nil, refuse(MissingAPS, "the payload has no aps object; a push without one is never shown")
	}
	alert, sound := aps.Get("alert"), aps.Get("sound")
	for _, part := range []struct {
		place  string
		object *jsontext.Value
		rules  map[string]string
	}{{"aps", aps, format.APSFields}, {"aps.alert", alert, format.AlertFields}, {"aps.sound", sound, format.SoundFields}} {
		if err := checkFields(part.place, part.object, part.rules); err != nil {
			return nil, err
		}
	}
	hasText := alert.Is(jsontext.String) && alert.Text != ""
	for _, name := range format.ShownTexts {
		text := alert.Get(name)
		hasText = hasText || text.Is(jsontext.String) && text.Text != ""
	}
	if pushType == Alert && !hasText {
		return nil, refuse(NothingToShow,
			"aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or seal it as a background push")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, refuse(MalformedPayload, jsontext.ErrMalformed.Error())
	}
	wakes, ok := aps.Get("content-available").Integer(1)
	return &payload{compact.Bytes(), aps, sound != nil, ok && wakes == 1}, nil
}

// checkFields ignores unknown fields, as the system does.
func checkFields(place string, object *jsontext.Value, rules map[string]string) error {
	if object != nil {
		for _, member := range object.Members {
			if rule, ok := rules[member.Name]; ok && !accepts(rule, member.Value) {
				return refuse(InvalidField, place+"."+member.Name+" must be "+format.Rules[rule])
			}
		}
	}
	return nil
}

// accepts tells whether a value is what Apple documents for a field.
func accepts(rule string, value *jsontext.Value) (ok bool) {
	switch rule {
	case "text":
		return value.Is(jsontext.String)
	case "text-or-object":
		return value.Is(jsontext.String, jsontext.Object)
	case "object":
		return value.Is(jsontext.Object)
	case "bool":
		return value.Is(jsontext.True, jsontext.False)
	case "level":
		return value.Is(jsontext.String) && contains(format.Levels, value.Text)
	case "event":
		return value.Is(jsontext.String) && contains(format.Events, value.Text)
	case "flag":
		_, ok = value.Integer(1)
	case "count":
		_, ok = value.Integer(1<<63 - 1)
	case "fraction":
		number, isNumber := value.Float()
		return isNumber && 0 <= number && number <= 1
	case "time":
		number, isNumber := value.Float()
		return isNumber && 0 <= number && number < format.TimeFieldEnd
	case "texts":
		ok = value.Is(jsontext.Array)
		for _, element := range value.Elements {
			ok = ok && element.Is(jsontext.String)
		}
	}
	return ok
}

// clearPart returns the JSON up to the envelope's text: all that the relay sees of a push.
func (m *message) clearPart(payload *payload) []byte {
	var aps jsontext.Output
	if m.pushType == Alert {
		var alert jsontext.Output
		alert.Add("title", m.title)
		alert.Add("body", format.ClearBody)
		aps.Add("mutable-content", uint64(1))
		aps.Add("alert", alert.Bytes())
		if m.sound != nil {
			aps.Add("sound", *m.sound)
		} else if payload.hasSound {
			aps.Add("sound", "default")
		}
		for _, member := range payload.aps.Members {
			if !contains(m.clear, member.Name) {
				continue
			}
			raw := member.Value.Raw
			if member.Value.Is(jsontext.String) {
				raw = []byte(jsontext.Quote(member.Value.Text))
			}
			aps.Add(member.Name, raw)
		}
	}
	if payload.wakesApp || m.pushType == Background {
		aps.Add("content-available", uint64(1))
	}
	return fmt.Appendf(nil, `{"aps":%s,"ENCRYPTED_DATA":"`, aps.Bytes())
}

// clearEnd follows the envelope's text.
const clearEnd = `"}`

// widestLength returns the length of a clear part in the longest form that a client may write [S-4].
func widestLength(text string) (count int) {
	for index, inside := 0, false; index < len(text); {
		character, size := utf8.DecodeRuneInString(text[index:])
		width := 1
		switch {
		case character == '"':
			inside = !inside
		case !inside && (character == ',' || character == ':'), inside && character == '/':
			width = 2
		case !inside:
		case character == '\\':
			size, width = 2, 6
			if text[index+1] == 'u' {
				size = 6
			}
		case strings.ContainsRune("<>&'+=`\x7f", character), 0x80 <= character && character < 0x10000:
			width = 6
		case character >= 0x10000:
			width = 12
		}
		count += width
		index += size
	}
	return count
}
