/// A challenge, whose signature proves that somebody has a provider key. (`Docs/Keys.md`, A key service)
package struct ProviderChallenge: Sendable {
    package let provider: ProviderPublicKey
    /// The bytes to sign:
    ///
    ///     "pushcrypt/1 provider challenge" || 0x00 || provider public key || 32 random bytes
    package let message: ContiguousArray<UInt8>

    /// Draws a new challenge.
    package init(to provider: ProviderPublicKey) {
        self.provider = provider
        var message = ContiguousArray<UInt8>()
        message.append("pushcrypt/1 provider challenge\0")
        message.append(contentsOf: provider.bytes)
        message.append(contentsOf: Sodium.randomBytes(32))
        self.message = message
    }

    /// Whether a signature is the provider key's.
    package func isMet(by signature: ContiguousArray<UInt8>) -> Bool {
        let key = provider.bytes
        return Ed25519.isValid(signature.span, for: message.span, publicKey: key.span)
    }
}
