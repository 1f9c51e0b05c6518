// Package pushcrypt seals APNs push notifications so that only the phone reads them.
//
// A provider seals the payload that it sends today, and sends the result instead:
//
//	provider, err := pushcrypt.ParseProviderKey(text)
//	device, err := pushcrypt.ParseDevicePublicKey(registered)
//	sealer, err := pushcrypt.NewSealer(provider, "com.example.app", pushcrypt.Placeholder{})
//	push, err := sealer.Seal(payload, device, pushcrypt.WithName("table-17"))
//	request, err := sealer.Request(push) // its headers and its payload are what APNs gets
//
// Everything refused is an [*Error], whose [Code] errors.Is finds:
//
//	if errors.Is(err, pushcrypt.PayloadTooLarge) { … }
//
// The package filter keeps the command's "pushcrypt seal --batch" as a child process, for thousands a second.
//
// The format is described byte by byte in the project's Docs/Format.md, whose rules are cited as [O-4.2].
package pushcrypt

// Version is that of the project, of the command and of this module.
const Version = "1.0.0-beta.1"
