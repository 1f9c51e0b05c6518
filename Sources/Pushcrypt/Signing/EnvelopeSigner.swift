/// A key that sealers can sign with, its certificate and its hedge key: in this process, or in a connected
/// ``MessageSigner``.
///
/// At epoch 0 the provider key itself signs; from epoch 1 on, a signing key with a ``Certificate``, which every message
/// carries. One value serves any number of threads, so an external signer returns its hedge key only once.
/// (`Docs/FormatNotes.md`, Randomness)
public struct EnvelopeSigner: Sendable {
    /// The place of the key.
    enum Kind: Sendable {
        /// A key in this process, whose signatures need no check.
        case key(Ed25519Secret)
        /// A key elsewhere.
        case external(ExternalSigner)
    }

    let kind: Kind

    /// The provider key, which phones pin.
    package let providerKey: ProviderPublicKey
    /// The statement about the key that signs; nil at epoch 0.
    package let certificate: Certificate?
    /// The app that the certificate is for; nil at epoch 0, where it may be any.
    let topic: Topic?

    private init(_ kind: Kind, _ provider: ProviderPublicKey, _ certificate: Certificate?, for topic: Topic?) {
        self.kind = kind
        providerKey = provider
        self.certificate = certificate
        self.topic = topic
    }

    /// Creates a signer of epoch 0: the provider key in this process, for any app.
    public init(_ key: ProviderKey) { self.init(.key(key.secret), key.publicKey, nil, for: nil) }

    /// Creates a signer from a signing key in this process, for the app of its certificate.
    ///
    /// - Throws: `weakKey` or `badSignature` if the certificate is not the provider's for this app.
    public init(_ credential: SigningCredential, for topic: Topic) throws(TrustError) {
        try credential.certificate.check(for: credential.provider, topic: topic)
        self.init(.key(credential.key.secret), credential.provider, credential.certificate, for: topic)
    }

    /// Creates a signer from a signing key and a certificate that was verified before, from an authenticated row.
    package init(
        verified certificate: Certificate, _ key: SigningKey, by provider: ProviderPublicKey, for topic: Topic
    ) {
        self.init(.key(key.secret), provider, certificate, for: topic)
    }

    /// Connects to a signer that has the provider key, for any app: asks it for one signature over a constant label, and
    /// checks the signature.
    ///
    /// The hedge key is derived from that signature and kept. This gives nothing away: anyone who can use the
    /// key can derive the hedge key. The call waits for the signer; a task uses the asynchronous variant.
    ///
    /// - Throws: `SigningError`, the signer's own or `wrongSignature`.
    public static func connect(to signer: any MessageSigner) throws(SigningError) -> EnvelopeSigner {
        let external = try ExternalSigner(signer)
        let key = external.publicKey
        guard let provider = try? ProviderPublicKey(bytes: key.span) else {
            throw SigningError(
                .wrongSignature, "the signer's public key is weak: signatures under it could be forged")
        }
        return EnvelopeSigner(.external(external), provider, nil, for: nil)
    }

    /// Connects to a signer that has a signing key, like ``connect(to:)``, for the app of its certificate.
    ///
    /// - Throws: `TrustError`: `weakKey` or `badSignature` if the certificate is not the provider's for this app,
    ///   `wrongCertificate` if it is not for the signer's key; `SigningError`.
    public static func connect(
        to signer: any MessageSigner, provider: ProviderPublicKey, certificate: Certificate, for topic: Topic
    ) throws -> EnvelopeSigner {
        try certificate.check(for: provider, topic: topic)
        let external = try ExternalSigner(signer)
        guard certificate.signingKey.bytes == external.publicKey else { throw SigningCredential.otherKey }
        return EnvelopeSigner(.external(external), provider, certificate, for: topic)
    }

    /// The epoch of the messages: 0 without a certificate.
    package var epoch: UInt32 { certificate?.epoch ?? 0 }

    /// The public half of the key that signs.
    package var publicKey: ContiguousArray<UInt8> {
        switch kind {
        case .key(let key): key.publicKey
        case .external(let signer): signer.publicKey
        }
    }

    /// Whether sealing waits for another process or machine.
    package var isExternal: Bool { if case .external = kind { true } else { false } }

    /// Returns an HMAC under the hedge key, for a hedged value.
    func hedged() -> HMACSHA256 {
        switch kind {
        case .key(let key): key.hedged()
        case .external(let signer): signer.hedged()
        }
    }
}

/// A signer whose key is not in this process: asked in batches, and never trusted without a check.
package final class ExternalSigner: Sendable {
    /// The maximum number of messages in one request to a signer.
    static let maximumBatch = 256

    /// Read once, so that a key that changes later only gives wrong signatures, not messages by two keys.
    let publicKey: ContiguousArray<UInt8>

    private let signer: any MessageSigner
    /// HMAC's state under the hedge key.
    private let hedge: SecretBytes

    /// Requests the signature from which the hedge key is derived.
    init(_ signer: any MessageSigner) throws(SigningError) {
        var label = ContiguousArray<UInt8>()
        label.append("pushcrypt/1 hedge seed\0")
        let publicKey = signer.publicKey
        var signatures = try Self.signatures([label], by: signer)
        // Removed from the array, so that nothing shares the bytes that are wiped.
        guard var seed = signatures.popLast() else { throw Self.wrongSignature }
        defer { seed.wipe() }
        guard Ed25519.isValid(seed.span, for: label.span, publicKey: publicKey.span) else {
            throw Self.wrongSignature
        }
        let hmac = HMACSHA256(key: seed.span)
        hmac.update("pushcrypt/1 hedge\0")
        let hedge = hmac.finish().withSpan { HMACSHA256(key: $0) }
        self.hedge = SecretBytes(count: HMACSHA256.stateLength) { hedge.write(stateTo: &$0, at: 0) }
        self.publicKey = publicKey
        self.signer = signer
    }

    func hedged() -> HMACSHA256 {
        hedge.withSpan { HMACSHA256(state: $0) }
    }

    /// Requests signatures, as many as messages, and does not check them.
    func signatures(of messages: [ContiguousArray<UInt8>]) throws(SigningError) -> [ContiguousArray<UInt8>] {
        try Self.signatures(messages, by: signer)
    }

    /// Requests one signature, and checks it.
    func signature(of message: ContiguousArray<UInt8>) throws(SigningError) -> ContiguousArray<UInt8> {
        guard let signature = try signatures(of: [message]).first else { throw Self.wrongSignature }
        try check(signature, of: message)
        return signature
    }

    /// Throws `wrongSignature` unless a signature is valid.
    func check(
        _ signature: ContiguousArray<UInt8>, of message: ContiguousArray<UInt8>
    ) throws(SigningError) {
        let key = publicKey
        guard Ed25519.isValid(signature.span, for: message.span, publicKey: key.span) else { throw Self.wrongSignature }
    }

    static func signatures(
        _ messages: [ContiguousArray<UInt8>], by signer: any MessageSigner
    ) throws(SigningError) -> [ContiguousArray<UInt8>] {
        let signatures = try signer.sign(messages)
        // With one missing, the others could belong to any message.
        guard signatures.count == messages.count else {
            throw SigningError(
                .wrongSignature,
                "the signer returned \(signatures.count) signatures for \(messages.count) messages; it has to sign each, in order"
            )
        }
        return signatures
    }

    static let wrongSignature = SigningError(
        .wrongSignature,
        "the signature from the signer is not valid for its public key; it has to sign the bytes as they are, with Ed25519 and that key"
    )
}
