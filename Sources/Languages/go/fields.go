package pushcrypt

import (
	"errors"
	"strconv"
	"time"

	"example.com/pushcrypt/internal/format"
	"example.com/pushcrypt/internal/jsontext"
	"example.com/pushcrypt/internal/wire"
)

// A fieldReader reads the members of a record, and keeps the first broken rule. A member that is null counts as absent [D-6].
type fieldReader struct {
	members *jsontext.Value
	code    Code
	err     error
}

func newFields(data []byte, code Code) *fieldReader {
	members, err := jsontext.ParseObject(data)
	if err != nil {
		err = refuse(code, err.Error())
	}
	return &fieldReader{members, code, err}
}

// unmarshal is the UnmarshalJSON of a type that has a function to parse it.
func unmarshal[T any](into *T, data []byte, parse func([]byte) (*T, error)) error {
	read, err := parse(data)
	if err == nil {
		*into = *read
	}
	return err
}

func (fields *fieldReader) require(condition bool, what string) {
	if !condition && fields.err == nil {
		fields.err = refuse(fields.code, what+" is missing or breaks a rule; see Docs/FormatRecords.md, and copy the whole text")
	}
}

func (fields *fieldReader) has(name string) bool { return fields.members.Present(name) != nil }

// text returns a string; "" if it is absent.
func (fields *fieldReader) text(name string) string {
	value := fields.members.Present(name)
	if value == nil {
		return ""
	}
	fields.require(value.Is(jsontext.String), name)
	return value.Text
}

// checked returns a string that passes a rule; "" if it is absent.
func (fields *fieldReader) checked(name string, rule func(string) bool) string {
	text := fields.text(name)
	fields.require(!fields.has(name) || rule(text), name)
	return text
}

func (fields *fieldReader) number(name string, absent uint64) uint64 {
	value := fields.members.Present(name)
	if value == nil {
		return absent
	}
	number, ok := value.Integer(format.LargestTime)
	fields.require(ok, name)
	return number
}

func (fields *fieldReader) version() {
	fields.require(fields.number("version", 0) == 1, "version")
}

func (fields *fieldReader) topic() string { return fields.checked("topic", wire.IsTopic) }

func (fields *fieldReader) created() time.Time {
	if !fields.has("created") {
		return time.Time{}
	}
	return wire.Time(fields.number("created", 0))
}

// suite reads [D-3].
func (fields *fieldReader) suite(own int) {
	suite := fields.members.Present("suite")
	fields.require(suite == nil || suite.Is(jsontext.Number) && suite.Text == strconv.Itoa(own), "suite")
}

// suites reads [D-9]; own is the suite of a record's key, 0 in a reply.
func (fields *fieldReader) suites(own int) []int {
	value := fields.members.Present("suites")
	if value == nil && own == 0 {
		return []int{1}
	} else if value == nil {
		return []int{own}
	}
	fields.require(value.Is(jsontext.Array) && 1 <= len(value.Elements) && len(value.Elements) <= format.MostSuites, "suites")
	suites, last := []int(nil), 0
	for _, element := range value.Elements {
		suite, ok := element.Integer(255)
		fields.require(ok && int(suite) > last, "suites")
		last = int(suite)
		suites = append(suites, last)
	}
	fields.require(own == 0 || contains(suites, own), "suites")
	return suites
}

// certificate reads a certificate. One that breaks [T-1] counts as absent [D-31]; its code comes with it.
func (fields *fieldReader) certificate() (Certificate, Code) {
	text := fields.text("certificate")
	if !fields.has("certificate") {
		return Certificate{}, ""
	}
	certificate, err := ParseCertificate(text)
	var refused *Error
	if errors.As(err, &refused) {
		return Certificate{}, refused.Code
	}
	return certificate, ""
}

// needsCertificate reads a certificate that is right, or absent.
func (fields *fieldReader) needsCertificate(name string) Certificate {
	text := fields.text(name)
	if fields.err != nil || !fields.has(name) {
		return Certificate{}
	}
	certificate, err := ParseCertificate(text)
	fields.err = err
	return certificate
}

// deviceKey and providerKey read the text of a key, after everything else was found right; absent is the zero value.
func (fields *fieldReader) deviceKey(name string) (key DevicePublicKey) {
	if fields.err == nil && fields.has(name) {
		key, fields.err = ParseDevicePublicKey(fields.text(name))
	}
	return key
}

func (fields *fieldReader) providerKey(name string) (key ProviderPublicKey) {
	if fields.err == nil && fields.has(name) {
		key, fields.err = ParseProviderPublicKey(fields.text(name))
	}
	return key
}
