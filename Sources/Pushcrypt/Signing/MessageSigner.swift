/// What signs a provider's messages: a key in this process, or one that never leaves a key service or a hardware module.
///
/// `SenderKey` is the one in this process. Another conforms with Ed25519 as RFC 8032 has it, the pure variant: a sealer checks
/// every signature that was not made in this process, and lets out no envelope with a wrong one. What is handed to a signer
/// tells the device's key, the app and a hash, and nothing of the notification. (`Docs/Format.md`, Construction)
///
/// A sealer asks with several messages at once where it has them. It may ask from many threads at the same time, and waits for
/// the answer: give up in time with `signerTimedOut`.
public protocol MessageSigner: Sendable {
    /// The public half of the key: what devices trust.
    ///
    /// Every `SenderPublicKey` has passed the import check. It must not change during the signer's life.
    var publicKey: SenderPublicKey { get }

    /// Signs each message: as many signatures, 64 bytes each, in the same order.
    ///
    /// - Parameter messages: 1 to 256 messages of at most 512 bytes.
    /// - Throws: `SigningError`; none of the messages is sealed then.
    func sign(_ messages: [ContiguousArray<UInt8>]) throws(SigningError) -> [ContiguousArray<UInt8>]
}

extension SenderKey: MessageSigner {
    /// Signs each message (Ed25519, RFC 8032): as many signatures of 64 bytes, in the same order; never throws.
    public func sign(_ messages: [ContiguousArray<UInt8>]) -> [ContiguousArray<UInt8>] {
        messages.map { signature(of: $0.span) }
    }
}
