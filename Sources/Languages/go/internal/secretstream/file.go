package secretstream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
)

// PlainChunk is the length of each chunk of a file but the last.
const PlainChunk = 65536

// Prefix is the start of a sealed file, and the associated data of each chunk.
var Prefix = []byte("PCA1\x10")

// ErrChanged is returned if a file is not the one that was hashed.
var ErrChanged = errors.New("the file changed")

// Seal seals a file with a known SHA-256 under a key and a header that are never used for another to. It returns the size and
// the SHA-256 of the sealed file; without them, what it wrote has no end.
func Seal(sealed io.Writer, plain io.Reader, key, header, plainSHA256 []byte) (size uint64, sum [32]byte, err error) {
	stream, before, after := New(key, header), sha256.New(), sha256.New()
	write := func(data []byte) {
		if err == nil {
			_, err = io.MultiWriter(sealed, after).Write(data)
			size += uint64(len(data))
		}
	}
	write(Prefix)
	write(header)
	// A chunk is written when another byte follows, because the last one is marked.
	chunk, next := make([]byte, PlainChunk), make([]byte, PlainChunk)
	length, failure := readChunk(plain, chunk)
	for following := 0; failure == nil && err == nil; length = following {
		before.Write(chunk[:length])
		if following, failure = readChunk(plain, next); following == 0 {
			break
		}
		write(stream.Push(chunk[:length], Prefix, Message))
		chunk, next = next, chunk
	}
	switch {
	case failure != nil:
		return 0, sum, failure
	case err == nil && !bytes.Equal(before.Sum(nil), plainSHA256):
		return 0, sum, ErrChanged
	}
	write(stream.Push(chunk[:length], Prefix, Final))
	after.Sum(sum[:0])
	return size, sum, err
}

// readChunk fills a chunk if the file has enough left.
func readChunk(file io.Reader, chunk []byte) (int, error) {
	length, err := io.ReadFull(file, chunk)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return length, err
}
