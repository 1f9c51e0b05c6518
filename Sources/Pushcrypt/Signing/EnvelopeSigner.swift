/// A key that sealers can sign with, and its certificate.
///
/// At epoch 0 the provider key itself signs; from epoch 1 on, a signing key with a ``Certificate``, which every message
/// carries. Any number of threads may use one value.
public struct EnvelopeSigner: Sendable {
    private let key: Ed25519Secret

    /// The provider key, which phones pin.
    package let providerKey: ProviderPublicKey
    /// The statement about the key that signs; nil at epoch 0.
    package let certificate: Certificate?
    /// The app that the certificate is for; nil at epoch 0, where it may be any.
    let topic: Topic?

    private init(_ key: Ed25519Secret, _ provider: ProviderPublicKey, _ certificate: Certificate?, for topic: Topic?) {
        self.key = key
        providerKey = provider
        self.certificate = certificate
        self.topic = topic
    }

    /// Creates a signer of epoch 0: the provider key, for any app.
    public init(_ key: ProviderKey) { self.init(key.secret, key.publicKey, nil, for: nil) }

    /// Creates a signer from a signing key, for the app of its certificate.
    ///
    /// - Throws: `weakKey` or `badSignature` if the certificate is not the provider's for this app.
    public init(_ credential: SigningCredential, for topic: Topic) throws(TrustError) {
        try credential.certificate.check(for: credential.provider, topic: topic)
        self.init(credential.key.secret, credential.provider, credential.certificate, for: topic)
    }

    /// Creates a signer from a signing key and a certificate that was verified before, from an authenticated row.
    package init(
        verified certificate: Certificate, _ key: SigningKey, by provider: ProviderPublicKey, for topic: Topic
    ) {
        self.init(key.secret, provider, certificate, for: topic)
    }

    /// The epoch of the messages: 0 without a certificate.
    package var epoch: UInt32 { certificate?.epoch ?? 0 }

    /// The public half of the key that signs.
    package var publicKey: ContiguousArray<UInt8> { key.publicKey }

    /// Signs a message; returns 64 bytes.
    func signature(of message: Span<UInt8>) -> ContiguousArray<UInt8> { key.signature(of: message) }

    /// Returns an HMAC under the hedge key, for a hedged value. (`Docs/Format.md`, Randomness)
    func hedged() -> HMACSHA256 { key.hedged() }
}
