package pushcrypt

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/chacha20poly1305"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
	"example.com/pushcrypt/Sources/Languages/go/internal/jsontext"
)

// A Reference is the address of a sealed file, and its key: Docs/FormatFiles.md. Because of the key it must never reach a log; it
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
	read := core.Decode(text)
	if copy(data[:], read); len(read) != len(data) {
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

// checkFullBody refuses what cannot be the reference of a full body.
func (reference *Reference) checkFullBody() error {
	if reference.Type != format.FullBodyType || reference.Size <= format.SmallestFile || reference.Size > format.SmallestFile+format.LongestFullBody {
		return malformedReference("a full body has the type public.plain-text and 22 to 65,557 sealed bytes")
	}
	return nil
}

// checkAvatar refuses what cannot be the reference of an avatar.
func (reference *Reference) checkAvatar() error {
	if !contains(format.AvatarTypes, reference.Type) || reference.Size > format.LargestAvatar {
		return malformedReference("an avatar is a JPEG or PNG of at most 1,000,000 sealed bytes")
	}
	return nil
}

// A Person is whom a notification is from, whom a phone may show with a face [N-9]. Texts have 1 to 255 bytes without control characters.
type Person struct {
	Name string `json:"name"`
	// Handle is the app's name for the person; "" stands for Name.
	Handle string `json:"handle,omitempty"`
	// Conversation is "" for none.
	Conversation string `json:"conversation,omitempty"`
	// Recipients are the others in the conversation, at most 8.
	Recipients []string `json:"recipients,omitempty"`
	// Avatar is nil for none. Its JSON has the key.
	Avatar *Reference `json:"avatar,omitempty"`
}

// check refuses texts and an avatar that break [N-9] and. (invalid-request, malformed-reference)
func (person Person) check() error {
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
	if person.Avatar != nil {
		return person.Avatar.checkAvatar()
	}
	return nil
}

// SealFile seals a file under a new key, in the memory of one chunk of 64 KiB to. The key is hedged with the signer's, so the plain
// file is read twice. Discard what was written unless the error is nil. The reference has no URL, Type and Name yet: set them once the file is
// stored. (changed-file)
func SealFile(sealed io.Writer, plain io.ReadSeeker, signer Key) (Reference, error) {
	own, err := signingOf(signer)
	if err != nil {
		return Reference{}, err
	}
	hash := sha256.New()
	length, err := io.Copy(hash, plain)
	if err != nil {
		return Reference{}, err
	}
	if _, err := plain.Seek(-length, io.SeekCurrent); err != nil {
		return Reference{}, err
	}
	plainSHA256 := hash.Sum(nil)
	key := own.draw(format.LabelFile, binary.BigEndian.AppendUint64(nil, uint64(length)), plainSHA256)
	return sealChunks(sealed, plain, key, length, plainSHA256)
}

// sealChunks seals a file of known length and SHA-256 under a key that is never used for another. The last chunk is sealed only if the bytes
// are the same as before.
func sealChunks(sealed io.Writer, plain io.Reader, key []byte, left int64, plainSHA256 []byte) (Reference, error) {
	aead, err := chacha20poly1305.New(key)
	if err != nil {
		return Reference{}, err
	}
	before, after := sha256.New(), sha256.New()
	input, output := io.TeeReader(plain, before), io.MultiWriter(sealed, after)
	reference, chunk := Reference{Key: *(*[32]byte)(key)}, []byte(format.FileHeader)
	for number, isLast := uint64(0), false; ; number++ {
		reference.Size += uint64(len(chunk))
		if _, err := output.Write(chunk); err != nil || isLast {
			copy(reference.SHA256[:], after.Sum(nil))
			return reference, err
		}
		size := left
		if isLast = size <= format.PlainChunk; !isLast {
			size = format.PlainChunk
		}
		left -= size
		plainChunk := make([]byte, size, format.SealedChunk)
		_, err := io.ReadFull(input, plainChunk)
		if isLast {
			// One byte more is another file too.
			_, _ = input.Read(make([]byte, 1))
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF || isLast && err == nil && !bytes.Equal(before.Sum(nil), plainSHA256) {
			err = refuse(ChangedFile, "the file changed while it was being sealed; seal it again")
		}
		if err != nil {
			return Reference{}, err
		}
		chunk = aead.Seal(plainChunk[:0], core.ChunkNonce(number, isLast), plainChunk, []byte(format.FileHeader))
	}
}

// SealFullBody seals a text that is too long for a push, at most 65,536 bytes; the payload's own body has to be one that can be shown alone,
// such as its beginning. Store the sealed bytes, and set the reference's URL. (body-too-long, malformed-file)
func SealFullBody(text string, signer Key) (sealed []byte, reference Reference, err error) {
	if len(text) > format.LongestFullBody {
		return nil, Reference{}, refuse(BodyTooLong, "the body has over 65,536 bytes")
	}
	if text == "" || !utf8.ValidString(text) || strings.HasPrefix(text, "\ufeff") {
		return nil, Reference{}, refuse(MalformedFile, "the full body is empty, not UTF-8, or begins with a byte order mark")
	}
	var output bytes.Buffer
	reference, err = SealFile(&output, bytes.NewReader([]byte(text)), signer)
	reference.Type, reference.Name = format.FullBodyType, "body"
	return output.Bytes(), reference, err
}
