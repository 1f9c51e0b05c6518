package pushcrypt

import (
	"time"

	"example.com/pushcrypt/Sources/Languages/go/internal/core"
	"example.com/pushcrypt/Sources/Languages/go/internal/format"
)

// A Code is a reason for refusing, as programs read it, such as "payload-too-large". It is an error itself, so that errors.Is(err, Expired)
// asks for it. The command's "pushcrypt explain CODE" has its cause and its fix.
type Code string

// Error returns the code.
func (code Code) Error() string { return string(code) }

// Retryable tells whether the same call may succeed later: a file changed while it was read.
func (code Code) Retryable() bool { return retryable[code] }

// An Error says why an input is refused, and what to do. It quotes no key and nothing of a payload, and is for the developer's log: a
// phone's user is shown the fallback, and nothing is sent back.
type Error struct {
	Code Code
	Text string
	// Sequence is the held one, of StaleRecord.
	Sequence uint64
}

// Error returns the code, the text and the page about the code.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Text + " (" + e.URL() + ")" }

// URL is the page about the code: its cause and its fix.
func (e *Error) URL() string { return format.CodePage + string(e.Code) }

// Is tells whether target is the error's code.
func (e *Error) Is(target error) bool { return target == e.Code }

// Retryable tells whether the same call may succeed later.
func (e *Error) Retryable() bool { return e.Code.Retryable() }

func refuse(code Code, text string) *Error { return &Error{Code: code, Text: text} }

// timeOrNow returns a caller's time in milliseconds, or the system's for the zero time. (invalid-time, implausible-time)
func timeOrNow(at time.Time) (uint64, error) {
	now, code, advice := core.TimeOrNow(at)
	if code != "" {
		return 0, refuse(Code(code), advice)
	}
	return now, nil
}
