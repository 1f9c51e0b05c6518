// Package pushcrypttest opens what package pushcrypt seals, as a phone would: for tests, as net/http/httptest is.
//
// It is not part of the stable surface, and not for phones in production: it has no replay guard, no key store and no notifications.
package pushcrypttest

import "example.com/pushcrypt"

func refuse(code pushcrypt.Code, text string) error { return &pushcrypt.Error{Code: code, Text: text} }
