package pushcrypt_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"example.com/pushcrypt/Sources/Languages/go"
)

// The other vector files: what is sealed, certified and derived from given random bytes.

type vector struct {
	Name, Topic, PushType, Title, Payload, Push                     string
	ClearSound                                                      *string
	Kept                                                            []string
	CallerID, Device, CollapseName                                  *string
	DevicePublic, ProviderSeed, ProviderPublic, SigningSeed         string
	Certificate, RMessageID, REphemeral, MessageID, R               string
	CollapseID, Text, Key, SHA256                                   string
	Epoch, Floor                                                    uint32
	SentAt, TTL, Requested, Expiration, Size, GraceUntil, ExpiresAt uint64
	WidestLength                                                    int
	Plain                                                           []string
}

// withRandom gives the bytes that a function draws.
func withRandom(t *testing.T, digits string, do func()) {
	before := rand.Reader
	rand.Reader = bytes.NewReader(fromHex(digits))
	defer func() { rand.Reader = before }()
	do()
	if left, _ := io.ReadAll(rand.Reader); len(left) > 0 {
		t.Error("not all random bytes were drawn")
	}
}

func (own vector) key() pushcrypt.Key {
	if own.Epoch == 0 {
		return must(pushcrypt.NewProviderKey(fromHex(own.ProviderSeed + map[bool]string{true: own.SigningSeed}[own.ProviderSeed == ""])))
	}
	return &pushcrypt.Credential{
		Key: must(pushcrypt.NewSigningKey(fromHex(own.SigningSeed))), Certificate: must(pushcrypt.NewCertificate(fromHex(own.Certificate))),
		Provider: must(pushcrypt.NewProviderPublicKey(fromHex(own.ProviderPublic))),
	}
}

func (own vector) options() (options []pushcrypt.Option) {
	options = append(options, pushcrypt.WithPushType(pushcrypt.PushType(own.PushType)), pushcrypt.WithClear(own.Kept...))
	if own.PushType == "" {
		options[0] = nil
	}
	if own.Title != "" {
		options = append(options, pushcrypt.WithTitle(own.Title))
	}
	for value, option := range map[*string]func(string) pushcrypt.Option{
		own.ClearSound: pushcrypt.WithSound, own.CallerID: pushcrypt.WithMessageID, own.CollapseName: pushcrypt.WithCollapseName,
	} {
		if value != nil {
			options = append(options, option(*value))
		}
	}
	return options
}

func (own vector) device() pushcrypt.DevicePublicKey {
	return must(pushcrypt.NewDevicePublicKey(fromHex(own.DevicePublic)))
}

// stored is the device as it is stored; one without an id has none, for which a collapse id falls back to its key.
func (own vector) stored() *pushcrypt.StoredDevice {
	device := deviceOf(own.device(), own.Topic)
	device.Device = ""
	if own.Device != nil {
		device.Device = *own.Device
	}
	return device
}

func TestSeals(t *testing.T) {
	var file struct{ Seal []vector }
	readJSON(t, "envelopes.json", &file)
	for _, own := range file.Seal {
		sealer := must(pushcrypt.NewSealer(own.key(), own.Topic))
		var push *pushcrypt.Push
		drawn := own.RMessageID + own.REphemeral
		if own.RMessageID == "" {
			drawn = strings.Repeat("00", 32) + drawn
		}
		withRandom(t, drawn, func() {
			push = must(sealer.SealFor([]byte(own.Payload), own.stored(), own.SentAt, own.TTL, own.options()...))
		})
		if string(push.Payload) != own.Push || push.MessageID.String() != own.MessageID || push.Widest != own.WidestLength || push.CollapseID != own.CollapseID {
			t.Errorf("%s: %+v\n%s", own.Name, push, push.Payload)
		}
	}
	if len(file.Seal) < 50 {
		t.Error("too few seals")
	}
}

func TestRequests(t *testing.T) {
	var file struct{ Collapse, Expiration []vector }
	readJSON(t, "requests.json", &file)
	payload := []byte(`{"aps":{"alert":"a"}}`)
	for _, own := range file.Collapse {
		if len(own.DevicePublic) != 64 {
			continue // Nothing is sealed to such a device.
		}
		provider := must(pushcrypt.NewProviderPublicKey(fromHex(own.ProviderPublic)))
		if id := pushcrypt.CollapseIDOf(provider, own.Topic, own.stored().Device, own.device(), *own.CallerID, own.CollapseName); id != own.CollapseID {
			t.Errorf("%s: %s", own.Name, id)
		}
	}
	defer setClock(now)
	sealer, device := must(pushcrypt.NewSealer(pushcrypt.GenerateProviderKey(), topic)), deviceOf(file.Collapse[0].device(), topic)
	for _, own := range file.Expiration {
		sentAt := time.UnixMilli(int64(own.SentAt))
		setClock(sentAt)
		push := must(sealer.Seal(payload, device, append(own.options(), pushcrypt.WithTime(sentAt), pushcrypt.WithTimeToLive(time.Duration(own.Requested)*time.Second))...))
		life := push.ExpiresAt.Sub(sentAt) / time.Second
		if push.Header().Get("apns-expiration") != fmt.Sprint(own.Expiration) || uint64(life) != own.TTL {
			t.Errorf("%s: %s, %d", own.Name, push.Header().Get("apns-expiration"), life)
		}
	}
}

func TestCertificates(t *testing.T) {
	var file struct{ Certificates []vector }
	readJSON(t, "trust.json", &file)
	for _, own := range file.Certificates {
		provider, signing := must(pushcrypt.NewProviderKey(fromHex(own.ProviderSeed))), must(pushcrypt.NewSigningKey(fromHex(own.SigningSeed)))
		made := must(pushcrypt.CertifyClaim(provider, signing.PublicKey(), own.Topic, own.Epoch, own.Floor, own.GraceUntil, own.ExpiresAt))
		if made.String() != own.Text || hex.EncodeToString(made.Bytes()) != own.Certificate {
			t.Errorf("%s: %s", own.Name, made)
		}
	}
}

func TestFiles(t *testing.T) {
	var file struct{ Seal []vector }
	readJSON(t, "attachments.json", &file)
	for _, own := range file.Seal {
		var sealed bytes.Buffer
		var reference pushcrypt.Reference
		plain := pieces(own.Plain)
		withRandom(t, own.R, func() { reference = must(pushcrypt.SealFile(&sealed, bytes.NewReader(plain), own.key())) })
		if hex.EncodeToString(reference.Key[:]) != own.Key || reference.Size != own.Size || hex.EncodeToString(reference.SHA256[:]) != own.SHA256 {
			t.Errorf("%s: another file", own.Name)
		}
		if fmt.Sprintf("%x", sha256.Sum256(sealed.Bytes())) != own.SHA256 {
			t.Errorf("%s: other bytes", own.Name)
		}
	}
}
