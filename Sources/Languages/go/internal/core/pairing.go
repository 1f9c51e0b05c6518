package core

import (
	"bytes"
	"crypto/sha256"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// Docs/FormatPairing.md.
const (
	labelPairingID        = "pushcrypt/1 pairing id\x00"
	labelPairingRequest   = "pushcrypt/1 pairing request\x00"
	labelPairingReplySalt = "pushcrypt/1 pairing reply salt\x00"
	labelPairingReply     = "pushcrypt/1 pairing reply\x00"

	// PairingSecret is the length of a code's secret, PairingID that of its id.
	PairingSecret, PairingID = 16, 8
	pairingSalt              = 16
	pairingHeader            = PairingID + pairingSalt
	longestPairingURL        = 1024
	// The text of 16,384 bytes.
	longestPairingBody = 21_846
)

// A PairingExchange is what the phone and the server of one code compute.
type PairingExchange struct{ secret, scene []byte }

// NewPairingExchange is for the secret, the address and the fingerprint of a code.
func NewPairingExchange(secret []byte, url, topic string, fingerprint []byte) PairingExchange {
	return PairingExchange{secret, append(AppendText(AppendText(nil, url), topic), fingerprint...)}
}

// PairingFingerprint names a provider key in a code.
func PairingFingerprint(provider []byte) []byte {
	hash := sha256.Sum256(provider)
	return hash[:16]
}

// ID is by what a server finds a code.
func (exchange PairingExchange) ID() []byte {
	return hkdf(exchange.secret, nil, labelPairingID, nil)[:PairingID]
}

func (exchange PairingExchange) requestKey(salt []byte) []byte {
	return hkdf(exchange.secret, salt, labelPairingRequest, exchange.scene)
}

func (exchange PairingExchange) replyKey(salt, request []byte) []byte {
	hash := sha256.Sum256(request)
	return hkdf(exchange.secret, salt, labelPairingReply, append(append([]byte(nil), exchange.scene...), hash[:]...))
}

// SealRequest seals a record.
func (exchange PairingExchange) SealRequest(record, salt []byte) []byte {
	return sealPairing(exchange.requestKey(salt), append(exchange.ID(), salt...), record)
}

// OpenRequest returns the record of a request that DecodePairing returned; nil if the tag is wrong.
func (exchange PairingExchange) OpenRequest(request []byte) []byte {
	return openPairing(exchange.requestKey(request[PairingID:pairingHeader]), request, pairingHeader)
}

// SealReply seals a reply record. The salt depends on it: a request that comes again after a refusal gets another key for another text.
func (exchange PairingExchange) SealReply(request, reply []byte) []byte {
	hash := sha256.Sum256(request)
	salt := HMAC(exchange.secret, []byte(labelPairingReplySalt), hash[:], reply)[:pairingSalt]
	return sealPairing(exchange.replyKey(salt, request), salt, reply)
}

// OpenReply returns the reply record; nil if the tag is wrong.
func (exchange PairingExchange) OpenReply(request, reply []byte) []byte {
	return openPairing(exchange.replyKey(reply[:pairingSalt], request), reply, pairingSalt)
}

func sealPairing(key, header, text []byte) []byte {
	aead, _ := chacha20poly1305.New(key)
	return aead.Seal(header[:len(header):len(header)], make([]byte, chacha20poly1305.NonceSize), text, header)
}

func openPairing(key, data []byte, header int) []byte {
	aead, _ := chacha20poly1305.New(key)
	text, err := aead.Open([]byte{}, make([]byte, chacha20poly1305.NonceSize), data[header:], data[:header])
	if err != nil {
		return nil
	}
	return text
}

// DecodePairing returns the bytes of a request or a reply; nil for another text.
func DecodePairing(body []byte) []byte {
	text := bytes.TrimRight(body, "\r\n")
	if len(text) > longestPairingBody {
		return nil
	}
	data := Decode(string(text))
	if len(data) < pairingHeader+chacha20poly1305.Overhead {
		return nil
	}
	return data
}

var pairingURL = regexp.MustCompile(`^(https?)://(?:([A-Za-z0-9.-]+)|\[([A-Fa-f0-9:]+)\])(?::([0-9]+))?(?:[/?][!-"$-\[\]-~]*)?$`)

// IsPairingURL is [P-2].
func IsPairingURL(url string) bool {
	parts := pairingURL.FindStringSubmatch(url)
	if parts == nil || len(url) > longestPairingURL {
		return false
	}
	if port, err := strconv.ParseUint(parts[4], 10, 16); parts[4] != "" && (err != nil || port == 0) {
		return false
	}
	address, err := netip.ParseAddr(parts[2] + parts[3])
	if parts[3] != "" && err != nil {
		return false
	}
	isPrivate := err == nil && !address.Is4In6() && (address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast())
	return parts[1] == "https" || strings.EqualFold(parts[2], "localhost") || isPrivate
}
