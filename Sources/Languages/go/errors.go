package pushcrypt

// A Code is a reason for refusing. It is an error itself, so that errors.Is(err, Expired) asks for it. The command's
// "pushcrypt explain CODE" has its cause and its fix.
type Code string

// Error returns the code as programs read it, such as "payload-too-large".
func (code Code) Error() string { return string(code) }

// Codes of opening a push.
const (
	MalformedNotification Code = "malformed-notification"
	NotEncrypted          Code = "not-encrypted"
	MalformedEnvelope     Code = "malformed-envelope"
	UnsupportedSuite      Code = "unsupported-suite"
	UnknownRecipientKey   Code = "unknown-recipient-key"
	AuthenticationFailed  Code = "authentication-failed"
	UnsupportedMessage    Code = "unsupported-message"
	WrongPushClass        Code = "wrong-push-class"
	Expired               Code = "expired"
	NotYetValid           Code = "not-yet-valid"
	MalformedPayload      Code = "malformed-payload" // also of sealing
)

// Codes of sealing a payload.
const (
	MissingAPS          Code = "missing-aps"
	InvalidField        Code = "invalid-field"
	NothingToShow       Code = "nothing-to-show"
	ReservedKey         Code = "reserved-key"
	TooManyAttachments  Code = "too-many-attachments"
	PayloadTooLarge     Code = "payload-too-large"
	PushTooLarge        Code = "push-too-large"
	PushTypeNotSealable Code = "push-type-not-sealable"
	InvalidPlaceholder  Code = "invalid-placeholder"
	InvalidTime         Code = "invalid-time"
	InvalidRequest      Code = "invalid-request"
	WrongTopic          Code = "wrong-topic"
	UnusableKey         Code = "unusable-key"
	SigningFailed       Code = "signing-failed"
	WrongSignature      Code = "wrong-signature"
)

// Codes of keys, records and registration.
const (
	MalformedKey       Code = "malformed-key"
	WrongChecksum      Code = "wrong-checksum"
	WrongKindOfKey     Code = "wrong-kind-of-key"
	WeakKey            Code = "weak-key"
	MalformedRecord    Code = "malformed-record"
	UserMismatch       Code = "user-mismatch"
	GenerationRollback Code = "generation-rollback"
	GenerationTooHigh  Code = "generation-too-high"
	SuiteDowngrade     Code = "suite-downgrade"
	TopicMismatch      Code = "topic-mismatch"
	KeyTaken           Code = "key-taken"
)

// Codes of certificates and trust.
const (
	MalformedCertificate    Code = "malformed-certificate"
	BadCertificateSignature Code = "bad-certificate-signature"
	CertificateConflict     Code = "certificate-conflict"
	WrongCertificate        Code = "wrong-certificate"
	TooManyPins             Code = "too-many-pins"
	ImplausibleEpoch        Code = "implausible-epoch"
)

// Codes of files.
const (
	MalformedReference Code = "malformed-reference"
	NotASealedFile     Code = "not-a-sealed-file"
	WrongSize          Code = "wrong-size"
	WrongHash          Code = "wrong-hash"
	MalformedFile      Code = "malformed-file"
	ChangedFile        Code = "changed-file"
	BodyTooLong        Code = "body-too-long"
)

// An Error says why an input is refused, and what to do. It quotes no key and nothing of a payload, and is for the
// developer's log: a phone's user is shown the fallback, and nothing is sent back.
type Error struct {
	Code Code
	Text string
	// Err is the error of a signer, or of a filter's command.
	Err error
}

// Error returns the code and the text.
func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Text
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is tells whether target is the error's code.
func (e *Error) Is(target error) bool { return target == e.Code }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func refuse(code Code, text string) *Error { return &Error{Code: code, Text: text} }
