package pushcrypt

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/pushcrypt/internal/jsontext"
)

// What a message says beside its payload: Docs/FormatMessages.md.
const (
	mostWithdrawn  = 64
	mostRecipients = 8
	longestLabel   = 255
	largestAvatar  = 1_000_000
)

// A Person is whom a notification is from, whom a phone may show with a face [N-9].
type Person struct {
	Name string
	// Handle is the app's name for the person, by default Name.
	Handle       string
	Conversation string
	// Recipients are the others in the conversation, at most 8.
	Recipients []string
	Avatar     *Reference
}

// MarshalJSON returns the member sender of a sealed payload, which has the key of the avatar.
func (person Person) MarshalJSON() ([]byte, error) {
	if err := person.check(); err != nil {
		return nil, err
	}
	return bytes.TrimPrefix(person.append(nil), []byte(`"sender":`)), nil
}

func (person *Person) check() error {
	texts := append([]string{person.Name}, person.Recipients...)
	for _, optional := range []string{person.Handle, person.Conversation} {
		if optional != "" {
			texts = append(texts, optional)
		}
	}
	for _, text := range texts {
		if !isLabel(text, longestLabel) {
			return refuse(InvalidRequest, "a person's texts have 1 to 255 bytes without control characters")
		}
	}
	if len(person.Recipients) > mostRecipients {
		return refuse(InvalidRequest, "a person has over 8 recipients")
	}
	if person.Avatar == nil {
		return nil
	}
	if err := person.Avatar.check(); err != nil {
		return err
	}
	return checkAvatar(*person.Avatar)
}

// isLabel tells whether a text has 1 to so many bytes of UTF-8, and no control characters.
func isLabel(text string, longest int) bool {
	for _, character := range text {
		if unicode.Is(unicode.Cc, character) {
			return false
		}
	}
	return 1 <= len(text) && len(text) <= longest && utf8.ValidString(text)
}

// checkAvatar refuses what refuses.
func checkAvatar(reference Reference) error {
	if reference.Type != "public.jpeg" && reference.Type != "public.png" || reference.Size > largestAvatar {
		return refuse(MalformedReference, "an avatar is a JPEG or PNG of at most 1,000,000 sealed bytes")
	}
	return nil
}

func (person *Person) append(output []byte) []byte {
	output = jsontext.AppendString(append(output, `"sender":{"name":`...), person.Name)
	if person.Handle != "" && person.Handle != person.Name {
		output = jsontext.AppendString(append(output, `,"handle":`...), person.Handle)
	}
	if person.Conversation != "" {
		output = jsontext.AppendString(append(output, `,"conversation":`...), person.Conversation)
	}
	if len(person.Recipients) > 0 {
		output = appendStrings(append(output, `,"recipients":`...), person.Recipients)
	}
	if person.Avatar != nil {
		output = person.Avatar.append(append(output, `,"avatar":`...))
	}
	return append(output, '}')
}

func appendStrings(output []byte, texts []string) []byte {
	separator := byte('[')
	for _, text := range texts {
		output = jsontext.AppendString(append(output, separator), text)
		separator = ','
	}
	return append(output, ']')
}

// readPerson reads the member sender. A wrong avatar is left out and reported, a wrong text leaves no person.
func readPerson(value *jsontext.Value) (*Person, []Code) {
	var dropped []Code
	person := Person{}
	if picture := value.Present("avatar"); picture != nil {
		reference, err := readReference(picture)
		if err == nil {
			err = checkAvatar(reference)
		}
		if err == nil {
			person.Avatar = &reference
		} else {
			dropped = []Code{MalformedReference}
		}
	}
	name, handle, conversation := value.Present("name"), value.Present("handle"), value.Present("conversation")
	recipients := value.Present("recipients")
	if !name.IsString() || recipients != nil && recipients.Kind != jsontext.Array {
		return nil, dropped
	}
	person.Name, person.Handle = name.Text, name.Text
	for _, optional := range []struct {
		value *jsontext.Value
		text  *string
	}{{handle, &person.Handle}, {conversation, &person.Conversation}} {
		if optional.value == nil {
			continue
		}
		if !optional.value.IsString() || optional.value.Text == "" {
			return nil, dropped
		}
		*optional.text = optional.value.Text
	}
	if recipients != nil {
		for _, recipient := range recipients.Elements {
			if recipient.Kind != jsontext.String {
				return nil, dropped
			}
			person.Recipients = append(person.Recipients, recipient.Text)
		}
	}
	if person.check() != nil {
		return nil, dropped
	}
	person.Name = visible(person.Name)
	for index, recipient := range person.Recipients {
		person.Recipients[index] = visible(recipient)
	}
	if person.check() != nil {
		return nil, dropped
	}
	return &person, dropped
}

// visible returns a name without the characters that [N-4] takes away.
func visible(name string) string {
	return strings.Map(func(character rune) rune {
		switch {
		case character == 0x061C, character == 0x200B, character == 0x200E, character == 0x200F, character == 0x2060, character == 0xFEFF,
			0x202A <= character && character <= 0x202E, 0x2066 <= character && character <= 0x2069:
			return -1
		}
		return character
	}, name)
}

// checkWithdrawals refuses names that no receiver would take [O-8.11].
func checkWithdrawals(names []string, own string) error {
	if len(names) > mostWithdrawn {
		return refuse(InvalidRequest, "a message withdraws at most "+strconv.Itoa(mostWithdrawn)+" others; send several")
	}
	for _, name := range names {
		if name == "" || !utf8.ValidString(name) {
			return refuse(InvalidRequest, "the name of a message to withdraw is empty or not UTF-8")
		}
		if name == own {
			return refuse(InvalidRequest, "the message would withdraw itself; give it another name")
		}
	}
	return nil
}
