package pushcrypt

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
	"example.com/pushcrypt/Sources/Languages/go/internal/jsontext"
)

// A PushType is a value of apns-push-type that can be sealed. The system reads the others before any code of the app runs.
type PushType string

// The push types. The zero value is Alert.
const (
	Alert      PushType = "alert"
	Background PushType = "background"
	VoIP       PushType = "voip"
)

// message is what options say.
type message struct {
	title                   string
	sound, id, collapseName *string
	clear, withdrawals      []string
	pushType                PushType
	timeToLive              time.Duration
	at                      time.Time
	attachments             []Reference
	fullBody                *Reference
	person                  *Person
	isDropped, isExact      bool
	priority                int
	expiration              *time.Time
	answers                 *AnswerSecret
}

// An Option of a message, given to Seal, or to NewSealer for all of its messages. A nil Option is none.
type Option func(*message)

// WithTitle is the title that a phone shows if it cannot open the push, at most 4,096 bytes; by default "New message". The relay reads it, and
// it is not signed.
func WithTitle(title string) Option { return func(m *message) { m.title = title } }

// WithSound is the sound file of the app that sounds if a phone cannot open the push; "" for none. By default it is the system's sound, if the
// payload has one.
func WithSound(name string) Option { return func(m *message) { m.sound = &name } }

// WithClear has fields of aps in the clear too: badge, category, thread-id, interruption-level, relevance-score, target-content-id,
// filter-criteria. The opened notification does not depend on them.
func WithClear(fields ...string) Option {
	return func(m *message) { m.clear = append(m.clear, fields...) }
}

// WithPushType says what the push will be sent as, by default Alert.
func WithPushType(pushType PushType) Option { return func(m *message) { m.pushType = pushType } }

// WithMessageID names the message, the same in every retry, so that a phone shows it once. Without it each is new.
func WithMessageID(id string) Option { return func(m *message) { m.id = &id } }

// WithTimeToLive says for how long phones show the message, whole seconds, by default the most, 30 days. 0 is now or never: APNs tries once.
// Unless it is a call, the end is rounded up to ten minutes, because the relay reads apns-expiration.
func WithTimeToLive(life time.Duration) Option { return func(m *message) { m.timeToLive = life } }

// WithTime says when the message is sent; by default, and for the zero time, now.
func WithTime(at time.Time) Option { return func(m *message) { m.at = at } }

// WithAttachments adds files, at most 8, already stored. They are part of the encrypted payload, and of its size.
func WithAttachments(references ...Reference) Option {
	return func(m *message) { m.attachments = append(m.attachments, references...) }
}

// WithFullBody adds the whole text, if the payload's own body is only its beginning.
func WithFullBody(reference Reference) Option { return func(m *message) { m.fullBody = &reference } }

// WithPerson says whom the notification is from.
func WithPerson(person Person) Option { return func(m *message) { m.person = &person } }

// WithWithdraws names earlier messages to this device that it takes off the screen, at most 64.
func WithWithdraws(ids ...string) Option {
	return func(m *message) { m.withdrawals = append(m.withdrawals, ids...) }
}

// WithDrop says that nothing is to be shown.
func WithDrop() Option { return func(m *message) { m.isDropped = true } }

// WithExactBytes says that the client sends the payload byte for byte, so that its own length counts, not that of the widest JSON.
func WithExactBytes() Option { return func(m *message) { m.isExact = true } }

// WithCollapseName has pushes of this name replace each other on a device. Without it, only a retry replaces its first copy. Apple gets a
// hash of it: who knows the device's id can test guesses.
func WithCollapseName(name string) Option { return func(m *message) { m.collapseName = &name } }

// WithPriority is 10, 5 or 1; by default 5 for a background push, and 10 for others.
func WithPriority(priority int) Option { return func(m *message) { m.priority = priority } }

// WithExpiration says how long APNs keeps the push, by default to the message's own end, or as long as its time to live of 0 says; the zero
// time for one attempt.
func WithExpiration(at time.Time) Option { return func(m *message) { m.expiration = &at } }

// with returns the message that options make of this one.
func (m message) with(options []Option) (*message, error) {
	m.clear, m.attachments = append([]string(nil), m.clear...), append([]Reference(nil), m.attachments...)
	for _, option := range options {
		if option != nil {
			option(&m)
		}
	}
	return &m, m.check()
}

