package pushcrypttest

import (
	"strings"
	"unicode/utf8"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
	"example.com/pushcrypt/internal/wire"
)

// reserved returns the member pushcrypt, nil if there is none; of a payload that never opened too.
func (opened *Opened) reserved() *jsontext.Value {
	members, _ := jsontext.ParseObject(opened.Payload)
	return members.Present("pushcrypt")
}

// Attachments returns the references to files, and a code for each item that was dropped to.
func (opened *Opened) Attachments() (references []pushcrypt.Reference, dropped []pushcrypt.Code) {
	own := opened.reserved()
	list := own.Present("attachments")
	switch {
	case own == nil || own.Is(jsontext.Object) && list == nil:
		return nil, nil
	case !list.Is(jsontext.Array):
		return nil, []pushcrypt.Code{pushcrypt.MalformedReference}
	}
	for index, element := range list.Elements {
		if index == format.MostAttachments {
			return references, append(dropped, pushcrypt.TooManyAttachments)
		}
		if reference, err := pushcrypt.ParseReference(element.Raw); err == nil {
			references = append(references, reference)
		} else {
			dropped = append(dropped, pushcrypt.MalformedReference)
		}
	}
	return references, dropped
}

// FullBody returns the reference of a text that was too long for the push; nil if there is none, [A-31].
func (opened *Opened) FullBody() (*pushcrypt.Reference, error) {
	value := opened.reserved().Present("body")
	if value == nil {
		return nil, nil
	}
	reference, err := pushcrypt.ParseReference(value.Raw)
	if err == nil {
		err = reference.CheckFullBody()
	}
	if err != nil {
		return nil, err
	}
	return &reference, nil
}

// CheckFullBody returns the text in the plain file of a full body, [A-30]. If it is refused, the payload's own is shown.
func CheckFullBody(plain []byte) (string, error) {
	if len(plain) == 0 || len(plain) > format.LongestFullBody || !utf8.Valid(plain) || strings.HasPrefix(string(plain), "\ufeff") {
		return "", refuse(pushcrypt.MalformedFile, "the full body is not 1 to 65,536 bytes of UTF-8 without a byte order mark")
	}
	return string(plain), nil
}

// Withdraws returns the ids of the messages to withdraw: of this provider [O-8.11], [O-8.12].
func (opened *Opened) Withdraws() (ids []pushcrypt.MessageID) {
	names := opened.reserved().Present("withdraw")
	if !names.Is(jsontext.Array) {
		return nil
	}
	seen := map[pushcrypt.MessageID]bool{opened.MessageID: true}
	for index, name := range names.Elements {
		id := pushcrypt.MessageID(wire.NamedMessageID(name.Text))
		if index < format.MostWithdrawn && name.Is(jsontext.String) && name.Text != "" && !seen[id] {
			ids = append(ids, id)
			seen[id] = true
		}
	}
	return ids
}

// IsDropped tells whether the message is not to be shown [O-8.15].
func (opened *Opened) IsDropped() bool { return opened.reserved().Get("drop").Is(jsontext.True) }

// Person returns the person that the notification is from, nil if there is none, and the code of an avatar that is left out [N-9].
func (opened *Opened) Person() (person *pushcrypt.Person, dropped []pushcrypt.Code) {
	value := opened.reserved().Present("sender")
	if !value.Is(jsontext.Object) {
		return nil, nil
	}
	read := pushcrypt.Person{}
	if picture := value.Present("avatar"); picture != nil {
		reference, err := pushcrypt.ParseReference(picture.Raw)
		if err == nil {
			err = reference.CheckAvatar()
		}
		if err != nil {
			dropped = []pushcrypt.Code{pushcrypt.MalformedReference}
		} else {
			read.Avatar = &reference
		}
	}
	texts, isText := map[string]string{}, true
	for _, name := range []string{"name", "handle", "conversation"} {
		text := value.Present(name)
		isText = isText && (text == nil && name != "name" || text.Is(jsontext.String) && text.Text != "")
		if isText && text != nil {
			texts[name] = text.Text
		}
	}
	recipients := value.Present("recipients")
	isText = isText && (recipients == nil || recipients.Is(jsontext.Array))
	if recipients != nil {
		for _, recipient := range recipients.Elements {
			isText = isText && recipient.Is(jsontext.String)
			read.Recipients = append(read.Recipients, recipient.Text)
		}
	}
	read.Name, read.Handle, read.Conversation = texts["name"], texts["handle"], texts["conversation"]
	if read.Handle == "" {
		read.Handle = read.Name
	}
	if !isText || read.Check() != nil {
		return nil, dropped
	}
	read.Name = visible(read.Name)
	for index, recipient := range read.Recipients {
		read.Recipients[index] = visible(recipient)
	}
	if read.Check() != nil {
		return nil, dropped
	}
	return &read, dropped
}

// visible returns a name without the characters that [N-4] takes away.
func visible(name string) string {
	return strings.Map(func(character rune) rune {
		for _, ends := range format.Invisible {
			if ends[0] <= character && character <= ends[1] {
				return -1
			}
		}
		return character
	}, name)
}
