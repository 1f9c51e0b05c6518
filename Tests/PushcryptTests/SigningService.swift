import Pushcrypt

/// A key that is used through a service, which may be in any disorder.
struct SigningService: MessageSigner {
    /// Sees what is to be signed, and answers instead of the key.
    typealias Answer = @Sendable (ProviderKey, [Bytes]) throws(SigningError) -> [Bytes]

    let key: ProviderKey
    var answer: Answer = { (key, messages) throws(SigningError) in Self.sign(key, messages) }

    var publicKey: Bytes { key.publicKey.bytes }

    /// The genuine answer.
    static func sign(_ key: ProviderKey, _ messages: [Bytes]) -> [Bytes] { messages.map { key.signature(of: $0.span) } }

    func sign(_ messages: [Bytes]) throws(SigningError) -> [Bytes] { try answer(key, messages) }
}

/// A signing key that is used through a service.
struct SigningKeyService: MessageSigner {
    let key: SigningKey

    var publicKey: Bytes { key.publicKey.bytes }

    func sign(_ messages: [Bytes]) -> [Bytes] { messages.map { key.signature(of: $0.span) } }
}
