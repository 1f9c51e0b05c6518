/// A signer of a provider's messages: a key in this process, or one that never leaves a key service or a hardware
/// module.
///
/// ``ProviderKey`` is the conforming type for a key in this process. Other types sign with pure Ed25519 (RFC 8032). Every
/// signature of theirs is checked before an envelope is returned. The messages to sign contain the device's key, the
/// app and a hash, and reveal nothing else about the notification. (`Docs/Format.md`, Construction)
///
/// A sealer sends several messages in one call if it has them. It may call from many threads at the same time, and
/// waits for the answer, so a signer has to give up in time, with `signerTimedOut`.
public protocol MessageSigner: Sendable {
    /// The public half of the key, which devices trust. It must not change during the lifetime of the signer.
    var publicKey: ProviderPublicKey { get }

    /// Signs messages.
    ///
    /// - Parameter messages: 1 to 256 messages of at most 512 bytes.
    /// - Returns: One signature of 64 bytes for each message, in the same order.
    /// - Throws: `SigningError`; then none of the messages is sealed.
    func sign(_ messages: [ContiguousArray<UInt8>]) throws(SigningError) -> [ContiguousArray<UInt8>]

    /// Signs a rotation statement, which makes devices trust another key from then on; by default, like a message.
    ///
    /// A signer can refuse statements to a process that only seals. Then it must also refuse messages that begin with
    /// `pushcrypt/1 rotation` and a zero byte.
    ///
    /// - Parameter statement: What ``UnsignedRotation`` has the keys sign; 107 bytes.
    /// - Returns: A signature of 64 bytes.
    /// - Throws: `SigningError`.
    func sign(statement: ContiguousArray<UInt8>) throws(SigningError) -> ContiguousArray<UInt8>
}

extension MessageSigner {
    /// Signs a rotation statement like a message.
    public func sign(statement: ContiguousArray<UInt8>) throws(SigningError) -> ContiguousArray<UInt8> {
        try ExternalSigner.signatures([statement], by: self)[0]
    }
}

extension ProviderKey: MessageSigner {
    /// Signs messages with Ed25519 (RFC 8032); returns one signature of 64 bytes for each, in the same order.
    public func sign(_ messages: [ContiguousArray<UInt8>]) -> [ContiguousArray<UInt8>] {
        messages.map { signature(of: $0.span) }
    }
}

/// An error for a signature that could not be obtained.
public struct SigningError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case signerUnavailable = "signer-unavailable"
            case signerRefused = "signer-refused"
            case signerTimedOut = "signer-timed-out"
            case wrongSignature = "wrong-signature"
        }

        private let known: Known

        /// The signer cannot be reached, or the connection broke. A later attempt may succeed.
        public static let signerUnavailable = Code(known: .signerUnavailable)
        /// The signer refused to sign: no permission, no such key, or a limit.
        public static let signerRefused = Code(known: .signerRefused)
        /// The signer did not answer in time. A later attempt may succeed.
        public static let signerTimedOut = Code(known: .signerTimedOut)
        /// The signer's answer is not a valid signature of the message by its key.
        public static let wrongSignature = Code(known: .wrongSignature)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `signer-timed-out`.
        public var description: String { known.rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// The error and its fix, without the message to sign.
    public let description: String

    /// Creates an error of a signer.
    ///
    /// - Parameters:
    ///   - code: The reason.
    ///   - description: What happened and what to do next; it is shown to people and written to logs.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
