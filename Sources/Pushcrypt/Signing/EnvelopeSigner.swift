/// A signing key that sealers can use, with its hedge key: in this process, or in a connected ``MessageSigner``.
///
/// One value serves sealers for any number of apps and threads, so an external signer returns its hedge key only
/// once. (`Docs/FormatNotes.md`, Randomness)
public struct EnvelopeSigner: Sendable {
    /// The place of the key.
    package enum Kind: Sendable {
        /// A key in this process, whose signatures need no check.
        case key(ProviderKey)
        /// A key elsewhere.
        case external(ExternalSigner)
    }

    package let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// Creates a signer from a key in this process.
    public init(_ key: ProviderKey) { self.init(.key(key)) }

    /// Connects to a signer: asks it for one signature over a constant label, and checks the signature.
    ///
    /// The hedge key is derived from that signature and kept. This gives nothing away: anyone who can use the signing
    /// key can derive the hedge key. A `ProviderKey` is used directly. The call waits for the signer; a task uses
    /// the asynchronous variant.
    ///
    /// - Throws: `SigningError`, the signer's own or `wrongSignature`.
    public static func connect(to signer: any MessageSigner) throws(SigningError) -> EnvelopeSigner {
        if let key = signer as? ProviderKey { return EnvelopeSigner(key) }
        return EnvelopeSigner(.external(try ExternalSigner(signer)))
    }

    /// The public half of the signing key.
    public var publicKey: ProviderPublicKey {
        switch kind {
        case .key(let key): key.publicKey
        case .external(let signer): signer.publicKey
        }
    }

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

    /// Read once, so that a key that changes later only gives wrong signatures, not messages from two senders.
    let publicKey: ProviderPublicKey

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
        guard Ed25519.isValid(seed.span, for: label.span, publicKey: publicKey.bytes.span) else {
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
        let key = publicKey.bytes
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
