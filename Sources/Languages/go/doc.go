// Package pushcrypt seals APNs push notifications so that only the phone reads them.
//
// A provider seals the payload that it sends today, and sends the result instead:
//
//	provider, err := pushcrypt.ParseProviderKey(text)
//	sealer, err := pushcrypt.NewSealer(provider, "com.example.app")
//	push, err := sealer.Seal(payload, device, pushcrypt.WithMessageID("table-17"))
//	// push.URL(), push.Header() and push.Payload are what APNs gets.
//
// The device is what Accept returned when the phone registered. Everything refused is an [*Error], whose [Code] errors.Is finds:
//
//	if errors.Is(err, pushcrypt.PayloadTooLarge) { … }
//
// The package pushcrypttest opens pushes in tests.
//
// The format is described byte by byte in the project's Docs/Format.md, whose rules are cited as [O-4.2]. Public keys are checked with
// math/big, which is not constant-time; those keys are public. Go does not wipe keys from memory.
package pushcrypt

// Version is that of the project, of the command and of this module.
const Version = "1.0.0-beta.1"