// check refuses what is wrong whatever the payload.
func (m *message) check() error {
	names := append([]string(nil), m.withdrawals...)
	if !isShown(m.title) || m.sound != nil && *m.sound != "" && !isShown(*m.sound) {
		return refuse(InvalidPlaceholder, "the title or the sound's name shows nothing, is over 4,096 bytes or not UTF-8")
	}
	for _, field := range m.clear {
		if !contains(format.ClearFields, field) {
			return refuse(InvalidPlaceholder, "a field that cannot be in the clear; see WithClear")
		}
	}
	for _, name := range []*string{m.id, m.collapseName} {
		if name != nil {
			names = append(names, *name)
		}
	}
	for _, name := range names {
		if name == "" || !utf8.ValidString(name) {
			return refuse(InvalidRequest, "a name of a message or a group of pushes is empty or not UTF-8; leave it out for none")
		}
	}
	switch {
	case m.collapseName != nil && len(*m.collapseName) > math.MaxUint16:
		return refuse(InvalidRequest, "the collapse name has over 65,535 bytes")
	case len(m.withdrawals) > format.MostWithdrawn:
		return refuse(InvalidRequest, "a message withdraws at most 64 others; send several")
	case m.id != nil && contains(m.withdrawals, *m.id):
		return refuse(InvalidRequest, "the message would withdraw itself; give it another name")
	case !contains([]int{0, 1, 5, 10}, m.priority) || m.priority == 10 && m.pushType == Background:
		return refuse(InvalidRequest, "the priority is 10, 5 or 1, and for a background push not 10")
	case m.expiration != nil && !m.expiration.IsZero() && !isExpiration(*m.expiration):
		return refuse(ImplausibleTime, "the expiration is over a day ago or over 31 days ahead; were milliseconds taken for seconds?")
	}
	return nil
}

// isExpiration tells whether APNs could keep a push until then.
func isExpiration(at time.Time) bool {
	now := core.Now()
	return at.After(now.Add(-24*time.Hour)) && at.Before(now.Add(31*24*time.Hour))
}

func isShown(text string) bool {
	return strings.TrimSpace(text) != "" && len(text) <= format.LongestClearText && utf8.ValidString(text)
}

func contains[T comparable](all []T, one T) bool {
	for _, other := range all {
		if other == one {
			return true
		}
	}
	return false
}

// checkPayload returns a payload in its fewest bytes, and its aps, if it can be opened and shown after sealing.
func checkPayload(data []byte, pushType PushType) (minimal []byte, aps map[string]any, err error) {
	members, err := jsontext.ParseObject(data)
	if err != nil {
		return nil, nil, refuse(MalformedPayload, err.Error())
	}
	for _, name := range []string{"ENCRYPTED_DATA", "pushcrypt"} {
		if _, isTaken := members[name]; isTaken {
			return nil, nil, refuse(ReservedKey, "the key "+name+" at the top level is the format's: seal the original payload, and rename a key of yours")
		}
	}
	aps = jsontext.Object(members["aps"])
	if aps == nil {
		return nil, nil, refuse(MissingAPS, "the payload has no aps object; a push without one is never shown")
	}
	// Unknown fields are ignored, as the system does.
	for place, rules := range map[string]map[string]string{"aps": format.APSFields, "alert": format.AlertFields, "sound": format.SoundFields} {
		object := aps
		if place != "aps" {
			object = jsontext.Object(aps[place])
		}
		for name, value := range object {
			if rule, ok := rules[name]; ok && value != nil && !accepts(rule, value) {
				return nil, nil, refuse(InvalidField, name+" of "+place+" must be "+format.Rules[rule])
			}
		}
	}
	text, _ := aps["alert"].(string)
	for _, name := range format.ShownTexts {
		shown, _ := jsontext.Object(aps["alert"])[name].(string)
		text += shown
	}
	if pushType == Alert && text == "" {
		return nil, nil, refuse(NothingToShow,
			"aps.alert has no title, subtitle or body, so the system would not start the extension; add a body, or send it unsealed")
	}
	return jsontext.Minimal(data), aps, nil
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
	case "level":
		return isText && contains(format.Levels, text)
	case "event":
		return isText && contains(format.Events, text)
	case "flag":
		_, ok = jsontext.Flag(value)
	case "count":
		_, ok = jsontext.Whole(value)
	case "fraction":
		return isNumber && 0 <= number && number <= 1
	case "time":
		return isNumber && 0 <= number && number < format.TimeFieldEnd
	case "texts":
		var texts []any
		texts, ok = value.([]any)
		for _, element := range texts {
			_, isText := element.(string)
			_, isNumber := element.(json.Number)
			ok = ok && (element == nil || isText || isNumber)
		}
	}
	return ok
}

// clearPart returns the JSON up to the envelope's text: all that the relay sees of a push.
func (m *message) clearPart(sealed map[string]any) []byte {
	var aps jsontext.Output
	if m.pushType == Alert {
		var alert jsontext.Output
		alert.Add("title", m.title)
		alert.Add("body", format.ClearBody)
		aps.Add("mutable-content", uint64(1))
		aps.Add("alert", alert.Bytes())
		if m.sound != nil {
			aps.Add("sound", *m.sound)
		} else if sealed["sound"] != nil {
			aps.Add("sound", "default")
		}
		for _, name := range format.ClearFields {
			switch value := sealed[name].(type) {
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
	if wakes, _ := jsontext.Flag(sealed["content-available"]); wakes || m.pushType == Background {
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
