/// A signer of a provider's messages whose key never leaves a key service or a hardware module: the provider key, or
/// a signing key.
///
/// It signs with pure Ed25519 (RFC 8032). Every signature is checked before an envelope is returned. The messages to sign
/// contain the device's key, the app and a hash, and reveal nothing else about the notification. (`Docs/Format.md`,
/// Construction)
///
/// A sealer sends several messages in one call if it has them. It may call from many threads at the same time, and
/// waits for the answer, so a signer has to give up in time, with `signerTimedOut`.
public protocol MessageSigner: Sendable {
    /// The public half of the key, 32 bytes. It must not change during the lifetime of the signer.
    var publicKey: ContiguousArray<UInt8> { get }

    /// Signs messages. A signer that can should refuse others than those of `Docs/SignerProtocol.md`.
    ///
    /// - Parameter messages: 1 to 256 messages of at most 512 bytes.
    /// - Returns: One signature of 64 bytes for each message, in the same order.
    /// - Throws: `SigningError`; then none of the messages is sealed.
    func sign(_ messages: [ContiguousArray<UInt8>]) throws(SigningError) -> [ContiguousArray<UInt8>]
}

/// A signer of certificates: a separate service, which alone has the provider key.
package protocol CertificateSigner: Sendable {
    /// The provider key.
    var providerKey: ProviderPublicKey { get }

    /// Signs the message of an ``UnsignedCertificate``; returns 64 bytes.
    func sign(certificate message: ContiguousArray<UInt8>) throws(SigningError) -> ContiguousArray<UInt8>
}

extension UnsignedCertificate {
    /// Has a signer elsewhere sign, and verifies its signature.
    ///
    /// - Throws: `SigningError`, the signer's own or `wrongSignature`.
    package func signed(by signer: any CertificateSigner) throws(SigningError) -> Certificate {
        let signature = try signer.sign(certificate: message)
        do throws(TrustError) {
            return try signed(signature)
        } catch {
            throw ExternalSigner.wrongSignature
        }
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
