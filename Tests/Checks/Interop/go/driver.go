// Reads questions from standard input, one per line, and answers them with the installed Go package. README.md describes the language.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
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

func number(text string) uint64 { return must(strconv.ParseUint(text, 10, 64)) }

func clock(text string) time.Time {
	value := number(text)
	return time.Unix(int64(value/1000), int64(value%1000)*1_000_000)
}

// secretKey reads a provider's secret key, or the three lines of a signing key file.
func secretKey(text string) pushcrypt.Key {
	if strings.Contains(text, ",") {
		return must(pushcrypt.ParseCredential(strings.ReplaceAll(text, ",", "\n")))
	}
	return must(pushcrypt.ParseProviderKey(text))
}

var (
	sealers = map[string]*pushcrypt.Sealer{}
	devices = map[string]*pushcrypt.StoredDevice{}
)

func answerMessage(words []string) string {
	id := words[0] + words[2]
	if sealers[id] == nil {
		sealers[id] = must(pushcrypt.NewSealer(secretKey(words[2]), words[0]))
	}
	if devices[words[1]] == nil {
		record := pushcrypt.DeviceRecord{Device: "phone1", Topic: words[0], PublicKey: must(pushcrypt.ParseDevicePublicKey(words[1])), Generation: 1}
		devices[words[1]] = &pushcrypt.StoredDevice{DeviceRecord: record}
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

func answerSealFile(words []string) string {
	var sealed bytes.Buffer
	reference := must(pushcrypt.SealFile(&sealed, bytes.NewReader(data(words[1])), secretKey(words[0])))
	return fmt.Sprintf("sealed %x %x", reference.Key, sealed.Bytes())
}

var answers = map[string]func([]string) string{"message": answerMessage, "sealfile": answerSealFile}

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
