package pushcrypt

import (
	"strings"
	"time"
	"unicode/utf8"

	"example.com/pushcrypt/internal/format"
)

// A PushType is a value of apns-push-type that can be sealed. The system reads the others before any code of the app runs.
type PushType string

// The push types. The zero value is Alert.
const (
	Alert      PushType = "alert"
	Background PushType = "background"
	VoIP       PushType = "voip"
)

// message is what options say.
type message struct {
	title                  string
	sound                  *string
	clear                  []string
	pushType               PushType
	id                     *string
	timeToLive             time.Duration
	at                     time.Time
	attachments            []Reference
	fullBody               *Reference
	person                 *Person
	withdrawals            []string
	isDropped, isExact     bool
	deviceID, collapseName *string
	priority               int
	expiration             *time.Time
}

// An Option of a message, given to Seal, or to NewSealer for all of its messages. A nil Option is none.
type Option func(*message)

// WithTitle is the title that a phone shows if it cannot open the push, at most 4,096 bytes; by default "New message". The relay reads it, and
// it is not signed.
func WithTitle(title string) Option { return func(m *message) { m.title = title } }

// WithSound is the sound file of the app that sounds if a phone cannot open the push; "" for none. By default it is the system's sound, if the
// payload has one.
func WithSound(name string) Option { return func(m *message) { m.sound = &name } }

// WithClear has fields of aps in the clear too: badge, category, thread-id, interruption-level, relevance-score, target-content-id,
// filter-criteria. The opened notification does not depend on them.
func WithClear(fields ...string) Option {
	return func(m *message) { m.clear = append(m.clear, fields...) }
}

// WithPushType says what the push will be sent as, by default Alert.
func WithPushType(pushType PushType) Option { return func(m *message) { m.pushType = pushType } }

// WithMessageID names the message, the same in every retry, so that a phone shows it once. Without it each is new.
func WithMessageID(id string) Option { return func(m *message) { m.id = &id } }

// WithTimeToLive says for how long phones show the message, whole seconds, by default the most, 30 days. Unless it is a call, the end is
// rounded up to ten minutes, because the relay reads apns-expiration.
func WithTimeToLive(duration time.Duration) Option {
	return func(m *message) { m.timeToLive = duration }
}

// WithTime says when the message is sent; by default, and for the zero time, now.
func WithTime(at time.Time) Option { return func(m *message) { m.at = at } }

// WithAttachments adds files, at most 8, already stored. They are part of the encrypted payload, and of its size.
func WithAttachments(references ...Reference) Option {
	return func(m *message) { m.attachments = append(m.attachments, references...) }
}

// WithFullBody adds the whole text, if the payload's own body is only its beginning.
func WithFullBody(reference Reference) Option { return func(m *message) { m.fullBody = &reference } }

// WithPerson says whom the notification is from.
func WithPerson(person Person) Option { return func(m *message) { m.person = &person } }

// WithWithdrawals names earlier messages to this device that it takes off the screen, at most 64.
func WithWithdrawals(ids ...string) Option {
	return func(m *message) { m.withdrawals = append(m.withdrawals, ids...) }
}

// WithDrop says that nothing is to be shown.
func WithDrop() Option { return func(m *message) { m.isDropped = true } }

// WithExactBytes says that the client sends the payload byte for byte, so that its own length counts, not that of the widest JSON.
func WithExactBytes() Option { return func(m *message) { m.isExact = true } }

// WithDeviceID gives your name for the device, 1 to 255 bytes, so that the collapse id stays when the device's key changes.
func WithDeviceID(id string) Option { return func(m *message) { m.deviceID = &id } }

// WithCollapseName has pushes of this name replace each other on a device. Without it, only a retry replaces its first copy. Apple gets a
// keyed hash of it.
func WithCollapseName(name string) Option { return func(m *message) { m.collapseName = &name } }

// WithPriority is 10, 5 or 1; by default 5 for a background push, and 10 for others.
func WithPriority(priority int) Option { return func(m *message) { m.priority = priority } }

// WithExpiration says how long APNs keeps the push, by default to the message's own end; the zero time for one attempt.
func WithExpiration(at time.Time) Option { return func(m *message) { m.expiration = &at } }

// with returns the message that options make of this one.
func (m message) with(options []Option) (*message, error) {
	m.clear, m.attachments = append([]string(nil), m.clear...), append([]Reference(nil), m.attachments...)
	for _, option := range options {
		if option != nil {
			option(&m)
		}
	}
	return &m, m.check()
}

// check refuses what is wrong whatever the payload.
func (m *message) check() error {
	clearTexts, names := []string{m.title}, append([]string(nil), m.withdrawals...)
	if m.sound != nil && *m.sound != "" {
		clearTexts = append(clearTexts, *m.sound)
	}
	for _, text := range clearTexts {
		if strings.TrimSpace(text) == "" || len(text) > format.LongestClearText || !utf8.ValidString(text) {
			return refuse(InvalidPlaceholder, "the title or the sound's name shows nothing, is over 4,096 bytes or not UTF-8")
		}
	}
	for _, field := range m.clear {
		if !contains(format.ClearFields, field) {
			return refuse(InvalidPlaceholder, "a field that cannot be in the clear; see WithClear")
		}
	}
	for _, name := range []*string{m.id, m.deviceID, m.collapseName} {
		if name != nil {
			names = append(names, *name)
		}
	}
	for _, name := range names {
		if name == "" || !utf8.ValidString(name) {
			return refuse(InvalidRequest, "a name of a message, a device or a group of pushes is empty or not UTF-8; leave it out for none")
		}
	}
	switch {
	case m.deviceID != nil && len(*m.deviceID) > format.LongestCollapseDevice:
		return refuse(InvalidRequest, "the device's name has over 255 bytes")
	case len(m.withdrawals) > format.MostWithdrawn:
		return refuse(InvalidRequest, "a message withdraws at most 64 others; send several")
	case m.id != nil && contains(m.withdrawals, *m.id):
		return refuse(InvalidRequest, "the message would withdraw itself; give it another name")
	case !contains([]int{0, 1, 5, 10}, m.priority) || m.priority == 10 && m.pushType == Background:
		return refuse(InvalidRequest, "the priority is 10, 5 or 1, and for a background push not 10")
	case m.expiration != nil && !m.expiration.IsZero() && (m.expiration.Unix() < 0 || m.expiration.Unix() >= format.TimeFieldEnd):
		return refuse(InvalidRequest, "the expiration is before 1970, or was made from milliseconds as if they were seconds")
	}
	return nil
}

func contains[T comparable](all []T, one T) bool {
	for _, other := range all {
		if other == one {
			return true
		}
	}
	return false
}
