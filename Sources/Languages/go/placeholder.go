package pushcrypt

import (
	"strings"
	"unicode/utf8"

	"example.com/pushcrypt/internal/jsontext"
)

const longestClearText = 4096

// A PushType is a value of apns-push-type that can be sealed. The system reads the others before any code of the app runs.
type PushType string

// The push types.
const (
	Alert      PushType = "alert"
	Background PushType = "background"
	VoIP       PushType = "voip"
)

// class returns the push class [O-6.5]; the zero value is Alert.
func (pushType PushType) class() byte {
	switch pushType {
	case Background:
		return 2
	case VoIP:
		return 3
	}
	return 1
}

// limits returns the most bytes that APNs accepts, and the largest bucket.
func (pushType PushType) limits() (limit, bucket int, err error) {
	switch pushType {
	case Alert, Background:
		return 4096, 2816, nil
	case VoIP:
		return 5120, 3584, nil
	}
	return 0, 0, refuse(PushTypeNotSealable, "alert, background and voip can be sealed; the system reads others itself")
}

// A Sound is what sounds if a phone cannot open a push. The zero value is the system's if the sealed payload has one.
type Sound struct {
	name     string
	isSilent bool
	isNamed  bool
}

// Silence is no sound.
var Silence = Sound{isSilent: true}

// SoundNamed is a sound file of the app, whether or not the payload has a sound.
func SoundNamed(name string) Sound { return Sound{name: name, isNamed: true} }

// A ClearField is a field of aps that may also be in the clear. The opened notification does not depend on it.
type ClearField string

// The fields that may be in the clear.
const (
	Badge             ClearField = "badge"
	Category          ClearField = "category"
	ThreadID          ClearField = "thread-id"
	InterruptionLevel ClearField = "interruption-level"
	RelevanceScore    ClearField = "relevance-score"
	TargetContentID   ClearField = "target-content-id"
	FilterCriteria    ClearField = "filter-criteria"
)

// A Placeholder is what a phone shows if it cannot open a push. The relay reads all of it, and it is not signed.
type Placeholder struct {
	// Title is by default "New message".
	Title string
	Sound Sound
	Clear []ClearField
}

func (placeholder *Placeholder) check() error {
	if placeholder.Title == "" {
		placeholder.Title = "New message"
	}
	texts := []string{placeholder.Title}
	if placeholder.Sound.isNamed {
		texts = append(texts, placeholder.Sound.name)
	}
	for _, text := range texts {
		if strings.TrimSpace(text) == "" || len(text) > longestClearText || !utf8.ValidString(text) {
			return refuse(InvalidPlaceholder, "the title or the sound's name shows nothing, is over 4,096 bytes or not UTF-8")
		}
	}
	placeholder.Clear = append([]ClearField(nil), placeholder.Clear...)
	for _, field := range placeholder.Clear {
		switch field {
		case Badge, Category, ThreadID, InterruptionLevel, RelevanceScore, TargetContentID, FilterCriteria:
		default:
			return refuse(InvalidPlaceholder, "a field that cannot be in the clear; the constants of ClearField can")
		}
	}
	return nil
}

func (placeholder *Placeholder) isClear(name string) bool {
	for _, field := range placeholder.Clear {
		if string(field) == name {
			return true
		}
	}
	return false
}

// clearPart returns the JSON up to the envelope's text: all that the relay sees of a push.
func (placeholder *Placeholder) clearPart(payload *payload, pushType PushType) []byte {
	output := []byte(`{"aps":{`)
	if pushType == Alert {
		output = append(output, `"mutable-content":1,"alert":{"title":`...)
		output = append(jsontext.AppendString(output, placeholder.Title), `,"body":"(Encrypted)"}`...)
		switch sound := placeholder.Sound; {
		case sound.isNamed:
			output = jsontext.AppendString(append(output, `,"sound":`...), sound.name)
		case !sound.isSilent && payload.hasSound:
			output = append(output, `,"sound":"default"`...)
		}
		for _, member := range payload.aps.Members {
			if !placeholder.isClear(member.Name) {
				continue
			}
			output = append(jsontext.AppendString(append(output, ','), member.Name), ':')
			if member.Value.Kind == jsontext.Number {
				output = append(output, member.Value.Text...)
			} else {
				output = jsontext.AppendString(output, member.Value.Text)
			}
		}
	}
	if payload.wakesApp || pushType == Background {
		if output[len(output)-1] != '{' {
			output = append(output, ',')
		}
		output = append(output, `"content-available":1`...)
	}
	return append(output, `},"ENCRYPTED_DATA":"`...)
}

// clearEnd follows the envelope's text.
const clearEnd = `"}`

// widestLength returns the length of a clear part in the longest form that a client may write [S-4].
func widestLength(json string) int {
	count, inside := 0, false
	for index := 0; index < len(json); {
		character, size := utf8.DecodeRuneInString(json[index:])
		switch {
		case character == '"':
			inside = !inside
			count++
		case !inside && (character == ',' || character == ':'):
			count += 2
		case !inside:
			count++
		case character == '\\':
			size, count = 2, count+6
			if json[index+1] == 'u' {
				size = 6
			}
		case character == '/':
			count += 2
		case strings.ContainsRune("<>&'+=`\x7f", character):
			count += 6
		case character < 0x80:
			count++
		case character < 0x10000:
			count += 6
		default:
			count += 12
		}
		index += size
	}
	return count
}
