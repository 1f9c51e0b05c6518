package pushcrypt

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// A PushRequest is a request to APNs, but for the device token and the provider's authentication. The relay reads all of it.
type PushRequest struct {
	Topic    string
	PushType PushType
	Priority int
	// Expiration is the zero time for one attempt.
	Expiration time.Time
	CollapseID string
	Payload    []byte
}

// Header returns the headers of the HTTP/2 request.
func (request *PushRequest) Header() http.Header {
	expiration := int64(0)
	if !request.Expiration.IsZero() {
		expiration = request.Expiration.Unix()
	}
	header := http.Header{}
	header.Set("apns-topic", request.Topic)
	header.Set("apns-push-type", string(request.PushType))
	header.Set("apns-priority", strconv.Itoa(request.Priority))
	header.Set("apns-expiration", strconv.FormatInt(expiration, 10))
	header.Set("apns-collapse-id", request.CollapseID)
	return header
}

// requesting is what options say of one request.
type requesting struct {
	deviceName, collapseName *string
	priority                 int
	expiration               time.Time
	isOnce                   bool
}

// A RequestOption of one request.
type RequestOption func(*requesting)

// ForDevice gives your name for the device, 1 to 255 bytes, so that the collapse id stays when the device's key changes.
func ForDevice(name string) RequestOption { return func(r *requesting) { r.deviceName = &name } }

// WithCollapseName has pushes of this name replace each other on a device. Without it, only a retry replaces its first copy. Apple gets a
// keyed hash of it.
func WithCollapseName(name string) RequestOption {
	return func(r *requesting) { r.collapseName = &name }
}

// WithPriority is 10, 5 or 1; by default 5 for a background push, and 10 for others.
func WithPriority(priority int) RequestOption { return func(r *requesting) { r.priority = priority } }

// WithExpiration says how long APNs keeps the push; by default to the message's own end.
func WithExpiration(at time.Time) RequestOption { return func(r *requesting) { r.expiration = at } }

// Once has APNs try once.
func Once() RequestOption { return func(r *requesting) { r.isOnce = true } }

// Request returns the request for a push that this sealer sealed.
func (sealer *Sealer) Request(push *SealedPush, options ...RequestOption) (*PushRequest, error) {
	asked := requesting{priority: 10, expiration: push.ExpiresAt}
	if push.PushType == Background {
		asked.priority = 5
	}
	for _, option := range options {
		option(&asked)
	}
	switch {
	case asked.priority != 10 && asked.priority != 5 && asked.priority != 1 || asked.priority == 10 && push.PushType == Background:
		return nil, refuse(InvalidRequest, "the priority is 10, 5 or 1, and for a background push not 10")
	case asked.expiration.Unix() < 0 || asked.expiration.Unix() >= 100_000_000_000 && !asked.expiration.Equal(push.ExpiresAt):
		return nil, refuse(InvalidRequest, "the expiration is before 1970, or was made from milliseconds as if they were seconds")
	}
	if asked.isOnce {
		asked.expiration = time.Time{}
	}
	collapseID, err := sealer.collapseID(push, &asked)
	if err != nil {
		return nil, err
	}
	topic := sealer.topic
	if push.PushType == VoIP {
		topic += ".voip"
	}
	return &PushRequest{topic, push.PushType, asked.priority, asked.expiration, collapseID, push.Payload}, nil
}

// collapseID returns a keyed hash of the device, and of the message or the name of a group of pushes.
func (sealer *Sealer) collapseID(push *SealedPush, asked *requesting) (string, error) {
	for _, name := range []*string{asked.deviceName, asked.collapseName} {
		if name != nil && (*name == "" || !utf8.ValidString(*name)) {
			return "", refuse(InvalidRequest, "the device's or the collapse name is empty or not UTF-8; leave it out for none")
		}
	}
	device := append([]byte{0x02}, push.Recipient.bytes[:]...)
	if asked.deviceName != nil {
		if len(*asked.deviceName) > 255 {
			return "", refuse(InvalidRequest, "the device's name has over 255 bytes")
		}
		device = appendLP16([]byte{0x01}, *asked.deviceName)
	}
	pushes := append([]byte{0x02}, push.MessageID[:]...)
	if asked.collapseName != nil {
		pushes = append([]byte{0x01}, *asked.collapseName...)
	}
	sum := sealer.signing.hedge.sum("collapse", appendLP16(nil, sealer.topic), device, pushes)
	return base64.RawURLEncoding.EncodeToString(sum[:24]), nil
}
