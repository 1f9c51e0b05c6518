package pushcrypt

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"unicode/utf8"

	"golang.org/x/crypto/chacha20poly1305"

	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/format"
)

// SealFile seals a file under a new key, in the memory of one chunk of 64 KiB to. The key is hedged with the signer's, so the plain
// file is read twice. Discard what was written unless the error is nil. The reference has no URL, Type and Name yet: set them once the file is
// stored. (changed-file)
func SealFile(sealed io.Writer, plain io.ReadSeeker, signer crypto.Signer) (Reference, error) {
	own, err := newSigning(signer)
	if err != nil {
		return Reference{}, err
	}
	start, err := plain.Seek(0, io.SeekCurrent)
	if err != nil {
		return Reference{}, err
	}
	hash := sha256.New()
	length, err := io.Copy(hash, plain)
	if err != nil {
		return Reference{}, err
	}
	if _, err := plain.Seek(start, io.SeekStart); err != nil {
		return Reference{}, err
	}
	plainSHA256 := hash.Sum(nil)
	key, err := own.draw(format.LabelFile, binary.BigEndian.AppendUint64(nil, uint64(length)), plainSHA256)
	if err != nil {
		return Reference{}, err
	}
	return sealChunks(sealed, plain, key, length, plainSHA256)
}

// sealChunks seals a file of known length and SHA-256 under a key that is never used for another. The last chunk is sealed only if the bytes
// are the same as before.
func sealChunks(sealed io.Writer, plain io.Reader, key []byte, length int64, plainSHA256 []byte) (Reference, error) {
	aead, err := chacha20poly1305.New(key)
	if err != nil {
		return Reference{}, err
	}
	before, after := sha256.New(), sha256.New()
	output, reference := io.MultiWriter(sealed, after), Reference{Key: *(*[32]byte)(key)}
	write := func(data []byte) error {
		reference.Size += uint64(len(data))
		_, err := output.Write(data)
		return err
	}
	err = write([]byte(format.FileHeader))
	chunk := make([]byte, 0, format.SealedChunk)
	isLast := false
	for number := uint64(0); err == nil && !isLast; number++ {
		size := length
		if isLast = size <= format.PlainChunk; !isLast {
			size = format.PlainChunk
		}
		length -= size
		read, readErr := io.ReadFull(plain, chunk[:size])
		if readErr != nil && readErr != io.EOF && readErr != io.ErrUnexpectedEOF {
			return Reference{}, readErr
		}
		before.Write(chunk[:read])
		isChanged := int64(read) < size
		if isLast {
			extra, _ := plain.Read(make([]byte, 1))
			isChanged = isChanged || extra > 0 || !bytes.Equal(before.Sum(nil), plainSHA256)
		}
		if isChanged {
			return Reference{}, refuse(ChangedFile, "the file changed while it was being sealed; seal it again")
		}
		err = write(aead.Seal(chunk[:0], core.ChunkNonce(number, isLast), chunk[:read], []byte(format.FileHeader)))
	}
	copy(reference.SHA256[:], after.Sum(nil))
	return reference, err
}

// SealFullBody seals a text that is too long for a push, at most 65,536 bytes; the payload's own body has to be one that can be shown alone,
// such as its beginning. Store the sealed bytes, and set the reference's URL. (body-too-long, malformed-file)
func SealFullBody(text string, signer crypto.Signer) (sealed []byte, reference Reference, err error) {
	if len(text) > format.LongestFullBody {
		return nil, Reference{}, refuse(BodyTooLong, "the body has over 65,536 bytes")
	}
	if text == "" || !utf8.ValidString(text) || bytes.HasPrefix([]byte(text), []byte("\ufeff")) {
		return nil, Reference{}, refuse(MalformedFile, "the full body is empty, not UTF-8, or begins with a byte order mark")
	}
	var output bytes.Buffer
	reference, err = SealFile(&output, bytes.NewReader([]byte(text)), signer)
	reference.Type, reference.Name = format.FullBodyType, "body"
	return output.Bytes(), reference, err
}
