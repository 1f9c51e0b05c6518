package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"golang.org/x/crypto/chacha20poly1305"
)

// Docs/FormatRecords.md, "Answers".
const (
	labelAnswerID      = "pushcrypt/1 answer id\x00"
	labelAnswer        = "pushcrypt/1 answer\x00"
	labelAnswerMessage = "pushcrypt/1 answer message\x00"

	// AnswerHeader is the length of what precedes an answer's ciphertext.
	AnswerHeader = 37
	// LongestAnswer is the length of the longest JSON of an answer.
	LongestAnswer = 4096
	// LongestAction is the length of the longest id of an action.
	LongestAction = 255
)

var answerSizes = []int{128, 512, 2048, 4098}

// AnswerID returns the id by which a message is answered, and AnswerKey its key.
func AnswerID(secret, device []byte, topic string, messageID []byte, sentAt uint64) []byte {
	return HMAC(secret, []byte(labelAnswerID), whose(device, topic), messageID, binary.BigEndian.AppendUint64(nil, sentAt))[:16]
}

// AnswerKey derives the key from the id.
func AnswerKey(secret, device []byte, topic string, id []byte) []byte {
	return hkdf(secret, id, labelAnswer, whose(device, topic))
}

func whose(device []byte, topic string) []byte {
	hash := sha256.Sum256(device)
	return AppendText(hash[:], topic)
}

// hkdf is HKDF-SHA256 with one block of output.
func hkdf(key, salt []byte, label string, info []byte) []byte {
	return HMAC(HMAC(salt, key), []byte(label), info, []byte{1})
}

// PadAnswer returns the plaintext of an answer; nil for what is too long.
func PadAnswer(text []byte) []byte {
	for _, size := range answerSizes {
		if len(text)+2 <= size && len(text) <= LongestAnswer {
			return append(AppendText(make([]byte, 0, size), string(text)), make([]byte, size-len(text)-2)...)
		}
	}
	return nil
}

// UnpadAnswer returns the JSON of a plaintext; nil if its length or padding is wrong.
func UnpadAnswer(plain []byte) []byte {
	end := 2 + int(binary.BigEndian.Uint16(plain))
	if end > len(plain) || !bytes.Equal(plain, PadAnswer(plain[2:end])) {
		return nil
	}
	return plain[2:end]
}

// IsAnswerLength tells whether an answer may have so many bytes.
func IsAnswerLength(length int) bool {
	for _, size := range answerSizes {
		if length == AnswerHeader+size+chacha20poly1305.Overhead {
			return true
		}
	}
	return false
}

// OpenAnswer returns the plaintext; nil if the tag is wrong.
func OpenAnswer(key, answer []byte) []byte {
	aead, _ := chacha20poly1305.New(hkdf(key, answer[21:AnswerHeader], labelAnswerMessage, nil))
	plain, err := aead.Open(nil, make([]byte, chacha20poly1305.NonceSize), answer[AnswerHeader:], answer[:AnswerHeader])
	if err != nil {
		return nil
	}
	return plain
}
