/// The name under which a provider keeps a device: what a record may say, and what a store takes.
///
/// (`Docs/Format.md`, D-14)
package enum DeviceID {
    /// The most bytes of UTF-8 that a device id has.
    package static let maximumLength = 255

    /// Whether a device may be called so.
    package static func isAllowed(_ id: String) -> Bool {
        (1...maximumLength).contains(id.utf8.count) && !id.unicodeScalars.contains(where: \.isControl)
            && !isKeyLike(id) && !isBlank(id)
    }

    /// Whether it would pass for a public key.
    package static func isKeyLike(_ id: String) -> Bool { id.utf8.starts(with: DevicePublicKey.textPrefix.utf8) }

    /// Whether it would pass for an empty line.
    package static func isBlank(_ id: String) -> Bool { id.utf8.allSatisfy { $0 == UInt8(ascii: " ") } }
}
