package pushcrypt

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/chacha20poly1305"

	"example.com/pushcrypt/internal/jsontext"
)

// References to files that accompany a push: Docs/FormatAttachments.md. Nothing is fetched here: an app must fetch over https only, after
// redirects too, from the same host, and never more than Size bytes, [A-34].
const (
	smallestFile    = 21
	largestFile     = 1<<53 - 1
	largestFullBody = 65536
	mostAttachments = 8
)

// A Reference is the address of a sealed file, and its key. Because of the key it must never reach a log; it prints without.
type Reference struct {
	// URL is an https address without user name and fragment.
	URL string
	// Key is the file's.
	Key [32]byte
	// Size is that of the sealed file.
	Size uint64
	// SHA256 is that of the sealed file.
	SHA256 [32]byte
	// Type is the plain file's uniform type identifier, such as public.jpeg.
	Type string
	// Name is a label to show, never a path: allows names that some systems treat as paths.
	Name string
}

// Format prints the address, whatever the verb.
func (reference Reference) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "Reference(%s, %d bytes)", reference.URL, reference.Size)
}

// MarshalJSON returns what ParseReference reads, with the key: store it as you store keys.
func (reference Reference) MarshalJSON() ([]byte, error) {
	if err := reference.check(); err != nil {
		return nil, err
	}
	return reference.append(nil), nil
}

// UnmarshalJSON is ParseReference.
func (reference *Reference) UnmarshalJSON(data []byte) (err error) {
	*reference, err = ParseReference(data)
	return err
}

func malformedReference(text string) error { return refuse(MalformedReference, text) }

// check refuses what to refuse.
func (reference *Reference) check() error {
	switch {
	case !isURL(reference.URL):
		return malformedReference("url is not an https address without user name and fragment")
	case !isUniformType(reference.Type):
		return malformedReference("type is not a uniform type identifier, such as public.jpeg")
	case !isFileName(reference.Name):
		return malformedReference("name has not 1 to 255 bytes, or has a slash or control characters")
	case !isSize(reference.Size):
		return malformedReference("size is not 21 to 2^53 - 1, or that of no sealed file")
	}
	return nil
}

// ParseReference reads the JSON of a reference.
func ParseReference(data []byte) (Reference, error) {
	value, err := jsontext.ParseObject(data)
	if err != nil {
		return Reference{}, malformedReference(err.Error())
	}
	return readReference(value)
}

func readReference(value *jsontext.Value) (Reference, error) {
	url, kind, name := value.Get("url"), value.Get("type"), value.Get("name")
	key, sha256 := value.Get("key"), value.Get("sha256")
	size, ok := value.Get("size").Integer(largestFile)
	if !url.IsString() || !kind.IsString() || !name.IsString() || !key.IsString() || !sha256.IsString() || !ok {
		return Reference{}, malformedReference("a member of a reference is missing, or of another type")
	}
	reference := Reference{URL: url.Text, Size: size, Type: kind.Text, Name: name.Text}
	if !read32(key.Text, &reference.Key) || !read32(sha256.Text, &reference.SHA256) {
		return Reference{}, malformedReference("key or sha256 is not 32 bytes in base64url")
	}
	return reference, reference.check()
}

// read32 reads canonical base64url.
func read32(text string, into *[32]byte) bool {
	data, err := base64URL.DecodeString(text)
	if err != nil || len(data) != 32 || strings.ContainsAny(text, "\r\n") {
		return false
	}
	copy(into[:], data)
	return true
}

// append appends the reference as JSON.
func (reference *Reference) append(output []byte) []byte {
	output = jsontext.AppendString(append(output, `{"url":`...), reference.URL)
	output = append(output, `,"key":"`+base64.RawURLEncoding.EncodeToString(reference.Key[:])+`","size":`...)
	output = strconv.AppendUint(output, reference.Size, 10)
	output = append(output, `,"sha256":"`+base64.RawURLEncoding.EncodeToString(reference.SHA256[:])+`","type":`...)
	output = jsontext.AppendString(output, reference.Type)
	return append(jsontext.AppendString(append(output, `,"name":`...), reference.Name), '}')
}

func checkFullBody(reference Reference) error {
	if reference.Type != "public.plain-text" || reference.Size <= smallestFile || reference.Size > smallestFile+largestFullBody {
		return malformedReference("a full body has the type public.plain-text and 22 to 65,557 sealed bytes")
	}
	return nil
}

// isSize is: the last chunk is empty only if it is the first.
func isSize(size uint64) bool {
	if size < smallestFile || size > largestFile {
		return false
	}
	last := (size - uint64(len(filePrefix))) % sealedChunk
	return size == smallestFile || last == 0 || last > chacha20poly1305.Overhead
}

// isURL is the grammar of.
func isURL(text string) bool {
	rest := strings.TrimPrefix(text, "https://")
	if rest == text {
		return false
	}
	end := strings.IndexAny(rest, ":/?")
	if end < 0 {
		end = len(rest)
	}
	host, rest := rest[:end], rest[end:]
	if strings.HasPrefix(rest, ":") {
		end := 1
		for end < len(rest) && '0' <= rest[end] && rest[end] <= '9' {
			end++
		}
		if port, err := strconv.Atoi(rest[1:end]); err != nil || port > 65535 || end > 6 {
			return false
		}
		rest = rest[end:]
	}
	path, query, _ := strings.Cut(rest, "?")
	return isHost(host) && (path == "" || path[0] == '/') && hasCharacters(path, "/") && hasCharacters(query, "/?")
}

// hasCharacters tells whether a text has only the characters that a url may have, and some more.
func hasCharacters(text, more string) bool {
	isHex := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
	for index := 0; index < len(text); index++ {
		c := text[index]
		switch {
		case c == '%':
			if index+2 >= len(text) || !isHex(text[index+1]) || !isHex(text[index+2]) {
				return false
			}
			index += 2
		case !isAlphanumeric(c) && strings.IndexByte("-._~!$&'()*+,;=:@"+more, c) < 0:
			return false
		}
	}
	return true
}

func isHost(host string) bool {
	if len(host) == 0 || len(host) > 253 {
		return false
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if len(label) == 0 || len(label) > 63 {
			return false
		}
		for _, c := range []byte(label) {
			if !isAlphanumeric(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	if isLetter(labels[len(labels)-1][0]) {
		return true
	}
	if len(labels) != 4 {
		return false
	}
	for _, label := range labels {
		number, err := strconv.ParseUint(label, 10, 8)
		if err != nil || strconv.FormatUint(number, 10) != label {
			return false
		}
	}
	return true
}

// isUniformType is.
func isUniformType(text string) bool {
	labels := strings.Split(text, ".")
	for _, label := range labels {
		for _, c := range []byte(label) {
			if !isAlphanumeric(c) && c != '-' {
				return false
			}
		}
		if label == "" {
			return false
		}
	}
	return len(labels) > 1 && 3 <= len(text) && len(text) <= 255
}

// isFileName is.
func isFileName(name string) bool {
	for _, character := range name {
		if unicode.Is(unicode.Cc, character) || character == '/' {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 255 && name != "." && name != ".." && utf8.ValidString(name)
}
