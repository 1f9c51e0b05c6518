package pushcrypttest

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash"
	"io"

	"golang.org/x/crypto/chacha20poly1305"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/wire"
)

// OpenFile opens a sealed file that belongs to a reference to. What it writes is authentic but may be truncated: use it only if
// the error is nil, [A-35].
func OpenFile(plain io.Writer, sealed io.Reader, reference pushcrypt.Reference) error {
	opener, piece := NewFileOpener(reference), make([]byte, format.SealedChunk)
	for {
		length, err := sealed.Read(piece)
		if err != nil && err != io.EOF {
			return err
		}
		chunk, refused := opener.Update(piece[:length])
		if refused == nil && err == io.EOF {
			var last []byte
			last, refused = opener.Finish()
			chunk = append(chunk, last...)
		}
		if refused != nil {
			return refused
		}
		if _, failed := plain.Write(chunk); failed != nil || err == io.EOF {
			return failed
		}
	}
}

// A FileOpener opens a sealed file in pieces, as OpenFile does. After an error, and after Finish, everything is refused.
type FileOpener struct {
	reference pushcrypt.Reference
	hash      hash.Hash
	came      uint64
	start     string
	buffer    []byte
	number    uint64
	hasEnded  bool
}

// NewFileOpener starts the opening of a file.
func NewFileOpener(reference pushcrypt.Reference) *FileOpener {
	return &FileOpener{reference: reference, hash: sha256.New()}
}

// Format prints no key, whatever the verb.
func (opener FileOpener) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "FileOpener(%d bytes)", opener.came)
}

// Update accepts bytes of the file and returns those of the chunks that are now known not to be the last.
func (opener *FileOpener) Update(piece []byte) (plain []byte, err error) {
	if err := opener.begin(); err != nil {
		return nil, err
	}
	isOver := uint64(len(piece)) > opener.reference.Size-opener.came
	if isOver {
		piece = piece[:opener.reference.Size-opener.came]
	}
	opener.came += uint64(len(piece))
	opener.hash.Write(piece)
	rest := piece[take(&opener.start, piece):]
	if len(opener.start) == len(format.FileHeader) && opener.start != format.FileHeader {
		return nil, refuse(pushcrypt.NotASealedFile, "the file does not begin as sealed files do; check its address")
	}
	for len(rest) > 0 {
		if len(opener.buffer) == format.SealedChunk {
			chunk, err := opener.chunk(false)
			if err != nil {
				return nil, err
			}
			plain = append(plain, chunk...)
		}
		count := format.SealedChunk - len(opener.buffer)
		if count > len(rest) {
			count = len(rest)
		}
		opener.buffer, rest = append(opener.buffer, rest[:count]...), rest[count:]
	}
	if isOver {
		return nil, refuse(pushcrypt.WrongSize, "the file is longer than its reference says")
	}
	opener.hasEnded = false
	return plain, nil
}

// take adds to the start of the file, and returns how many bytes belong to it.
func take(start *string, piece []byte) int {
	missing := len(format.FileHeader) - len(*start)
	if missing > len(piece) {
		missing = len(piece)
	}
	*start += string(piece[:missing])
	return missing
}

// begin refuses further calls until the current one succeeds.
func (opener *FileOpener) begin() error {
	if !wire.IsFileSize(opener.reference.Size) {
		return refuse(pushcrypt.MalformedReference, "size is that of no sealed file")
	}
	if opener.hasEnded {
		return refuse(pushcrypt.MalformedFile, "the file was refused or finished before; open it again from its start")
	}
	opener.hasEnded = true
	return nil
}

// chunk opens a whole chunk.
func (opener *FileOpener) chunk(isLast bool) ([]byte, error) {
	aead, err := chacha20poly1305.New(opener.reference.Key[:])
	if err != nil {
		return nil, err
	}
	chunk, err := aead.Open(nil, wire.ChunkNonce(opener.number, isLast), opener.buffer, []byte(opener.start))
	if err != nil {
		return nil, refuse(pushcrypt.AuthenticationFailed, "part of the file is not sealed under this key")
	}
	opener.buffer = opener.buffer[:0]
	opener.number++
	return chunk, nil
}

// Finish returns the last chunk, if the whole file matches its reference.
func (opener *FileOpener) Finish() ([]byte, error) {
	if err := opener.begin(); err != nil {
		return nil, err
	}
	if opener.came != opener.reference.Size {
		return nil, refuse(pushcrypt.WrongSize, "the file is shorter than its reference says")
	}
	chunk, err := opener.chunk(true)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(opener.hash.Sum(nil), opener.reference.SHA256[:]) != 1 {
		return nil, refuse(pushcrypt.WrongHash, "this is another file than the payload means")
	}
	return chunk, nil
}
