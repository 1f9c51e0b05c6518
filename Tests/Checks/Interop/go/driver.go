// Reads questions from standard input, one per line, and answers them with the installed Go package. README.md describes the language.
package main

import (
	"bufio"
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/pushcrypttest"
)

// must stops an answer: its error is a refusal, or breaks the test.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func data(word string) []byte {
	if word == "-" {
		return nil
	}
	return must(hex.DecodeString(word))
}

func several(text string) []string {
	if text == "-" {
		return nil
	}
	return strings.Split(text, ",")
}

func number(text string) uint64 { return must(strconv.ParseUint(text, 10, 64)) }

func clock(text string) time.Time {
	value := number(text)
	return time.Unix(int64(value/1000), int64(value%1000)*1_000_000)
}

func readTrust(pins, learned string) (trust pushcrypttest.Trust) {
	for _, pin := range several(pins) {
		trust.Pins = append(trust.Pins, must(pushcrypt.ParseProviderPublicKey(pin)))
	}
	for _, line := range several(learned) {
		parts := strings.Split(line, ":")
		trust.Learn(must(pushcrypt.ParseProviderPublicKey(parts[0])), pushcrypttest.Learned{
			Certificate: must(pushcrypt.ParseCertificate(parts[1])), Floor: uint32(number(parts[2])),
		})
	}
	return trust
}

var deviceKeys = map[string]*pushcrypttest.DeviceKey{}

func answerPush(words []string) string {
	receiver := pushcrypttest.Receiver{Topic: words[0], Trust: readTrust(words[2], words[3]), PushType: pushcrypt.PushType(words[4])}
	for _, text := range several(words[1]) {
		if deviceKeys[text] == nil {
			deviceKeys[text] = must(pushcrypttest.ParseDeviceKey(text))
		}
		receiver.Keys = append(receiver.Keys, pushcrypttest.HeldKey{Key: deviceKeys[text]})
	}
	opened := must(receiver.Open(data(words[6]), clock(words[5])))
	receiver.Trust.Learn(opened.Provider, opened.Learned)
	told, lines := "-", []string{}
	if opened.HasCertificateConflict {
		told = "certificate-conflict"
	}
	for _, pin := range receiver.Trust.Pins {
		if known := receiver.Trust.Learned[pin]; !known.Certificate.IsZero() {
			lines = append(lines, fmt.Sprintf("%s:%s:%d", pin, known.Certificate, known.Floor))
		}
	}
	if len(lines) == 0 {
		lines = []string{"-"}
	}
	return fmt.Sprintf("opened %x %s %d %d %s %d %s %s", opened.Payload, opened.MessageID, opened.SentAt.UnixMilli(),
		opened.TimeToLive/time.Second, opened.Provider, opened.Epoch, strings.Join(lines, ","), told)
}

// secretKey reads a provider's secret key, or the three lines of a signing key file.
func secretKey(text string) crypto.Signer {
	if lines := several(text); len(lines) > 1 {
		return must(pushcrypt.ParseCredential(strings.Join(lines, "\n")))
	}
	return must(pushcrypt.ParseProviderKey(text))
}

var (
	sealers = map[string]*pushcrypt.Sealer{}
	devices = map[string]pushcrypt.DevicePublicKey{}
)

func answerMessage(words []string) string {
	id := words[0] + words[2]
	if sealers[id] == nil {
		sealers[id] = must(pushcrypt.NewSealer(secretKey(words[2]), words[0]))
	}
	if devices[words[1]].IsZero() {
		devices[words[1]] = must(pushcrypt.ParseDevicePublicKey(words[1]))
	}
	options := []pushcrypt.Option{pushcrypt.WithTime(clock(words[3]))}
	for _, word := range words[5:] {
		name, value, _ := strings.Cut(word, "=")
		text := string(must(hex.DecodeString(value)))
		switch name {
		case "push-type":
			options = append(options, pushcrypt.WithPushType(pushcrypt.PushType(text)))
		case "time-to-live":
			options = append(options, pushcrypt.WithTimeToLive(time.Duration(number(text))*time.Second))
		case "title":
			options = append(options, pushcrypt.WithTitle(text))
		case "sound":
			options = append(options, pushcrypt.WithSound(text))
		case "id":
			options = append(options, pushcrypt.WithMessageID(text))
		default:
			panic("not known: " + name)
		}
	}
	return fmt.Sprintf("sealed %x", must(sealers[id].Seal(data(words[4]), devices[words[1]], options...)).Payload)
}

func answerReference(words []string) string {
	reference := must(pushcrypt.ParseReference(data(words[0])))
	return fmt.Sprintf("ok %x %x %x %x %x %d", reference.URL, reference.Type, reference.Name, reference.Key, reference.SHA256, reference.Size)
}

func answerFile(words []string) string {
	reference := pushcrypt.Reference{
		URL: "https://a", Type: "public.data", Name: "a", Key: *(*[32]byte)(data(words[0])), Size: number(words[1]), SHA256: *(*[32]byte)(data(words[2])),
	}
	var plain bytes.Buffer
	var pieces []io.Reader
	for _, piece := range several(words[3]) {
		pieces = append(pieces, bytes.NewReader(data(piece)))
	}
	must(0, pushcrypttest.OpenFile(&plain, io.MultiReader(pieces...), reference))
	return fmt.Sprintf("opened %d %x", plain.Len(), sha256.Sum256(plain.Bytes()))
}

func answerSealFile(words []string) string {
	var sealed bytes.Buffer
	reference := must(pushcrypt.SealFile(&sealed, bytes.NewReader(data(words[1])), secretKey(words[0])))
	return fmt.Sprintf("sealed %x %x", reference.Key, sealed.Bytes())
}

var answers = map[string]func([]string) string{
	"push": answerPush, "message": answerMessage, "reference": answerReference, "file": answerFile, "sealfile": answerSealFile,
}

// ask turns a refusal into an answer.
func ask(words []string) (text string) {
	defer func() {
		if failure := recover(); failure != nil {
			err, _ := failure.(error)
			var refused *pushcrypt.Error
			if errors.As(err, &refused) {
				text = "refused " + string(refused.Code)
			} else {
				text = fmt.Sprintf("broken %v", failure)
			}
		}
	}()
	return answers[words[0]](words[1:])
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := input.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Println(ask(strings.Fields(line)))
	}
}
