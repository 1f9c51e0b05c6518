/// A provider's public key: what a device trusts. Ed25519, 32 bytes; as text `pcs1…`, 62 characters.
///
/// Every value of this type has passed the import check: canonical, on the curve, of prime order.
/// (`Docs/Format.md`, Keys as text)
public struct SenderPublicKey: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    /// The length in bytes.
    public static let length = 32
    /// The length of a signature that it verifies, in bytes.
    package static let signatureLength = Ed25519.signatureLength

    /// The 32 bytes of the encoded point (RFC 8032).
    public let bytes: ContiguousArray<UInt8>

    /// The first 4 bytes of a hash of the key: a hint, not an identity.
    ///
    /// Kept, because every message asks each trusted key for it.
    public let id: KeyID

    /// Takes 32 bytes; throws `malformedKey` for another length, `weakKey` for a point that is not canonical, not on the
    /// curve, or not of prime order.
    public init(bytes: Span<UInt8>) throws(KeyError) {
        guard bytes.count == Self.length else {
            throw KeyError(.malformedKey, "a sender's public key has \(Self.length) bytes, this has \(bytes.count)")
        }
        guard Ed25519.isValidPublicKey(bytes) else {
            throw KeyError(.weakKey, "this public key is not one a sender makes: signatures under it could be forged")
        }
        self.init(checked: ContiguousArray(copying: bytes))
    }

    /// Takes what passed the import check before: computed from a seed, or read from an authenticated row.
    package init(checked bytes: ContiguousArray<UInt8>) {
        self.bytes = bytes
        id = KeyID(of: bytes.span, type: .ed25519)
    }

    /// Reads `pcs1…`, one trailing newline allowed; throws `malformedKey`, `wrongChecksum`, `wrongKind` or `weakKey`.
    public init(text: String) throws(KeyError) {
        let characters = ContiguousArray(text.utf8)
        let key = try Bech32.decode(characters.span, as: .senderPublic)
        self = try key.withSpan { (bytes) throws(KeyError) in try SenderPublicKey(bytes: bytes) }
    }

    /// Reads `pcs1…`, or gives nil.
    public init?(_ description: String) {
        guard let key = try? SenderPublicKey(text: description) else { return nil }
        self = key
    }

    /// The key as `pcs1…`.
    public var description: String { Bech32.string(bytes.span, as: .senderPublic) }
}

/// A provider's secret key: what signs. An Ed25519 seed of 32 bytes; as text `PCS-SECRET-1…`, 70 characters.
///
/// The seed lies in guarded memory, is wiped when the last reference goes, and is never printed. A reference shares the
/// one copy, and any number of threads may seal with it. (`Docs/Format.md`, Keys as text)
public final class SenderKey: Sendable {
    /// The public half.
    public let publicKey: SenderPublicKey

    /// The first 4 bytes of a hash of the public key.
    public var id: KeyID { publicKey.id }

    /// libsodium's secret key (seed || public key), then HMAC's state under the hedge key.
    private let secret: SecretBytes

    private static let hedgeRange = Ed25519.secretKeyLength..<Ed25519.secretKeyLength + HMACSHA256.stateLength

    /// Makes a new key from the system's random source.
    public convenience init() {
        let seed = Ephemeral(randomCount: Ed25519.seedLength)
        self.init(seed)
    }

    /// Reads the ASCII of `PCS-SECRET-1…`, one trailing newline allowed; the caller wipes the text.
    ///
    /// Bytes and not a `String`, because a string cannot be wiped. Throws `malformedKey`, `wrongChecksum` or `wrongKind`.
    public convenience init(text: Span<UInt8>) throws(KeyError) {
        self.init(try Bech32.decode(text, as: .senderSecret))
    }

    /// Takes a copy of the 32 bytes of a seed, which the caller wipes.
    package convenience init(seed: Span<UInt8>) throws(KeyError) {
        guard seed.count == Ed25519.seedLength else {
            throw KeyError(.malformedKey, "a sender's secret key has \(Ed25519.seedLength) bytes")
        }
        self.init(Ephemeral(copying: seed))
    }

    init(_ seed: consuming Ephemeral) {
        var secretKey = Ephemeral(count: Ed25519.secretKeyLength)
        secretKey.withMutableSpan { output in
            seed.withSpan { Ed25519.expand(seed: $0, into: &output) }
        }
        let hedgeKey = seed.withSpan { seed in
            let hmac = HMACSHA256(key: seed)
            hmac.update("pushcrypt/1 hedge\0")
            return hmac.finish()
        }
        let hedge = hedgeKey.withSpan { HMACSHA256(key: $0) }
        secret = SecretBytes(count: Self.hedgeRange.upperBound) { output in
            secretKey.withSpan { output.write($0, at: 0) }
            hedge.write(stateTo: &output, at: Self.hedgeRange.lowerBound)
        }
        publicKey = secret.withSpan { secret in
            SenderPublicKey(
                checked: ContiguousArray(copying: secret.extracting(Ed25519.seedLength..<Ed25519.secretKeyLength)))
        }
    }

    /// Gives the key's text to `body` and wipes it afterwards; what `body` keeps is the caller's to guard.
    public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let text = withSeed { Bech32.encode($0, as: .senderSecret) }
        return try text.withSpan(body)
    }

    /// Reads the seed; nothing that `body` returns may hold a copy of it.
    package func withSeed<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try secret.withSpan { (secret) throws(E) in try body(secret.extracting(0..<Ed25519.seedLength)) }
    }

    /// Starts a hedged value: HMAC under the hedge key. (`Docs/Format.md`, Randomness)
    func hedged() -> HMACSHA256 {
        secret.withSpan { HMACSHA256(state: $0.extracting(Self.hedgeRange)) }
    }

    /// The 64 bytes of a signature.
    func signature(of message: Span<UInt8>) -> ContiguousArray<UInt8> {
        var signature = ContiguousArray<UInt8>(repeating: 0, count: Ed25519.signatureLength)
        var output = signature.mutableSpan
        secret.withSpan {
            Ed25519.sign(message, secretKey: $0.extracting(0..<Ed25519.secretKeyLength), into: &output)
        }
        Sodium.wipeStack()
        return signature
    }
}

extension SenderKey: CustomStringConvertible, CustomReflectable {
    /// The public key: a secret key prints nothing else.
    public var description: String { "SenderKey(\(publicKey))" }

    /// The public key, and nothing below it.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}
