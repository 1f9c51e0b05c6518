/// The key with which a server signs its requests to relays, and nothing else: an Ed25519 seed, 32 bytes.
///
/// Relays know the server by the public half, which registration replies name. The seed is in guarded memory, which all
/// references share. It is wiped with the last reference and never printed. It has no text form here: the formats of other
/// programs hold it. (`Docs/Relay.md`, Push key)
package final class PushKey: Sendable {
    private let secret: Ed25519Secret

    /// The public half.
    package let publicKey: SigningPublicKey

    /// The first 4 bytes of the public half's SHA-256, as a relay's log has them.
    package var fingerprint: KeyID { Self.fingerprint(of: publicKey) }

    /// Generates a key from the system's random source.
    package convenience init() { self.init(Ephemeral(randomCount: Ed25519.seedLength)) }

    /// Copies the 32 bytes of a seed, which the caller wipes.
    package convenience init(seed: Span<UInt8>) throws(KeyError) {
        guard seed.count == Ed25519.seedLength else {
            throw KeyError(.malformedKey, "a push key has \(Ed25519.seedLength) bytes")
        }
        self.init(Ephemeral(copying: seed))
    }

    private init(_ seed: consuming Ephemeral) {
        secret = Ed25519Secret(seed)
        publicKey = SigningPublicKey(checked: secret.publicKey)
    }

    /// Calls `body` with the seed; its result must not contain a copy.
    package func withSeed<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try secret.withSeed(body)
    }

    /// Signs a relay's request; returns 64 bytes.
    func signature(of message: Span<UInt8>) -> ContiguousArray<UInt8> { secret.signature(of: message) }

    /// Returns the first 4 bytes of a public half's SHA-256.
    package static func fingerprint(of key: SigningPublicKey) -> KeyID {
        KeyID(value: SHA256.digest(key.bytes.span).span.bigEndian(at: 0))
    }
}

extension PushKey: CustomStringConvertible, CustomReflectable {
    /// The fingerprint of the public half; nothing secret is printed.
    package var description: String { "PushKey(\(fingerprint))" }

    /// The fingerprint of the public half only.
    package var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
}

extension PushKey {
    /// Parses an Ed25519 seed from another program, without a trailing newline; the caller wipes the text.
    ///
    /// - Parameter format: The format; nil detects JWK and PEM.
    /// - Throws: `malformedKey`, `unsupportedKey`, `wrongKind` or `unequalHalves`.
    package convenience init(text: Span<UInt8>, format: KeyFormat?) throws(KeyError) {
        let key = try KeyFormat.read(text, in: format, as: .secret, of: .ed25519)
        self.init(key.secret.withSpan { Ephemeral(copying: $0) })
        try key.check(publicKey.bytes)
    }

    /// Calls `body` with the key in the format of another program, and wipes the text afterwards. The caller protects any
    /// copy that `body` makes.
    package func withText<R, E: Error>(in format: KeyFormat, _ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let publicHalf = publicKey.bytes
        let text = withSeed { format.write(secret: $0, publicHalf: publicHalf.span, of: .ed25519) }
        return try text.withSpan(body)
    }
}

extension SigningPublicKey {
    /// Returns the key in the format of another program.
    package func text(in format: KeyFormat) -> String { format.write(publicHalf: bytes.span, of: .ed25519) }
}
