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
	json []byte
	aps  map[string]any
}

func newPayload(data []byte, pushType PushType) (*payload, error) {
	members, err := jsontext.ParseObject(data)
	if err != nil {
		return nil, refuse(MalformedPayload, err.Error())
	}
	for _, name := range []string{"ENCRYPTED_DATA", "pushcrypt"} {
		if _, isTaken := members[name]; isTaken {
			return nil, refuse(ReservedKey, "the key "+name+" at the top level is the format's: seal the original payload, and rename a key of yours")
		}
	}
	aps := jsontext.Object(members["aps"])
	if aps == nil {
		return nil, refuse(MissingAPS, "the payload has no aps object; a push without one is never shown")
	}
	// Unknown fields are ignored, as the system does.
	for place, rules := range map[string]map[string]string{"aps": format.APSFields, "alert": format.AlertFields, "sound": format.SoundFields} {
		object := aps
		if place != "aps" {
			object = jsontext.Object(aps[place])
		}
		for name, value := range object {
			if rule, ok := rules[name]; ok && !accepts(rule, value) {
				return nil, refuse(InvalidField, name+" of "+place+" must be "+format.Rules[rule])
			}
		}
	}
	text, _ := aps["alert"].(string)
	for _, name := range format.ShownTexts {
		shown, _ := jsontext.Object(aps["alert"])[name].(string)
		text += shown
	}
	if pushType == Alert && text == "" {
		return nil, refuse(NothingToShow,
			"aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or seal it as a background push")
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, data)
	return &payload{compact.Bytes(), aps}, err
}

// accepts tells whether a value is what Apple documents for a field.
func accepts(rule string, value any) (ok bool) {
	text, isText := value.(string)
	number, isNumber := jsontext.Float(value)
	switch rule {
	case "text":
		return isText
	case "text-or-object":
		return isText || jsontext.Object(value) != nil
	case "object":
		return jsontext.Object(value) != nil
	case "bool":
		_, ok = value.(bool)
	case "level":
		return isText && contains(format.Levels, text)
	case "event":
		return isText && contains(format.Events, text)
	case "flag":
		_, ok = jsontext.Integer(value, 1)
	case "count":
		_, ok = jsontext.Integer(value, 1<<63-1)
	case "fraction":
		return isNumber && 0 <= number && number <= 1
	case "time":
		return isNumber && 0 <= number && number < format.TimeFieldEnd
	case "texts":
		var texts []any
		texts, ok = value.([]any)
		for _, element := range texts {
			_, isText := element.(string)
			ok = ok && isText
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
		} else if _, hasSound := payload.aps["sound"]; hasSound {
			aps.Add("sound", "default")
		}
		for _, name := range format.ClearFields {
			switch value := payload.aps[name].(type) {
			case string:
				if contains(m.clear, name) {
					aps.Add(name, []byte(jsontext.Quote(value)))
				}
			case json.Number:
				if contains(m.clear, name) {
					aps.Add(name, []byte(value))
				}
			}
		}
	}
	if m.pushType == Background || payload.aps["content-available"] == json.Number("1") {
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
