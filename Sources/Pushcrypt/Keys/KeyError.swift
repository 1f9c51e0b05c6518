/// A key, or the text of one, that cannot be taken. Equal when the codes are equal.
public struct KeyError: CodedError {
    /// What is wrong with a key.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedKey = "malformed-key"
            case wrongChecksum = "wrong-checksum"
            case wrongKind = "wrong-kind-of-key"
            case weakKey = "weak-key"
            case unsupportedKey = "unsupported-key"
            case unequalHalves = "unequal-halves"
            case malformedRecord = "malformed-record"
        }

        private let known: Known

        /// Not the text of a key: a character, the case, white space, padding bits or the length is wrong.
        public static let malformedKey = Code(known: .malformedKey)
        /// The text was mistyped or cut: its checksum does not fit.
        public static let wrongChecksum = Code(known: .wrongChecksum)
        /// The text of another kind of key, for example a sender's where a device's is needed.
        public static let wrongKind = Code(known: .wrongKind)
        /// A public key that no honest program makes: of small or mixed order, not on the curve, or not canonical.
        public static let weakKey = Code(known: .weakKey)
        /// A key of another algorithm, or in a form that is not read: RSA, P-256, encrypted, of OpenSSH.
        public static let unsupportedKey = Code(known: .unsupportedKey)
        /// The public key beside a secret key is not its own.
        public static let unequalHalves = Code(known: .unequalHalves)
        /// The record around a key is not the JSON object that it should be.
        public static let malformedRecord = Code(known: .malformedRecord)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `wrong-checksum`.
        public var description: String { known.rawValue }
    }

    /// What is wrong.
    public let code: Code
    /// Where, and what to do; never holds key bytes.
    public let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
