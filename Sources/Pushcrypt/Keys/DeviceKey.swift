/// A device's public key, which a provider seals to: X25519, 32 bytes, as text `pcr1…`, 62 characters; or X-Wing, 1,216
/// bytes, as text `pcrx1…`, 1,957 characters.
///
/// Every value has passed the import check: it is canonical and not of small order. A key of either suite can be read and
/// stored even if ``CipherSuite/isSupported`` is false for it. (`Docs/Format.md`, Keys as text)
public struct DevicePublicKey: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// The prefixes of the texts of devices' public keys.
    package static let textPrefixes = [Bech32.Kind.devicePublic, .postQuantumPublic].map { "\($0.prefix)1" }

    /// Returns the suite that the beginning of a key's text names.
    static func suite(ofText text: String) -> CipherSuite {
        text.utf8.starts(with: textPrefixes[1].utf8) ? .xwing : .x25519
    }

    /// Whether a text begins like a device's public key.
    package static func isBeginning(of text: String) -> Bool {
        textPrefixes.contains { text.utf8.starts(with: $0.utf8) }
    }

    /// The 32 bytes of the u-coordinate, little-endian (RFC 7748), in suite 2 after 1,184 bytes of ML-KEM-768's key
    /// (FIPS 203).
    public let bytes: ContiguousArray<UInt8>

    /// The suite that the key belongs to.
    public var suite: CipherSuite { bytes.count == X25519.keyLength ? .x25519 : .xwing }

    /// Creates a key from 32 or 1,216 bytes.
    ///
    /// - Throws: `malformedKey` for another length; `weakKey` for a u-coordinate ≥ p, with bit 255 set, or of small order,
    ///   and for a coefficient of ML-KEM's above 3328.
    public init(bytes: Span<UInt8>) throws(KeyError) {
        guard let suite = CipherSuite.allCases.first(where: { $0.publicKeyLength == bytes.count }) else {
            throw KeyError(
                .malformedKey,
                "a device's public key has \(CipherSuite.x25519.publicKeyLength) or \(CipherSuite.xwing.publicKeyLength) bytes, this has \(bytes.count)"
            )
        }
        guard suite == .x25519 ? X25519PublicKeyRules.areMet(by: bytes) : XWingPublicKeyRules.areMet(by: bytes) else {
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

    /// Parses `pcr1…` or `pcrx1…`; a trailing newline is allowed.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum`, `wrongKind` or `weakKey`.
    public init(text: String) throws(KeyError) {
        let characters = ContiguousArray(text.utf8)
        let kind = Bech32.kind(of: characters.span, .devicePublic, or: .postQuantumPublic)
        let key = try Bech32.decode(characters.span, as: kind)
        self = try key.withSpan { (bytes) throws(KeyError) in try DevicePublicKey(bytes: bytes) }
    }

    /// Parses `pcr1…` or `pcrx1…`; returns nil if it is not valid.
    public init?(_ description: String) {
        guard let key = try? DevicePublicKey(text: description) else { return nil }
        self = key
    }

    /// The first 4 bytes of a hash of the key: a hint, not an identity.
    public var id: KeyID { KeyID(of: bytes.span, type: suite == .x25519 ? .x25519 : .xwing) }

    /// The key as `pcr1…` or `pcrx1…`.
    public var description: String {
        Bech32.string(bytes.span, as: suite == .x25519 ? .devicePublic : .postQuantumPublic)
    }

    /// The 32 bytes that signatures and hedged values cover: the key, or its hash in suite 2.
    var transcript: ContiguousArray<UInt8> { suite == .x25519 ? bytes : SHA256.digest(bytes.span) }
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

/// The import check for X-Wing public keys: ML-KEM's of FIPS 203, section 7.2, which libsodium does not make, and that for
/// X25519.
enum XWingPublicKeyRules {
    /// ML-KEM's q.
    private static let modulus: UInt16 = 3329

    static func areMet(by key: Span<UInt8>) -> Bool {
        for index in stride(from: 0, to: XWing.coefficientsLength, by: 3) {
            // Two coefficients of 12 bits, the lower bits first.
            let middle = UInt16(key[index + 1])
            let first = UInt16(key[index]) | (middle & 0x0f) << 8
            let second = middle >> 4 | UInt16(key[index + 2]) << 4
            guard first < modulus, second < modulus else { return false }
        }
        return X25519PublicKeyRules.areMet(by: key.extracting(XWing.mlkemPublicKeyLength..<key.count))
    }
}

/// A device's secret key, which opens messages: an X25519 scalar, 32 bytes, as text `PCR-SECRET-1…`, 70 characters; or an
/// X-Wing seed, 32 bytes, as text `PCRX-SECRET-1…`, 71 characters.
///
/// The secret is in guarded memory, which all references share. It is wiped with the last reference and never printed.
/// A key belongs to one device and never leaves it. (`Docs/Format.md`, Keys as text)
public final class DeviceKey: Sendable {
    /// The public half.
    public let publicKey: DevicePublicKey

    /// The scalar or the seed.
    private let secret: SecretBytes

    /// The length of the secret of either suite.
    static let secretLength = 32

    /// Generates a key of suite 1 from the system's random source.
    public convenience init() {
        self.init(SecretBytes(randomCount: Self.secretLength))
    }

    /// Generates a key of a suite from the system's random source.
    ///
    /// - Throws: `unsupportedSuite` if this build cannot compute with it.
    public convenience init(_ suite: CipherSuite) throws(KeyError) {
        try self.init(SecretBytes(randomCount: Self.secretLength), suite)
    }

    /// Parses the ASCII of `PCR-SECRET-1…` or `PCRX-SECRET-1…`; a trailing newline is allowed.
    ///
    /// The caller wipes the text. It is a span and not a `String`, because a string cannot be wiped.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum`, `wrongKind` or `unsupportedSuite`.
    public convenience init(text: Span<UInt8>) throws(KeyError) {
        let kind = Bech32.kind(of: text, .deviceSecret, or: .postQuantumSecret)
        let secret = try Bech32.decode(text, as: kind)
        try self.init(
            secret.withSpan { SecretBytes(copying: $0) }, kind == .deviceSecret ? .x25519 : .xwing)
    }

    /// Copies the 32 bytes of a scalar or seed, which the caller wipes.
    package convenience init(scalar: Span<UInt8>, _ suite: CipherSuite = .x25519) throws(KeyError) {
        guard scalar.count == Self.secretLength else {
            throw KeyError(.malformedKey, "a device's secret key has \(Self.secretLength) bytes")
        }
        try self.init(SecretBytes(copying: scalar), suite)
    }

    init(_ secret: consuming SecretBytes, _ suite: CipherSuite) throws(KeyError) {
        guard suite.isSupported else { throw KeyError(.unsupportedSuite, CipherSuite.requirement) }
        let point = try? secret.withSpan { (bytes) throws(SodiumRefusal) in
            try suite == .x25519 ? X25519.publicKey(of: bytes) : XWing.publicKey(of: bytes)
        }
        guard let point else { preconditionFailure("libsodium refused a secret of 32 bytes") }
        publicKey = DevicePublicKey(checked: point)
        self.secret = secret
        Sodium.wipeStack()
    }

    init(_ scalar: consuming SecretBytes) {
        // Clamping makes every 32-byte scalar a valid key.
        guard let point = try? scalar.withSpan({ (bytes) throws(SodiumRefusal) in try X25519.publicKey(of: bytes) })
        else {
            preconditionFailure("libsodium refused a scalar of 32 bytes")
        }
        publicKey = DevicePublicKey(checked: point)
        secret = scalar
        Sodium.wipeStack()
    }

    /// Calls `body` with the text of the key, and wipes the text afterwards. The caller protects any copy that `body`
    /// makes.
    public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let kind: Bech32.Kind = publicKey.suite == .x25519 ? .deviceSecret : .postQuantumSecret
        let text = withScalar { Bech32.encode($0, as: kind) }
        return try text.withSpan(body)
    }

    /// Calls `body` with the scalar or seed; its result must not contain a copy.
    package func withScalar<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try secret.withSpan(body)
    }
}

extension DeviceKey: CustomStringConvertible, CustomReflectable {
    /// The public key; nothing secret is printed.
    public var description: String { "DeviceKey(\(publicKey))" }

    /// The public key only.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}
