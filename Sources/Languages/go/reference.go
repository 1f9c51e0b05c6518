package pushcrypt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
)

// A Reference is the address of a sealed file, and its key: Docs/FormatAttachments.md. Because of the key it must never reach a log; it
// prints without.
type Reference struct {
	// URL is an https address without user name and fragment.
	URL string
	// Key is the file's.
	Key [32]byte
	// Size is that of the sealed file, in bytes.
	Size uint64
	// SHA256 is that of the sealed file.
	SHA256 [32]byte
	// Type is the plain file's uniform type identifier, such as public.jpeg.
	Type string
	// Name is a label to show, never a path: allows names that some systems treat as paths.
	Name string
}

// The grammars of and, and their parts.
const (
	urlCharacters = `(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})`
	urlNumber     = `(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
)

var (
	urlPattern = regexp.MustCompile(`^https://((?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z][A-Za-z0-9_-]{0,62}|(?:` + urlNumber + `\.){3}` + urlNumber +
		`)(?::([0-9]{1,5}))?(?:/` + urlCharacters + `*)?(?:\?(?:` + urlCharacters + `|\?)*)?$`)
	typePattern = regexp.MustCompile(`^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$`)
)

// Format prints the address, whatever the verb.
func (reference Reference) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "Reference(%s, %d bytes)", reference.URL, reference.Size)
}

// ParseReference reads the JSON of a reference. (malformed-reference)
func ParseReference(data []byte) (Reference, error) {
	fields := newFields(data, MalformedReference)
	reference := Reference{URL: fields.text("url"), Size: fields.number("size", 0), Type: fields.text("type"), Name: fields.text("name")}
	reference.Key, reference.SHA256 = read(fields, "key", parse32), read(fields, "sha256", parse32)
	fields.require(fields.has("key") && fields.has("sha256"), "key or sha256")
	if fields.err == nil {
		fields.err = reference.check()
	}
	return reference, fields.err
}

// parse32 reads 32 bytes as canonical base64url.
func parse32(text string) (data [32]byte, err error) {
	read, ok := core.Decode(text)
	if copy(data[:], read); !ok || len(read) != len(data) {
		err = malformedReference("key or sha256 is not 32 bytes in base64url")
	}
	return data, err
}

// MarshalJSON returns what ParseReference reads, with the key: store it as you store keys.
func (reference Reference) MarshalJSON() ([]byte, error) {
	var output jsontext.Output
	output.Add("url", reference.URL)
	output.Add("key", core.Encode(reference.Key[:]))
	output.Add("size", reference.Size)
	output.Add("sha256", core.Encode(reference.SHA256[:]))
	output.Add("type", reference.Type)
	output.Add("name", reference.Name)
	return output.Bytes(), reference.check()
}

// UnmarshalJSON is ParseReference.
func (reference *Reference) UnmarshalJSON(data []byte) (err error) {
	*reference, err = ParseReference(data)
	return err
}

func malformedReference(text string) error { return refuse(MalformedReference, text) }

// check refuses what to refuse.
func (reference *Reference) check() error {
	url := urlPattern.FindStringSubmatch(reference.URL)
	switch {
	case url == nil || len(url[1]) > 253:
		return malformedReference("url is not an https address without user name and fragment")
	case len(reference.Type) > format.LongestLabel || !typePattern.MatchString(reference.Type):
		return malformedReference("type is not a uniform type identifier, such as public.jpeg")
	case !core.IsLabel(reference.Name, format.LongestLabel) || strings.Contains(reference.Name, "/") || reference.Name == "." || reference.Name == "..":
		return malformedReference("name has not 1 to 255 bytes, or has a slash or control characters")
	case !core.IsFileSize(reference.Size):
		return malformedReference("size is not 21 to 2^53 - 1, or that of no sealed file")
	}
	if port, _ := strconv.Atoi(url[2]); port > 65535 {
		return malformedReference("the url's port is above 65535")
	}
	return nil
}

// CheckFullBody refuses what cannot be the reference of a full body.
func (reference *Reference) CheckFullBody() error {
	if reference.Type != format.FullBodyType || reference.Size <= format.SmallestFile || reference.Size > format.SmallestFile+format.LongestFullBody {
		return malformedReference("a full body has the type public.plain-text and 22 to 65,557 sealed bytes")
	}
	return nil
}

// CheckAvatar refuses what cannot be the reference of an avatar.
func (reference *Reference) CheckAvatar() error {
	if !contains(format.AvatarTypes, reference.Type) || reference.Size > format.LargestAvatar {
		return malformedReference("an avatar is a JPEG or PNG of at most 1,000,000 sealed bytes")
	}
	return nil
}

// A Person is whom a notification is from, whom a phone may show with a face [N-9]. Texts have 1 to 255 bytes without control characters.
type Person struct {
	Name string
	// Handle is the app's name for the person; "" stands for Name.
	Handle string
	// Conversation is "" for none.
	Conversation string
	// Recipients are the others in the conversation, at most 8.
	Recipients []string
	// Avatar is nil for none.
	Avatar *Reference
}

// MarshalJSON returns the member sender of a sealed payload, which has the key of the avatar. (invalid-request, malformed-reference)
func (person Person) MarshalJSON() ([]byte, error) {
	output := jsontext.Output{Err: person.Check()}
	output.Add("name", person.Name)
	if person.Handle != person.Name {
		output.Add("handle", person.Handle)
	}
	output.Add("conversation", person.Conversation)
	output.Add("recipients", person.Recipients)
	if person.Avatar != nil {
		output.Add("avatar", person.Avatar)
		if output.Err == nil {
			output.Err = person.Avatar.CheckAvatar()
		}
	}
	return output.Bytes(), output.Err
}

// Check refuses texts that break [N-9]. (invalid-request)
func (person Person) Check() error {
	texts := append([]string{person.Name}, person.Recipients...)
	for _, optional := range []string{person.Handle, person.Conversation} {
		if optional != "" {
			texts = append(texts, optional)
		}
	}
	for _, text := range texts {
		if !core.IsLabel(text, format.LongestLabel) {
			return refuse(InvalidRequest, "a person's texts have 1 to 255 bytes without control characters")
		}
	}
	if len(person.Recipients) > format.MostRecipients {
		return refuse(InvalidRequest, "a person has over 8 recipients")
	}
	return nil
}
