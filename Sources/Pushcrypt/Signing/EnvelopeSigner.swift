/// Who signs what sealers seal, and the hedge key that belongs to the signing key. (`Docs/Format.md`, Randomness)
///
/// Sealers for many apps, and on many threads, share one, so that a signer elsewhere is asked for the hedge key once.
package enum EnvelopeSigner: Sendable {
    /// A key in this process, without a detour: its signatures need no check.
    case key(SenderKey)
    /// A key elsewhere.
    case external(ExternalSigner)

    /// Takes a key in this process as it is; any other is asked for one signature, which is checked.
    package init(_ signer: any MessageSigner) throws(SigningError) {
        if let key = signer as? SenderKey {
            self = .key(key)
        } else {
            self = .external(try ExternalSigner(signer))
        }
    }

    /// The public half of the signing key.
    package var publicKey: SenderPublicKey {
        switch self {
        case .key(let key): key.publicKey
        case .external(let signer): signer.publicKey
        }
    }

    /// Starts a hedged value: HMAC under the hedge key.
    func hedged() -> HMACSHA256 {
        switch self {
        case .key(let key): key.hedged()
        case .external(let signer): signer.hedged()
        }
    }
}

/// A signer whose key is not in this process: asked in batches, and never believed.
package final class ExternalSigner: Sendable {
    /// The most messages that a signer is asked to sign at once.
    static let maximumBatch = 256

    /// Asked once: a key that changed meanwhile makes wrong signatures, and not two kinds of messages.
    let publicKey: SenderPublicKey

    private let signer: any MessageSigner
    /// HMAC's state under the hedge key.
    private let hedge: SecretBytes

    /// Asks for the one signature that is kept: the hedge key comes of it.
    init(_ signer: any MessageSigner) throws(SigningError) {
        var label = ContiguousArray<UInt8>()
        label.append("pushcrypt/1 hedge seed\0")
        let publicKey = signer.publicKey
        var signatures = try Self.signatures([label], by: signer)
        // Taken out of the array, so that nobody shares what is wiped.
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

    /// Asks for signatures, which nobody has checked: as many as there are messages.
    func signatures(of messages: [ContiguousArray<UInt8>]) throws(SigningError) -> [ContiguousArray<UInt8>] {
        try Self.signatures(messages, by: signer)
    }

    /// Asks for one signature, and checks it.
    func signature(of message: ContiguousArray<UInt8>) throws(SigningError) -> ContiguousArray<UInt8> {
        guard let signature = try signatures(of: [message]).first else { throw Self.wrongSignature }
        try check(signature, of: message)
        return signature
    }

    /// Checks one signature; `wrongSignature` otherwise.
    func check(
        _ signature: ContiguousArray<UInt8>, of message: ContiguousArray<UInt8>
    ) throws(SigningError) {
        let key = publicKey.bytes
        guard Ed25519.isValid(signature.span, for: message.span, publicKey: key.span) else { throw Self.wrongSignature }
    }

    private static func signatures(
        _ messages: [ContiguousArray<UInt8>], by signer: any MessageSigner
    ) throws(SigningError) -> [ContiguousArray<UInt8>] {
        let signatures = try signer.sign(messages)
        // With one too few nobody knows which is missing.
        guard signatures.count == messages.count else {
            throw SigningError(
                .wrongSignature,
                "the signer gave \(signatures.count) signatures for \(messages.count) messages; have it answer each, in order"
            )
        }
        return signatures
    }

    private static let wrongSignature = SigningError(
        .wrongSignature,
        "what the signer gave does not verify under its public key; have it sign the bytes as they are, with Ed25519 under that key"
    )
}
