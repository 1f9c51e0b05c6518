import Pushcrypt

/// A key that is used through a service, which may be in any disorder.
struct SigningService: MessageSigner {
    /// Sees what is to be signed, and answers instead of the key.
    typealias Answer = @Sendable (ProviderKey, [Bytes]) throws(SigningError) -> [Bytes]

    let key: ProviderKey
    var answer: Answer = { (key, messages) throws(SigningError) in key.sign(messages) }

    var publicKey: ProviderPublicKey { key.publicKey }

    func sign(_ messages: [Bytes]) throws(SigningError) -> [Bytes] { try answer(key, messages) }
}
