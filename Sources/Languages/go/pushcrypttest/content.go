package pushcrypttest

import (
	"strings"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
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

// FullBody returns the reference of a text that was too long for the push; nil if there is none, [A-31]. Use it only if the error is nil.
func (opened *Opened) FullBody() (*pushcrypt.Reference, error) {
	value := opened.reserved().Present("body")
	if value == nil {
		return nil, nil
	}
	reference, err := pushcrypt.ParseReference(value.Raw)
	if err == nil {
		err = reference.CheckFullBody()
	}
	return &reference, err
}

// Withdraws returns the ids of the messages to withdraw: of this provider [O-8.11], [O-8.12].
func (opened *Opened) Withdraws() (ids []pushcrypt.MessageID) {
	names := opened.reserved().Present("withdraw")
	if !names.Is(jsontext.Array) {
		return nil
	}
	seen := map[pushcrypt.MessageID]bool{opened.MessageID: true}
	for index, name := range names.Elements {
		id := pushcrypt.MessageID(core.NamedMessageID(name.Text))
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
	isRight := value.Present("name") != nil
	text := func(value *jsontext.Value) string {
		isRight = isRight && (value == nil || value.Is(jsontext.String) && value.Text != "")
		if value == nil {
			return ""
		}
		return value.Text
	}
	person = &pushcrypt.Person{Name: text(value.Present("name")), Handle: text(value.Present("handle")), Conversation: text(value.Present("conversation"))}
	if person.Handle == "" {
		person.Handle = person.Name
	}
	if recipients := value.Present("recipients"); recipients != nil {
		isRight = isRight && recipients.Is(jsontext.Array)
		for _, recipient := range recipients.Elements {
			person.Recipients = append(person.Recipients, text(recipient))
		}
	}
	if picture := value.Present("avatar"); picture != nil {
		reference, err := pushcrypt.ParseReference(picture.Raw)
		if err != nil || reference.CheckAvatar() != nil {
			dropped = []pushcrypt.Code{pushcrypt.MalformedReference}
		} else {
			person.Avatar = &reference
		}
	}
	if !isRight || person.Check() != nil {
		return nil, dropped
	}
	person.Name = visible(person.Name)
	for index, recipient := range person.Recipients {
		person.Recipients[index] = visible(recipient)
	}
	if person.Check() != nil {
		return nil, dropped
	}
	return person, dropped
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
