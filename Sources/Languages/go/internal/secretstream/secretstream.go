// Package secretstream is libsodium's crypto_secretstream_xchacha20poly1305: Docs/FormatAttachments.md, The stream.
package secretstream

import (
	"crypto/subtle"
	"encoding/binary"

	"golang.org/x/crypto/chacha20"
	//lint:ignore SA1019 The stream is an older construction of ChaCha20 and Poly1305 than the AEAD of RFC 8439.
	"golang.org/x/crypto/poly1305"
)

// Tags of chunks.
const (
	Message = 0x00
	Final   = 0x03
	rekeys  = 0x02
)

// Lengths in bytes.
const (
	HeaderLength = 24
	Overhead     = 17
)

// A Stream is one end of a stream, under a key and a header that were never used together before.
type Stream struct {
	key    []byte
	nonce  [12]byte // a counter, little-endian, and inonce
	cipher *chacha20.Cipher
}

// New starts a stream.
func New(key, header []byte) *Stream {
	derived, err := chacha20.HChaCha20(key, header[:16])
	if err != nil {
		panic(err) // wrong lengths, which the callers have checked
	}
	stream := &Stream{key: derived}
	stream.nonce[0] = 1
	copy(stream.nonce[4:], header[16:])
	return stream
}

// start places the cipher at block 1 of the present nonce, and returns the key of the authenticator, from block 0.
func (stream *Stream) start() *poly1305.MAC {
	cipher, err := chacha20.NewUnauthenticatedCipher(stream.key, stream.nonce[:])
	if err != nil {
		panic(err)
	}
	var key [32]byte
	cipher.XORKeyStream(key[:], key[:])
	cipher.SetCounter(1)
	stream.cipher = cipher
	return poly1305.New(&key)
}

// Push seals a chunk.
func (stream *Stream) Push(plain, ad []byte, tag byte) []byte {
	mac := stream.start()
	var block [64]byte
	block[0] = tag
	stream.cipher.XORKeyStream(block[:], block[:])
	sealed := make([]byte, 1+len(plain), Overhead+len(plain))
	sealed[0] = block[0]
	stream.cipher.XORKeyStream(sealed[1:], plain)
	sum := authenticator(mac, ad, block[:], sealed[1:])
	stream.advance(tag, sum)
	return append(sealed, sum...)
}

// Pull opens a chunk of at least 17 bytes; ok says whether it is authentic.
func (stream *Stream) Pull(chunk, ad []byte) (plain []byte, tag byte, ok bool) {
	mac := stream.start()
	var block [64]byte
	block[0] = chunk[0]
	stream.cipher.XORKeyStream(block[:], block[:])
	tag = block[0]
	block[0] = chunk[0]
	c := chunk[1 : len(chunk)-16]
	sum := authenticator(mac, ad, block[:], c)
	if subtle.ConstantTimeCompare(sum, chunk[len(chunk)-16:]) != 1 {
		return nil, 0, false
	}
	plain = make([]byte, len(c))
	stream.cipher.XORKeyStream(plain, c)
	stream.advance(tag, sum)
	return plain, tag, true
}

func authenticator(mac *poly1305.MAC, ad, block, c []byte) []byte {
	var zeros [16]byte
	mac.Write(ad)
	mac.Write(zeros[:-len(ad)&15])
	mac.Write(block)
	mac.Write(c)
	// As many zeros as |c| mod 16, not what c lacks of a block.
	mac.Write(zeros[:len(c)&15])
	lengths := binary.LittleEndian.AppendUint64(nil, uint64(len(ad)))
	mac.Write(binary.LittleEndian.AppendUint64(lengths, uint64(64+len(c))))
	return mac.Sum(nil)
}

func (stream *Stream) advance(tag byte, sum []byte) {
	for index, value := range sum[:8] {
		stream.nonce[4+index] ^= value
	}
	counter := binary.LittleEndian.Uint32(stream.nonce[:]) + 1
	binary.LittleEndian.PutUint32(stream.nonce[:], counter)
	if tag&rekeys == 0 && counter != 0 {
		return
	}
	cipher, err := chacha20.NewUnauthenticatedCipher(stream.key, stream.nonce[:])
	if err != nil {
		panic(err)
	}
	both := append(append(make([]byte, 0, 40), stream.key...), stream.nonce[4:]...)
	cipher.XORKeyStream(both, both)
	stream.key = both[:32]
	copy(stream.nonce[4:], both[32:])
	binary.LittleEndian.PutUint32(stream.nonce[:], 1)
}
