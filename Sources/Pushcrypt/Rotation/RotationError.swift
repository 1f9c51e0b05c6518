/// A rotation statement that is not accepted. Equal when the codes are equal. (`Docs/Format.md`, Rotation)
public struct RotationError: CodedError {
    /// Why a rotation statement is not accepted.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedStatement = "malformed-statement"
            case untrustedKey = "untrusted-old-key"
            case badSignature = "bad-statement-signature"
            case weakKey = "weak-key"
            case supersededKey = "superseded-new-key"
            case overlapTooLong = "overlap-too-long"
            case notYetValid = "statement-not-yet-valid"
            case expired = "statement-expired"
            case conflict = "rotation-conflict"
        }

        private let known: Known

        /// Not 181 bytes, or an unknown version.
        public static let malformedStatement = Code(known: .malformedStatement)
        /// The old key is not pinned here.
        public static let untrustedKey = Code(known: .untrustedKey)
        /// One of the two signatures is wrong.
        public static let badSignature = Code(known: .badSignature)
        /// The new key fails the import check.
        public static let weakKey = Code(known: .weakKey)
        /// The new key was superseded here before: trust never goes back.
        public static let supersededKey = Code(known: .supersededKey)
        /// The old key would verify for longer than 60 days.
        public static let overlapTooLong = Code(known: .overlapTooLong)
        /// Issued more than 24 hours from now.
        public static let notYetValid = Code(known: .notYetValid)
        /// Its time to be accepted has passed.
        public static let expired = Code(known: .expired)
        /// A second, different statement for a key that was superseded: evidence that the key was stolen.
        public static let conflict = Code(known: .conflict)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `rotation-conflict`.
        public var description: String { known.rawValue }
    }

    /// Why.
    public let code: Code
    /// What happened, and what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
