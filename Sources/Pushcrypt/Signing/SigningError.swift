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
