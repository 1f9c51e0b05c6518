/// A recovery key's public half, which a device pins beside a sender's key: Ed25519, 32 bytes; as text `pcv1…`, 62
/// characters.
///
/// Its only use is to replace whatever is pinned with a new sender key, after a theft. Every value has passed the
/// import check: it is canonical, on the curve and of prime order. (`Docs/Format.md`, Keys as text)
public struct RecoveryPublicKey: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// The length in bytes.
    public static let length = 32
    /// The maximum number of recovery keys of one sender.
    package static let maximumPerSender = 2

    /// The 32 bytes of the encoded point (RFC 8032).
    public let bytes: ContiguousArray<UInt8>

    /// The first 4 bytes of a hash of the key: a hint, not an identity.
    public let id: KeyID

    /// Creates a key from 32 bytes.
    ///
    /// - Throws: `malformedKey` for another length; `weakKey` for a point that is not canonical, not on the curve, or
    ///   not of prime order.
    public init(bytes: Span<UInt8>) throws(KeyError) {
        guard bytes.count == Self.length else {
            throw KeyError(.malformedKey, "a recovery public key has \(Self.length) bytes, this has \(bytes.count)")
        }
        guard Ed25519.isValidPublicKey(bytes) else {
            throw KeyError(.weakKey, "this public key is weak: signatures under it could be forged")
        }
        self.init(checked: ContiguousArray(copying: bytes))
    }

    /// Creates a key from bytes that have passed the import check: computed from a seed, or read from an authenticated
    /// row.
    package init(checked bytes: ContiguousArray<UInt8>) {
        self.bytes = bytes
        id = KeyID(of: bytes.span, type: .recovery)
    }

    /// Parses `pcv1…`; a trailing newline is allowed.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum`, `wrongKind` or `weakKey`.
    public init(text: String) throws(KeyError) {
        let characters = ContiguousArray(text.utf8)
        let key = try Bech32.decode(characters.span, as: .recoveryPublic)
        self = try key.withSpan { (bytes) throws(KeyError) in try RecoveryPublicKey(bytes: bytes) }
    }

    /// Parses `pcv1…`; returns nil if it is not valid.
    public init?(_ description: String) {
        guard let key = try? RecoveryPublicKey(text: description) else { return nil }
        self = key
    }

    /// The key as `pcv1…`.
    public var description: String { Bech32.string(bytes.span, as: .recoveryPublic) }
}

/// A recovery key's secret half, kept offline, which signs recovery statements: an Ed25519 seed, 32 bytes; as text
/// `PCV-SECRET-1…`, 70 characters.
///
/// The seed is in guarded memory, which all references share. It is wiped with the last reference and never printed.
/// (`Docs/Format.md`, Keys as text)
package final class RecoveryKey: Sendable {
    /// The public half.
    package let publicKey: RecoveryPublicKey

    /// libsodium's secret key: seed || public key.
    private let secret: SecretBytes

    /// Generates a key from the system's random source.
    package convenience init() { self.init(Ephemeral(randomCount: Ed25519.seedLength)) }

    /// Parses the ASCII of `PCV-SECRET-1…`; a trailing newline is allowed.
    ///
    /// The caller wipes the text. It is a span and not a `String`, because a string cannot be wiped.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum` or `wrongKind`.
    package convenience init(text: Span<UInt8>) throws(KeyError) {
        self.init(try Bech32.decode(text, as: .recoverySecret))
    }

    /// Copies the 32 bytes of a seed, which the caller wipes.
    package convenience init(seed: Span<UInt8>) throws(KeyError) {
        guard seed.count == Ed25519.seedLength else {
            throw KeyError(.malformedKey, "a recovery secret key has \(Ed25519.seedLength) bytes")
        }
        self.init(Ephemeral(copying: seed))
    }

    init(_ seed: consuming Ephemeral) {
        var secretKey = Ephemeral(count: Ed25519.secretKeyLength)
        secretKey.withMutableBytes { output in
            seed.withSpan { Ed25519.expand(seed: $0, into: &output) }
        }
        secret = secretKey.withSpan { SecretBytes(copying: $0) }
        publicKey = secret.withSpan { secret in
            RecoveryPublicKey(
                checked: ContiguousArray(copying: secret.extracting(Ed25519.seedLength..<Ed25519.secretKeyLength)))
        }
    }

    /// Calls `body` with the text of the key, and wipes the text afterwards. The caller protects any copy that `body`
    /// makes.
    package func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let text = withSeed { Bech32.encode($0, as: .recoverySecret) }
        return try text.withSpan(body)
    }

    /// Calls `body` with the seed; its result must not contain a copy.
    package func withSeed<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try secret.withSpan { (secret) throws(E) in try body(secret.extracting(0..<Ed25519.seedLength)) }
    }

    /// Signs a message; returns 64 bytes.
    func signature(of message: Span<UInt8>) -> ContiguousArray<UInt8> {
        let signature = secret.withSpan { Ed25519.signature(of: message, secretKey: $0) }
        Sodium.wipeStack()
        return signature
    }
}

extension RecoveryKey: CustomStringConvertible, CustomReflectable {
    /// The public key; nothing secret is printed.
    package var description: String { "RecoveryKey(\(publicKey))" }

    /// The public key only.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}
