package pushcrypt

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"

	"golang.org/x/crypto/chacha20poly1305"
)

// Sealed files, in the STREAM construction: Docs/FormatAttachments.md.
const (
	plainChunk  = 65536
	sealedChunk = plainChunk + chacha20poly1305.Overhead
)

// The start of a sealed file, and the associated data of each chunk.
var filePrefix = []byte("PCA2\x10")

// A SealedFile is the key, size and SHA-256 of a sealed file.
type SealedFile struct {
	Key    [32]byte
	Size   uint64
	SHA256 [32]byte
}

// Format prints the size, whatever the verb.
func (file SealedFile) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "SealedFile(%d bytes)", file.Size)
}

// Reference returns the reference for a payload, once the sealed file is stored at the address. See Reference for the other two.
func (file SealedFile) Reference(url, uniformType, name string) (Reference, error) {
	reference := Reference{url, file.Key, file.Size, file.SHA256, uniformType, name}
	return reference, reference.check()
}

// SealFile seals a file under a new key, in the memory of two chunks to. The key is hedged with the signer's, so the plain file
// is read twice. Discard what was written unless the error is nil.
func SealFile(sealed io.Writer, plain io.ReadSeeker, signer crypto.Signer) (SealedFile, error) {
	own, err := newSigning(signer)
	if err != nil {
		return SealedFile{}, err
	}
	return sealFile(sealed, plain, own)
}

func sealFile(sealed io.Writer, plain io.ReadSeeker, own *signing) (SealedFile, error) {
	start, err := plain.Seek(0, io.SeekCurrent)
	if err != nil {
		return SealedFile{}, err
	}
	first := sha256.New()
	length, err := io.Copy(first, plain)
	if err != nil {
		return SealedFile{}, err
	}
	if _, err := plain.Seek(start, io.SeekStart); err != nil {
		return SealedFile{}, err
	}
	r, err := random(32)
	if err != nil {
		return SealedFile{}, err
	}
	return sealChunks(sealed, plain, own.hedge.sum("file", r, binary.BigEndian.AppendUint64(nil, uint64(length)), first.Sum(nil)), length, first.Sum(nil))
}

// sealChunks seals a file of known length and SHA-256 under a key that is never used for another to.
func sealChunks(sealed io.Writer, plain io.Reader, key []byte, length int64, plainSHA256 []byte) (SealedFile, error) {
	aead, err := chacha20poly1305.New(key)
	if err != nil {
		return SealedFile{}, err
	}
	before, after, size := sha256.New(), sha256.New(), uint64(0)
	output := io.MultiWriter(sealed, after)
	chunk := append(make([]byte, 0, sealedChunk), filePrefix...)
	for number, came := uint64(0), int64(0); ; number++ {
		size += uint64(len(chunk))
		if _, err := output.Write(chunk); err != nil {
			return SealedFile{}, err
		}
		if came == length && number > 0 {
			break
		}
		read, err := io.ReadFull(plain, chunk[:plainChunk])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return SealedFile{}, err
		}
		came += int64(read)
		before.Write(chunk[:read])
		isEnd := came == length && bytes.Equal(before.Sum(nil), plainSHA256)
		if came > length || came < length && read < plainChunk || came == length && !isEnd {
			return SealedFile{}, errChangedFile()
		}
		chunk = aead.Seal(chunk[:0], chunkNonce(number, isEnd), chunk[:read], filePrefix)
	}
	if extra, _ := plain.Read(make([]byte, 1)); extra > 0 {
		return SealedFile{}, errChangedFile()
	}
	return SealedFile{*(*[32]byte)(key), size, *(*[32]byte)(after.Sum(nil))}, nil
}

// chunkNonce is the number of the chunk in 11 bytes, and whether it is the last.
func chunkNonce(number uint64, isLast bool) []byte {
	nonce := make([]byte, chacha20poly1305.NonceSize)
	binary.BigEndian.PutUint64(nonce[3:], number)
	if isLast {
		nonce[11] = 1
	}
	return nonce
}

func errChangedFile() error {
	return refuse(ChangedFile, "the file changed while it was being sealed; seal it again")
}

// SealFullBody seals a text that is too long for a push; the payload's own body has to be one that can be shown alone, such as its
// beginning. Store the sealed bytes, then refer to them with file.Reference(url, "public.plain-text", "body").
func SealFullBody(text string, signer crypto.Signer) (sealed []byte, file SealedFile, err error) {
	if len(text) > largestFullBody {
		return nil, SealedFile{}, refuse(BodyTooLong, "the body has over 65,536 bytes")
	}
	if _, err := CheckFullBody([]byte(text)); err != nil {
		return nil, SealedFile{}, err
	}
	var output bytes.Buffer
	file, err = SealFile(&output, bytes.NewReader([]byte(text)), signer)
	return output.Bytes(), file, err
}

