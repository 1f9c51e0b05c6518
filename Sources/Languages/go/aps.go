package pushcrypt

import (
	"example.com/pushcrypt/internal/jsontext"
)

// An apsRule is what Apple documents for a field of aps.
type apsRule struct {
	words   string
	accepts func(*jsontext.Value) bool
}

func isAny(kinds ...jsontext.Kind) func(*jsontext.Value) bool {
	return func(value *jsontext.Value) bool {
		for _, kind := range kinds {
			if value.Kind == kind {
				return true
			}
		}
		return false
	}
}

func isOneOf(texts ...string) func(*jsontext.Value) bool {
	return func(value *jsontext.Value) bool {
		for _, text := range texts {
			if value.IsString() && value.Text == text {
				return true
			}
		}
		return false
	}
}

var (
	apsText     = apsRule{"a string", isAny(jsontext.String)}
	apsTextOr   = apsRule{"a string or an object", isAny(jsontext.String, jsontext.Object)}
	apsObject   = apsRule{"an object", isAny(jsontext.Object)}
	apsBool     = apsRule{"true or false", isAny(jsontext.True, jsontext.False)}
	apsLevel    = apsRule{"passive, active, time-sensitive or critical", isOneOf("passive", "active", "time-sensitive", "critical")}
	apsEvent    = apsRule{"start, update or end", isOneOf("start", "update", "end")}
	apsFlag     = apsRule{"the number 1 or 0, not a string and not true or false", isInteger(1)}
	apsCount    = apsRule{"a whole number, 0 or more", isInteger(1<<63 - 1)}
	apsFraction = apsRule{"a number from 0 to 1", isBetween(0, 1)}
	// Up to the year 5138: a larger number is in milliseconds.
	apsTime  = apsRule{"a time in seconds since 1970, not in milliseconds", isBetween(0, 99_999_999_999)}
	apsTexts = apsRule{"an array of strings", func(value *jsontext.Value) bool {
		for _, element := range value.Elements {
			if element.Kind != jsontext.String {
				return false
			}
		}
		return value.Kind == jsontext.Array
	}}
)

func isInteger(limit uint64) func(*jsontext.Value) bool {
	return func(value *jsontext.Value) bool {
		_, ok := value.Integer(limit)
		return ok
	}
}

func isBetween(low, high float64) func(*jsontext.Value) bool {
	return func(value *jsontext.Value) bool {
		number, ok := value.Float()
		return ok && low <= number && number <= high
	}
}

var (
	apsFields = map[string]apsRule{
		"alert": apsTextOr, "sound": apsTextOr, "badge": apsCount, "thread-id": apsText, "category": apsText,
		"target-content-id": apsText, "filter-criteria": apsText, "content-available": apsFlag, "mutable-content": apsFlag,
		"interruption-level": apsLevel, "relevance-score": apsFraction, "url-args": apsTexts,
		// Live Activities, widgets and controls.
		"event": apsEvent, "content-state": apsObject, "attributes": apsObject, "attributes-type": apsText,
		"input-push-channel": apsText, "timestamp": apsTime, "stale-date": apsTime, "dismissal-date": apsTime,
		"input-push-token": apsFlag, "content-changed": apsBool,
	}
	apsAlertFields = map[string]apsRule{
		"title": apsText, "subtitle": apsText, "body": apsText, "launch-image": apsText, "title-loc-key": apsText,
		"subtitle-loc-key": apsText, "loc-key": apsText, "title-loc-args": apsTexts, "subtitle-loc-args": apsTexts, "loc-args": apsTexts,
	}
	apsSoundFields = map[string]apsRule{"name": apsText, "critical": apsFlag, "volume": apsFraction}
	shownTexts     = []string{"title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"}
)

// checkFields ignores unknown fields, as the system does.
func checkFields(object *jsontext.Value, rules map[string]apsRule, place string) error {
	if object == nil {
		return nil
	}
	for index := range object.Members {
		member := &object.Members[index]
		if rule, ok := rules[member.Name]; ok && !rule.accepts(&member.Value) {
			return refuse(InvalidField, place+"."+member.Name+" must be "+rule.words)
		}
	}
	return nil
}

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
	if aps == nil || aps.Kind != jsontext.Object {
		return nil, refuse(MissingAPS, "the payload has no aps object; a push without one is never shown")
	}
	alert, sound := aps.Get("alert"), aps.Get("sound")
	if err := checkFields(aps, apsFields, "aps"); err != nil {
		return nil, err
	}
	if err := checkFields(alert, apsAlertFields, "aps.alert"); err != nil {
		return nil, err
	}
	if err := checkFields(sound, apsSoundFields, "aps.sound"); err != nil {
		return nil, err
	}
	hasText := alert.IsString() && alert.Text != ""
	for _, name := range shownTexts {
		text := alert.Get(name)
		hasText = hasText || text.IsString() && text.Text != ""
	}
	if pushType == Alert && !hasText {
		return nil, refuse(NothingToShow,
			"aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or seal it as a background push")
	}
	wakes, ok := aps.Get("content-available").Integer(1)
	return &payload{jsontext.Minify(data), aps, sound != nil, ok && wakes == 1}, nil
}
