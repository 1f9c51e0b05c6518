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

/// A signature that was not to be had. Equal when the codes are equal.
public struct SigningError: CodedError {
    /// Why there is no signature.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case signerUnavailable = "signer-unavailable"
            case signerRefused = "signer-refused"
            case signerTimedOut = "signer-timed-out"
            case wrongSignature = "wrong-signature"
        }

        private let known: Known

        /// The signer cannot be reached, or the connection broke. Asking again later may help.
        public static let signerUnavailable = Code(known: .signerUnavailable)
        /// The signer answered that it does not sign: no permission, no such key, a limit.
        public static let signerRefused = Code(known: .signerRefused)
        /// The signer did not answer in time. Asking again later may help.
        public static let signerTimedOut = Code(known: .signerTimedOut)
        /// What the signer gave is no signature by its key over the message that it was given.
        public static let wrongSignature = Code(known: .wrongSignature)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `signer-timed-out`.
        public var description: String { known.rawValue }
    }

    /// Why.
    public let code: Code
    /// What happened and what to do about it; never holds what was to be signed.
    public let description: String

    /// Makes an error of a signer; `description` says what to do next, and is shown to people and written to logs.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
