package pushcrypttest

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"unicode/utf8"

	"golang.org/x/crypto/chacha20poly1305"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
)

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
	if len(plain) == 0 || len(plain) > format.LongestFullBody || !utf8.Valid(plain) || bytes.HasPrefix(plain, []byte("\ufeff")) {
		return "", refuse(pushcrypt.MalformedFile, "the full body is not 1 to 65,536 bytes of UTF-8 without a byte order mark")
	}
	return string(plain), nil
}
