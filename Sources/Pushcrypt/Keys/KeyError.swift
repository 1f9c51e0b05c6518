/// An error for a key, or its text, that cannot be used.
public struct KeyError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as programs read it, for example `wrong-checksum`.
        public let description: String

        init(_ code: String) { description = code }

        /// Not the text of a key: a character, the case, the padding bits or the length is wrong, or there is white
        /// space.
        package static let malformedKey = Code("malformed-key")
        /// The text was mistyped or cut: its checksum is wrong.
        package static let wrongChecksum = Code("wrong-checksum")
        /// Another kind of key than the one needed, for example a provider's instead of a device's.
        package static let wrongKind = Code("wrong-kind-of-key")
        /// A public key that no correct program generates: of small order, or not canonical.
        package static let weakKey = Code("weak-key")
        /// A key of another algorithm or in an unsupported form: RSA, P-256, encrypted, OpenSSH.
        package static let unsupportedKey = Code("unsupported-key")
        /// The public key beside a secret key belongs to another key.
        package static let unequalHalves = Code("unequal-halves")
        /// This build cannot compute with a key of this suite.
        package static let unsupportedSuite = Code("unsupported-suite")
        /// The record around a key is not a valid JSON object of its kind.
        package static let malformedRecord = Code("malformed-record")

        /// Every code.
        package static let allCases: [Code] = [
            .malformedKey, .wrongChecksum, .wrongKind, .weakKey, .unsupportedKey, .unequalHalves, .unsupportedSuite,
            .malformedRecord,
        ]
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
