/// An error for a statement that is not accepted. (`Docs/FormatRotation.md`)
public struct RotationError: CodedError {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedStatement = "malformed-statement"
            case untrustedKey = "untrusted-old-key"
            case unknownRecoveryKey = "unknown-recovery-key"
            case badSignature = "bad-statement-signature"
            case weakKey = "weak-key"
            case supersededKey = "superseded-new-key"
            case overlapTooLong = "overlap-too-long"
            case notYetValid = "statement-not-yet-valid"
            case expired = "statement-expired"
            case conflict = "rotation-conflict"
            case recoveryConflict = "recovery-conflict"
        }

        private let known: Known

        /// Not 181 bytes, an unknown version, or a recovery without a serial.
        public static let malformedStatement = Code(known: .malformedStatement)
        /// The old key is not pinned here.
        public static let untrustedKey = Code(known: .untrustedKey)
        /// The recovery key belongs to no sender here.
        public static let unknownRecoveryKey = Code(known: .unknownRecoveryKey)
        /// One of the two signatures is wrong.
        public static let badSignature = Code(known: .badSignature)
        /// The new key fails the import check.
        public static let weakKey = Code(known: .weakKey)
        /// The new key was superseded or revoked here before, or is a recovery key: trust never returns to an old key.
        public static let supersededKey = Code(known: .supersededKey)
        /// The old key would verify messages for more than 60 days.
        public static let overlapTooLong = Code(known: .overlapTooLong)
        /// The statement was issued more than 24 hours in the future.
        public static let notYetValid = Code(known: .notYetValid)
        /// The time to accept the statement is over.
        public static let expired = Code(known: .expired)
        /// A second, different statement by a superseded key: evidence that the key was stolen.
        public static let conflict = Code(known: .conflict)
        /// A second, different recovery with the same serial: evidence that the recovery key was stolen.
        public static let recoveryConflict = Code(known: .recoveryConflict)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `rotation-conflict`.
        public var description: String { known.rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// What happened, and what to do.
    public let description: String
    /// The number of the rule that failed: of several senders, the one that got furthest decides.
    let rule: Int

    init(_ rule: Int, _ code: Code, _ description: String) {
        self.code = code
        self.description = description
        self.rule = rule
    }
}
