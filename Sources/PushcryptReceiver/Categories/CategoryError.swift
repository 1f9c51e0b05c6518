public import Pushcrypt

/// Categories that cannot be declared so. Equal when the codes are equal.
public struct CategoryError: CodedError {
    /// What is wrong.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case malformedCategories = "malformed-categories"
            case invalidIdentifier = "invalid-identifier"
            case repeatedIdentifier = "repeated-identifier"
            case tooManyActions = "too-many-actions"
            case emptyTitle = "empty-title"
        }

        private let known: Known

        /// The JSON is not as it must be: a value of another kind, one that is missing, or a name that nobody knows.
        public static let malformedCategories = Code(known: .malformedCategories)
        /// An identifier that is empty, too long, has control characters, or is one of Apple's.
        public static let invalidIdentifier = Code(known: .invalidIdentifier)
        /// Two categories, or two actions of one, with the same identifier, or with one that differs in case only.
        public static let repeatedIdentifier = Code(known: .repeatedIdentifier)
        /// More actions than the system ever shows.
        public static let tooManyActions = Code(known: .tooManyActions)
        /// A button without a title.
        public static let emptyTitle = Code(known: .emptyTitle)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `repeated-identifier`.
        public var description: String { known.rawValue }
    }

    /// What is wrong.
    public let code: Code
    /// Where, as a path from the top: `categories[2].actions[0].title`.
    public let place: String
    private let reason: String

    init(_ code: Code, at place: String, _ reason: String) {
        self.code = code
        self.place = place
        self.reason = reason
    }

    /// Where it is, what is wrong, and what to do.
    public var description: String { "\(place): \(reason)" }
}
