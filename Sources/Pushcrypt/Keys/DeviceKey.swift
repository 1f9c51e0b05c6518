/// A device's public key, which a provider seals to: X25519, 32 bytes; as text `pcr1…`, 62 characters.
///
/// Every value has passed the import check: it is canonical and not of small order. (`Docs/Format.md`, Keys as text)
public struct DevicePublicKey: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// The length in bytes.
    public static let length = 32
    /// The prefix of the text of every device's public key.
    package static let textPrefix = "\(Bech32.Kind.devicePublic.prefix)1"

    /// The 32 bytes of the u-coordinate, little-endian (RFC 7748).
    public let bytes: ContiguousArray<UInt8>

    /// Creates a key from 32 bytes.
    ///
    /// - Throws: `malformedKey` for another length; `weakKey` for a value ≥ p, with bit 255 set, or of small order.
    public init(bytes: Span<UInt8>) throws(KeyError) {
        guard bytes.count == Self.length else {
            throw KeyError(.malformedKey, "a device's public key has \(Self.length) bytes, this has \(bytes.count)")
        }
        guard X25519PublicKeyRules.areMet(by: bytes) else {
            throw KeyError(
                .weakKey, "no device generates this public key: everyone could compute the secrets shared with it")
        }
        self.bytes = ContiguousArray(copying: bytes)
    }

    /// Creates a key from bytes that have passed the import check: computed from a scalar, or read from an
    /// authenticated row.
    package init(checked bytes: ContiguousArray<UInt8>) {
        self.bytes = bytes
    }

    /// Parses `pcr1…`; a trailing newline is allowed.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum`, `wrongKind` or `weakKey`.
    public init(text: String) throws(KeyError) {
        let characters = ContiguousArray(text.utf8)
        let key = try Bech32.decode(characters.span, as: .devicePublic)
        self = try key.withSpan { (bytes) throws(KeyError) in try DevicePublicKey(bytes: bytes) }
    }

    /// Parses `pcr1…`; returns nil if it is not valid.
    public init?(_ description: String) {
        guard let key = try? DevicePublicKey(text: description) else { return nil }
        self = key
    }

    /// The first 4 bytes of a hash of the key: a hint, not an identity.
    public var id: KeyID { KeyID(of: bytes.span, type: .x25519) }

    /// The key as `pcr1…`.
    public var description: String { Bech32.string(bytes.span, as: .devicePublic) }
}

/// The import check for X25519 public keys (RFC 7748, section 6.1; `Docs/Format.md`, Keys as text).
///
/// It uses constant tables instead of a trial multiplication, because a provider imports millions of keys.
enum X25519PublicKeyRules {
    /// The canonical u-coordinates of points whose order divides 8, on the curve and on its twist, little-endian.
    private static let smallOrder: [ContiguousArray<UInt8>] = [
        // 0: order 4 together with infinity
        ContiguousArray(repeating: 0, count: 32),
        // 1: order 4
        [1] + ContiguousArray(repeating: 0, count: 31),
        // the two points of order 8
        [
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
            0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
        ],
        [
            0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
            0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
        ],
        // p - 1: on the twist
        [0xec] + ContiguousArray(repeating: 0xff, count: 30) + [0x7f],
    ]

    static func areMet(by key: Span<UInt8>) -> Bool {
        isCanonical(key) && !smallOrder.contains { Sodium.areEqual($0.span, key) }
    }

    /// Whether the value is below p = 2^255 - 19, with bit 255 clear.
    private static func isCanonical(_ key: Span<UInt8>) -> Bool {
        guard key[31] <= 0x7f else { return false }
        guard key[31] == 0x7f, key[0] >= 0xed else { return true }
        for index in 1..<31 where key[index] != 0xff { return true }
        return false
    }
}

/// A device's secret key, which opens messages: an X25519 scalar, 32 bytes; as text `PCR-SECRET-1…`, 70 characters.
///
/// The scalar is in guarded memory, which all references share. It is wiped with the last reference and never printed.
/// A key belongs to one device and never leaves it. (`Docs/Format.md`, Keys as text)
public final class DeviceKey: Sendable {
    /// The public half.
    public let publicKey: DevicePublicKey

    private let scalar: SecretBytes

    /// Generates a key from the system's random source.
    public convenience init() {
        self.init(SecretBytes(randomCount: X25519.keyLength))
    }

    /// Parses the ASCII of `PCR-SECRET-1…`; a trailing newline is allowed.
    ///
    /// The caller wipes the text. It is a span and not a `String`, because a string cannot be wiped.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum` or `wrongKind`.
    public convenience init(text: Span<UInt8>) throws(KeyError) {
        let scalar = try Bech32.decode(text, as: .deviceSecret)
        self.init(scalar.withSpan { SecretBytes(copying: $0) })
    }

    /// Copies the 32 bytes of a scalar, which the caller wipes.
    package convenience init(scalar: Span<UInt8>) throws(KeyError) {
        guard scalar.count == X25519.keyLength else {
            throw KeyError(.malformedKey, "a device's secret key has \(X25519.keyLength) bytes")
        }
        self.init(SecretBytes(copying: scalar))
    }

    init(_ scalar: consuming SecretBytes) {
        // Clamping makes every 32-byte scalar a valid key.
        guard let point = try? scalar.withSpan({ (bytes) throws(SodiumRefusal) in try X25519.publicKey(of: bytes) })
        else {
            preconditionFailure("libsodium refused a scalar of 32 bytes")
        }
        publicKey = DevicePublicKey(checked: point)
        self.scalar = scalar
        Sodium.wipeStack()
    }

    /// Calls `body` with the text of the key, and wipes the text afterwards. The caller protects any copy that `body`
    /// makes.
    public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let text = withScalar { Bech32.encode($0, as: .deviceSecret) }
        return try text.withSpan(body)
    }

    /// Calls `body` with the scalar; its result must not contain a copy.
    package func withScalar<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try scalar.withSpan(body)
    }
}

extension DeviceKey: CustomStringConvertible, CustomReflectable {
    /// The public key; nothing secret is printed.
    public var description: String { "DeviceKey(\(publicKey))" }

    /// The public key only.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}
