/// An error for a key, or its text, that cannot be used.
public struct KeyError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedKey = "malformed-key"
            case wrongChecksum = "wrong-checksum"
            case wrongKind = "wrong-kind-of-key"
            case weakKey = "weak-key"
            case unsupportedKey = "unsupported-key"
            case unequalHalves = "unequal-halves"
            case unsupportedSuite = "unsupported-suite"
            case malformedRecord = "malformed-record"
        }

        private let known: Known

        /// Not the text of a key: a character, the case, the padding bits or the length is wrong, or there is white
        /// space.
        public static let malformedKey = Code(known: .malformedKey)
        /// The text was mistyped or cut: its checksum is wrong.
        public static let wrongChecksum = Code(known: .wrongChecksum)
        /// Another kind of key than the one needed, for example a provider's instead of a device's.
        public static let wrongKind = Code(known: .wrongKind)
        /// A public key that no correct program generates: of small order, or not canonical.
        public static let weakKey = Code(known: .weakKey)
        /// A key of another algorithm or in an unsupported form: RSA, P-256, encrypted, OpenSSH.
        public static let unsupportedKey = Code(known: .unsupportedKey)
        /// The public key beside a secret key belongs to another key.
        public static let unequalHalves = Code(known: .unequalHalves)
        /// This build cannot compute with a key of this suite.
        public static let unsupportedSuite = Code(known: .unsupportedSuite)
        /// The record around a key is not a valid JSON object of its kind.
        public static let malformedRecord = Code(known: .malformedRecord)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `wrong-checksum`.
        public var description: String { known.rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// The error, its place and its fix, without key bytes.
    public let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
