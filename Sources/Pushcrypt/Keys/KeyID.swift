/// A short name of a public key: 4 bytes, printed as 8 hexadecimal digits.
///
/// It is a lookup hint and does not identify a key: among a million devices, about a hundred pairs share an id. Never
/// compare ids instead of keys. (`Docs/Format.md`, Key ids)
public struct KeyID: Hashable, Sendable, LosslessStringConvertible {
    static let length = 4

    /// The kind of key that an id belongs to.
    enum KeyType: UInt8 {
        /// A device's X25519 key.
        case x25519 = 0x01
        /// A provider's key, Ed25519.
        case provider = 0x02
        /// A device's X-Wing key.
        case xwing = 0x03
        /// A signing key, Ed25519.
        case signing = 0x04
    }

    /// The four bytes as a big-endian number.
    package let value: UInt32

    /// Creates an id from the four bytes as a big-endian number.
    package init(value: UInt32) {
        self.value = value
    }

    /// Parses eight hexadecimal digits; returns nil for anything else.
    public init?(_ description: String) {
        guard description.utf8.count == 2 * Self.length, description.allSatisfy(\.isHexDigit),
            let value = UInt32(description, radix: 16)
        else { return nil }
        self.init(value: value)
    }

    init(of publicKey: Span<UInt8>, type: KeyType) {
        let hash = SHA256()
        hash.update("pushcrypt/1 key id\0")
        hash.update(type.rawValue)
        hash.update(publicKey)
        let digest = hash.finish()
        self.init(value: digest.span.bigEndian(at: 0))
    }

    /// Eight lower-case hexadecimal digits.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
