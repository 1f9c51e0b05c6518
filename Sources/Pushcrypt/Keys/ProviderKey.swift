/// A provider's public key, which a device pins: Ed25519, 32 bytes; as text `pcs1…`, 62 characters.
///
/// Every value has passed the import check: it is canonical and not of small order. (`Docs/Format.md`, Keys as text)
public struct ProviderPublicKey: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// The length in bytes.
    package static let length = 32
    /// The length of a signature in bytes.
    package static let signatureLength = Ed25519.signatureLength

    /// The 32 bytes of the encoded point (RFC 8032).
    public let bytes: ContiguousArray<UInt8>

    /// The first 4 bytes of a hash of the key: a hint, not an identity.
    ///
    /// Stored, because lists show it for every key.
    public let id: KeyID

    /// Creates a key from 32 bytes.
    ///
    /// - Throws: `malformedKey` for another length; `weakKey` for a point that is not canonical, or of small order.
    public init(bytes: Span<UInt8>) throws(KeyError) {
        guard bytes.count == Self.length else {
            throw KeyError(.malformedKey, "a provider's public key has \(Self.length) bytes, this has \(bytes.count)")
        }
        guard Ed25519.isValidPublicKey(bytes) else {
            throw KeyError(.weakKey, "no provider generates this public key: signatures under it could be forged")
        }
        self.init(checked: ContiguousArray(copying: bytes))
    }

    /// Creates a key from bytes that have passed the import check: computed from a seed, or read from an authenticated
    /// row.
    package init(checked bytes: ContiguousArray<UInt8>) {
        self.bytes = bytes
        id = KeyID(of: bytes.span, type: .provider)
    }

    /// Parses `pcs1…`; a trailing newline is allowed.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum`, `wrongKind` or `weakKey`.
    public init(text: String) throws(KeyError) {
        let characters = ContiguousArray(text.utf8)
        let key = try Bech32.decode(characters.span, as: .providerPublic)
        self = try key.withSpan { (bytes) throws(KeyError) in try ProviderPublicKey(bytes: bytes) }
    }

    /// Parses `pcs1…`; returns nil if it is not valid.
    public init?(_ description: String) {
        guard let key = try? ProviderPublicKey(text: description) else { return nil }
        self = key
    }

    /// The key as `pcs1…`.
    public var description: String { Bech32.string(bytes.span, as: .providerPublic) }
}

/// A provider's secret key: an Ed25519 seed, 32 bytes; as text `PCS-SECRET-1…`, 70 characters.
///
/// It signs certificates for signing keys and, as long as there is none, messages. The seed is in guarded memory, which
/// all references share. It is wiped with the last reference and never printed. Any number of threads may use a key at the
/// same time. (`Docs/Format.md`, Keys as text)
public final class ProviderKey: Sendable {
    /// The public half.
    public let publicKey: ProviderPublicKey

    let secret: Ed25519Secret

    /// The first 4 bytes of a hash of the public key: a hint, not an identity.
    public var id: KeyID { publicKey.id }

    /// Generates a key from the system's random source.
    public convenience init() { self.init(Ephemeral(randomCount: Ed25519.seedLength)) }

    /// Parses the ASCII of `PCS-SECRET-1…`; a trailing newline is allowed.
    ///
    /// The caller wipes the text. It is a span and not a `String`, because a string cannot be wiped.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum` or `wrongKind`.
    public convenience init(text: Span<UInt8>) throws(KeyError) {
        self.init(try Bech32.decode(text, as: .providerSecret))
    }

    /// Copies the 32 bytes of a seed, which the caller wipes.
    package convenience init(seed: Span<UInt8>) throws(KeyError) {
        guard seed.count == Ed25519.seedLength else {
            throw KeyError(.malformedKey, "a provider's secret key has \(Ed25519.seedLength) bytes")
        }
        self.init(Ephemeral(copying: seed))
    }

    init(_ seed: consuming Ephemeral) {
        secret = Ed25519Secret(seed)
        publicKey = ProviderPublicKey(checked: secret.publicKey)
    }

    /// Calls `body` with the text of the key, and wipes the text afterwards. The caller protects any copy that `body`
    /// makes.
    public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let text = withSeed { Bech32.encode($0, as: .providerSecret) }
        return try text.withSpan(body)
    }

    /// Calls `body` with the seed; its result must not contain a copy.
    package func withSeed<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try secret.withSeed(body)
    }

    /// Signs a message, which the caller has found to be one that this key may sign; returns 64 bytes.
    package func signature(of message: Span<UInt8>) -> ContiguousArray<UInt8> { secret.signature(of: message) }
}

extension ProviderKey: CustomStringConvertible, CustomReflectable {
    /// The public key; nothing secret is printed.
    public var description: String { "ProviderKey(\(publicKey))" }

    /// The public key only.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}
