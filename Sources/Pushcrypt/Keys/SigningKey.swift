/// The public half of a signing key: Ed25519, 32 bytes. It has no text form: only certificates contain it.
///
/// Every value has passed the import check: it is canonical and not of small order. (`Docs/Format.md`, Keys as text)
package struct SigningPublicKey: Hashable, Sendable {
    /// The length of a key in bytes.
    package static let length = Ed25519.publicKeyLength

    /// The 32 bytes of the encoded point (RFC 8032).
    package let bytes: ContiguousArray<UInt8>

    /// Creates a key from 32 bytes.
    ///
    /// - Throws: `malformedKey` for another length; `weakKey` for a point that is not canonical, or of small order.
    package init(bytes: Span<UInt8>) throws(KeyError) {
        guard bytes.count == Ed25519.publicKeyLength else {
            throw KeyError(
                .malformedKey,
                "a signing key's public half has \(Ed25519.publicKeyLength) bytes, this has \(bytes.count)")
        }
        guard Ed25519.isValidPublicKey(bytes) else {
            throw KeyError(.weakKey, "this signing key is weak: signatures under it could be forged")
        }
        self.init(checked: ContiguousArray(copying: bytes))
    }

    /// Creates a key from bytes that have passed the import check: computed from a seed, or read from an authenticated
    /// row.
    package init(checked bytes: ContiguousArray<UInt8>) { self.bytes = bytes }

    /// The first 4 bytes of a hash of the key: a hint, not an identity.
    package var id: KeyID { KeyID(of: bytes.span, type: .signing) }

    /// The 32 bytes as base64url, for files.
    package var text: String { Base64URL.string(bytes.span) }

    /// Parses 43 characters of base64url.
    ///
    /// - Throws: `malformedKey` or `weakKey`.
    package init(text: String) throws(KeyError) {
        let characters = ContiguousArray(text.utf8)
        guard let bytes = Base64URL.decode(characters.span) else {
            throw KeyError(.malformedKey, "a signing key's public half is 43 characters of base64url, this is not")
        }
        try self.init(bytes: bytes.span)
    }
}

/// A signing key's secret half, which signs messages: an Ed25519 seed, 32 bytes; as text `PCK-SECRET-1…`, 70 characters.
///
/// Phones believe it because of a ``Certificate`` by the provider key. The seed is in guarded memory, which all references
/// share. It is wiped with the last reference and never printed. (`Docs/Format.md`, Keys as text)
public final class SigningKey: Sendable {
    let secret: Ed25519Secret

    /// The public half.
    package let publicKey: SigningPublicKey

    /// Generates a key from the system's random source.
    public convenience init() { self.init(Ephemeral(randomCount: Ed25519.seedLength)) }

    /// Parses the ASCII of `PCK-SECRET-1…`; a trailing newline is allowed.
    ///
    /// The caller wipes the text. It is a span and not a `String`, because a string cannot be wiped.
    ///
    /// - Throws: `malformedKey`, `wrongChecksum` or `wrongKind`.
    public convenience init(text: Span<UInt8>) throws(KeyError) {
        self.init(try Bech32.decode(text, as: .signingSecret))
    }

    /// Copies the 32 bytes of a seed, which the caller wipes.
    package convenience init(seed: Span<UInt8>) throws(KeyError) {
        guard seed.count == Ed25519.seedLength else {
            throw KeyError(.malformedKey, "a signing key's secret half has \(Ed25519.seedLength) bytes")
        }
        self.init(Ephemeral(copying: seed))
    }

    init(_ seed: consuming Ephemeral) {
        secret = Ed25519Secret(seed)
        publicKey = SigningPublicKey(checked: secret.publicKey)
    }

    /// Calls `body` with the text of the key, and wipes the text afterwards. The caller protects any copy that `body`
    /// makes.
    public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let text = withSeed { Bech32.encode($0, as: .signingSecret) }
        return try text.withSpan(body)
    }

    /// Calls `body` with the seed; its result must not contain a copy.
    package func withSeed<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try secret.withSeed(body)
    }

    /// Signs a message, which the caller has found to be one that this key may sign; returns 64 bytes.
    package func signature(of message: Span<UInt8>) -> ContiguousArray<UInt8> { secret.signature(of: message) }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
    /// The id of the public half; nothing secret is printed.
    public var description: String { "SigningKey(\(publicKey.id))" }

    /// The id of the public half only.
    public var customMirror: Mirror { Mirror(self, children: ["id": publicKey.id]) }
}