// CheckFullBody returns the text in the plain file of a full body, [A-30]. If it is refused, the payload's own is shown.
func CheckFullBody(plain []byte) (string, error) {
	if len(plain) == 0 || len(plain) > largestFullBody || !utf8.Valid(plain) || bytes.HasPrefix(plain, []byte("\ufeff")) {
		return "", errMalformedFile("the full body is not 1 to 65,536 bytes of UTF-8 without a byte order mark")
	}
	return string(plain), nil
}

func errMalformedFile(text string) error { return refuse(MalformedFile, text) }

// OpenFile opens a sealed file that belongs to a reference to. What it writes is authentic but may be truncated: write to a
// file with a temporary name, and rename that only if the error is nil, [A-35].
func OpenFile(plain io.Writer, sealed io.Reader, reference Reference) error {
	opener, piece := NewFileOpener(reference), make([]byte, sealedChunk)
	for {
		length, err := sealed.Read(piece)
		if length > 0 {
			chunk, err := opener.Update(piece[:length])
			if err != nil {
				return err
			}
			if _, err := plain.Write(chunk); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	chunk, err := opener.Finish()
	if err != nil {
		return err
	}
	_, err = plain.Write(chunk)
	return err
}

// A FileOpener opens a sealed file in pieces, as OpenFile does. After an error, and after Finish, everything is refused.
type FileOpener struct {
	reference Reference
	hash      hash.Hash
	came      uint64
	start     []byte
	buffer    []byte
	number    uint64
	ended     bool
}

// NewFileOpener starts the opening of a file.
func NewFileOpener(reference Reference) *FileOpener {
	return &FileOpener{reference: reference, hash: sha256.New()}
}

// Update accepts bytes of the file and returns those of the chunks that are now known not to be the last.
func (opener *FileOpener) Update(piece []byte) (plain []byte, err error) {
	if err := opener.begin(); err != nil {
		return nil, err
	}
	within := piece
	if left := opener.reference.Size - opener.came; uint64(len(within)) > left {
		within = within[:left]
	}
	opener.came += uint64(len(within))
	opener.hash.Write(within)
	rest := within
	if missing := len(filePrefix) - len(opener.start); missing > 0 {
		if missing > len(rest) {
			missing = len(rest)
		}
		opener.start, rest = append(opener.start, rest[:missing]...), rest[missing:]
		if len(opener.start) == len(filePrefix) && !bytes.Equal(opener.start, filePrefix) {
			return nil, refuse(NotASealedFile, "the file does not begin as sealed files do; check its address")
		}
	}
	for len(rest) > 0 {
		if len(opener.buffer) == sealedChunk {
			chunk, err := opener.takeBuffer(false)
			if err != nil {
				return nil, err
			}
			plain = append(plain, chunk...)
		}
		count := sealedChunk - len(opener.buffer)
		if count > len(rest) {
			count = len(rest)
		}
		opener.buffer, rest = append(opener.buffer, rest[:count]...), rest[count:]
	}
	if len(within) < len(piece) {
		return nil, refuse(WrongSize, "the file is longer than its reference says")
	}
	opener.ended = false
	return plain, nil
}

// begin refuses further calls until the current one succeeds.
func (opener *FileOpener) begin() error {
	if !isSize(opener.reference.Size) {
		return malformedReference("size is that of no sealed file")
	}
	if opener.ended {
		return errMalformedFile("the file was refused or finished before; open it again from its start")
	}
	opener.ended = true
	return nil
}

// takeBuffer opens a whole chunk.
func (opener *FileOpener) takeBuffer(isLast bool) ([]byte, error) {
	aead, err := chacha20poly1305.New(opener.reference.Key[:])
	if err != nil {
		return nil, err
	}
	chunk, err := aead.Open(nil, chunkNonce(opener.number, isLast), opener.buffer, filePrefix)
	if err != nil {
		return nil, refuse(AuthenticationFailed, "part of the file is not sealed under this key")
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
		return nil, refuse(WrongSize, "the file is shorter than its reference says")
	}
	chunk, err := opener.takeBuffer(true)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(opener.hash.Sum(nil), opener.reference.SHA256[:]) != 1 {
		return nil, refuse(WrongHash, "this is another file than the payload means")
	}
	return chunk, nil
}
