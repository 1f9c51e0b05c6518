// Command bench is the module for Go beside the bare calls that a seal is made of: README.md. Started by peers.py.
package main

import (
	"bufio"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"

	"example.com/pushcrypt"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/curve25519"
)

const text = `{"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}},"ENCRYPTED_DATA":"`

var (
	inner, content, label, message, hedge = make([]byte, 512), make([]byte, 444), make([]byte, 90), make([]byte, 180), make([]byte, 32)
	keys                                  [][]byte
	signing                               ed25519.PrivateKey
	payload                               []byte
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func mac(key, data []byte) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write(data)
	return hash.Sum(nil)
}

func bare(index int) []byte {
	device, random := keys[index%len(keys)], make([]byte, 64)
	must(rand.Read(random))
	sha256.Sum256(device)
	sha256.Sum256(payload)
	sha256.Sum256(content)
	mac(hedge, random)
	ephemeral := mac(mac(nil, mac(hedge, message)), label)
	enc := must(curve25519.X25519(ephemeral, curve25519.Basepoint))
	shared := mac(mac(nil, must(curve25519.X25519(ephemeral, device))), label)
	mac(nil, label)
	schedule := mac(shared, label)
	key, nonce := mac(schedule, label), mac(schedule, label)[:12]
	copy(inner[4:], ed25519.Sign(signing, message))
	sealed := must(chacha20poly1305.New(key)).Seal(enc, nonce, inner, nil)
	return []byte(text + base64.RawURLEncoding.EncodeToString(sealed) + `"}`)
}

func main() {
	sealer := must(pushcrypt.NewSealer(must(pushcrypt.ParseSenderKey(os.Args[1])), os.Args[2], pushcrypt.Placeholder{}))
	payload = []byte(os.Args[3])
	_, signing, _ = ed25519.GenerateKey(nil)
	var devices []pushcrypt.DevicePublicKey
	for _, text := range os.Args[4:] {
		key := must(pushcrypt.ParseDevicePublicKey(text))
		devices, keys = append(devices, key), append(keys, key.Bytes())
	}
	seal := func(index int) []byte { return must(sealer.Seal(payload, devices[index%len(devices)])).Payload }
	// In turns, so that what else runs here disturbs both; the quartile is of calls that nothing interrupted.
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		seals, calls, length := make([]float64, must(strconv.Atoi(lines.Text()))), []float64(nil), 0
		for index := range seals {
			start := time.Now()
			length += len(seal(index))
			middle := time.Now()
			bare(index)
			calls = append(calls, time.Since(middle).Seconds())
			seals[index] = middle.Sub(start).Seconds()
		}
		sort.Float64s(seals)
		sort.Float64s(calls)
		fmt.Println(seals[len(seals)/4], calls[len(calls)/4], length/len(seals))
	}
}
