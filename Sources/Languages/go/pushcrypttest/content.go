package pushcrypttest

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"io"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
)

// reserved returns the members of pushcrypt, also of a payload that never opened; nil for none.
func (opened *Opened) reserved() map[string]any {
	members, _ := jsontext.ParseObject(opened.Payload)
	return jsontext.Object(members["pushcrypt"])
}

// reference reads a reference that passes a rule.
func reference(value any, rule func(*pushcrypt.Reference) error) (*pushcrypt.Reference, error) {
	data, _ := json.Marshal(value)
	read, err := pushcrypt.ParseReference(data)
	if err == nil && rule != nil {
		err = rule(&read)
	}
	return &read, err
}

// Attachments returns the references to files, and a code for each item that was dropped to.
func (opened *Opened) Attachments() (references []pushcrypt.Reference, dropped []pushcrypt.Code) {
	members, _ := jsontext.ParseObject(opened.Payload)
	own := jsontext.Object(members["pushcrypt"])
	list, ok := own["attachments"].([]any)
	if !ok && (own["attachments"] != nil || own == nil && members["pushcrypt"] != nil) {
		return nil, []pushcrypt.Code{pushcrypt.MalformedReference}
	}
	for index, element := range list {
		if index == format.MostAttachments {
			return references, append(dropped, pushcrypt.TooManyAttachments)
		}
		if read, err := reference(element, nil); err == nil {
			references = append(references, *read)
		} else {
			dropped = append(dropped, pushcrypt.MalformedReference)
		}
	}
	return references, dropped
}

// FullBody returns the reference of a text that was too long for the push; nil if there is none, [A-31].
func (opened *Opened) FullBody() (*pushcrypt.Reference, error) {
	value := opened.reserved()["body"]
	if value == nil {
		return nil, nil
	}
	return reference(value, (*pushcrypt.Reference).CheckFullBody)
}

// Withdraws returns the ids of the messages to withdraw: of this provider [O-8.11], [O-8.12].
func (opened *Opened) Withdraws() (ids []pushcrypt.MessageID) {
	names, _ := opened.reserved()["withdraw"].([]any)
	seen := map[pushcrypt.MessageID]bool{opened.MessageID: true}
	for index, element := range names {
		name, _ := element.(string)
		id := pushcrypt.MessageID(core.NamedMessageID(name))
		if index < format.MostWithdrawn && name != "" && !seen[id] {
			ids = append(ids, id)
			seen[id] = true
		}
	}
	return ids
}

// IsDropped tells whether the message is not to be shown [O-8.15].
func (opened *Opened) IsDropped() bool { return opened.reserved()["drop"] == true }

// Person returns the person that the notification is from, nil if there is none, and the code of an avatar that is left out [N-9].
func (opened *Opened) Person() (person *pushcrypt.Person, dropped []pushcrypt.Code) {
	members := jsontext.Object(opened.reserved()["sender"])
	isRight := members["name"] != nil
	text := func(value any) string {
		text, _ := value.(string)
		isRight = isRight && (value == nil || text != "")
		return text
	}
	person = &pushcrypt.Person{Name: text(members["name"]), Handle: text(members["handle"]), Conversation: text(members["conversation"])}
	if person.Handle == "" {
		person.Handle = person.Name
	}
	recipients, isList := members["recipients"].([]any)
	isRight = isRight && (isList || members["recipients"] == nil)
	for _, recipient := range recipients {
		isRight = isRight && recipient != nil
		person.Recipients = append(person.Recipients, text(recipient))
	}
	if members["avatar"] != nil {
		picture, err := reference(members["avatar"], (*pushcrypt.Reference).CheckAvatar)
		if err == nil {
			person.Avatar = picture
		} else {
			dropped = []pushcrypt.Code{pushcrypt.MalformedReference}
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

// OpenFile opens a sealed file that belongs to a reference to, in the memory of one chunk. What it writes is authentic but may be
// truncated: use it only if the error is nil, [A-35].
func OpenFile(plain io.Writer, sealed io.Reader, reference pushcrypt.Reference) error {
	if !core.IsFileSize(reference.Size) {
		return refuse(pushcrypt.MalformedReference, "size is that of no sealed file")
	}
	aead, err := chacha20poly1305.New(reference.Key[:])
	if err != nil {
		return err
	}
	hash, chunk := sha256.New(), make([]byte, format.SealedChunk)
	input, left := io.TeeReader(sealed, hash), reference.Size
	read := func(size uint64) error {
		left -= size
		_, err := io.ReadFull(input, chunk[:size])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return refuse(pushcrypt.WrongSize, "the file is shorter than its reference says")
		}
		return err
	}
	if err := read(uint64(len(format.FileHeader))); err != nil {
		return err
	}
	if string(chunk[:len(format.FileHeader)]) != format.FileHeader {
		return refuse(pushcrypt.NotASealedFile, "the file does not begin as sealed files do; check its address")
	}
	for number := uint64(0); left > 0; number++ {
		size := left
		if size > format.SealedChunk {
			size = format.SealedChunk
		}
		if err := read(size); err != nil {
			return err
		}
		if left == 0 {
			if extra, _ := io.ReadFull(sealed, make([]byte, 1)); extra > 0 {
				return refuse(pushcrypt.WrongSize, "the file is longer than its reference says")
			}
		}
		opened, err := aead.Open(nil, core.ChunkNonce(number, left == 0), chunk[:size], []byte(format.FileHeader))
		if err != nil {
			return refuse(pushcrypt.AuthenticationFailed, "part of the file is not sealed under this key")
		}
		if left == 0 && subtle.ConstantTimeCompare(hash.Sum(nil), reference.SHA256[:]) != 1 {
			return refuse(pushcrypt.WrongHash, "this is another file than the payload means")
		}
		if _, err := plain.Write(opened); err != nil {
			return err
		}
	}
	return nil
}

// CheckFullBody returns the text in the plain file of a full body, [A-30]. If it is refused, the payload's own is shown.
func CheckFullBody(plain []byte) (string, error) {
	if !core.IsFullBody(string(plain)) {
		return "", refuse(pushcrypt.MalformedFile, "the full body is not 1 to 65,536 bytes of UTF-8 without a byte order mark")
	}
	return string(plain), nil
}
