/// A signing key with its certificate: all that a server needs to seal, without a store.
///
/// Its text has three lines: `PCK-SECRET-1…`, the certificate, and the provider's `pcs1…`. It is as secret as the key.
public struct SigningCredential: Sendable {
    /// The key that signs messages.
    public let key: SigningKey
    /// The provider's statement about it.
    public let certificate: Certificate
    /// The provider key, which phones pin.
    public let provider: ProviderPublicKey

    /// Creates a credential; a sealer verifies the certificate, for its app.
    ///
    /// - Throws: `wrongCertificate` for one of another key.
    public init(_ key: SigningKey, _ certificate: Certificate, by provider: ProviderPublicKey) throws(TrustError) {
        guard certificate.signingKey == key.publicKey else { throw Self.otherKey }
        self.key = key
        self.certificate = certificate
        self.provider = provider
    }

    /// Parses the ASCII of the three lines, with a trailing newline or without; the caller wipes the text.
    ///
    /// - Throws: `KeyError` for one of the two keys; `TrustError` for the certificate.
    public init(text: Span<UInt8>) throws {
        var lines: [Range<Int>] = []
        var start = 0
        for index in text.indices where text[index] == UInt8(ascii: "\n") {
            lines.append(start..<index)
            start = index + 1
        }
        if start < text.count { lines.append(start..<text.count) }
        let key = try SigningKey(text: text.extracting(lines.first ?? 0..<0))
        guard lines.count == 3 else {
            throw TrustError(
                .malformedCertificate,
                "a signing key's file has three lines, its key, its certificate and the provider's pcs1…, and this has \(lines.count); copy all of it"
            )
        }
        func line(_ index: Int) -> String {
            String(decoding: ContiguousArray(copying: text.extracting(lines[index])), as: UTF8.self)
        }
        try self.init(key, Certificate(text: line(1)), by: ProviderPublicKey(text: line(2)))
    }

    /// Calls `body` with the three lines, and wipes them afterwards. The caller protects any copy that `body` makes.
    public func withText<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let rest = ContiguousArray("\n\(certificate)\n\(provider)".utf8)
        return try key.withText { (key) throws(E) in try Ephemeral([], key, rest).withSpan(body) }
    }

    static let otherKey = TrustError(
        .wrongCertificate, "the certificate is not for this signing key; use the one that was made for it")
}
