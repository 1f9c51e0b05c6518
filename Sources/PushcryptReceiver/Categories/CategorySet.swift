public import Pushcrypt

/// The categories of one app, checked: what it registers at launch, and what its content extensions may name.
///
/// Identifiers are compared byte by byte, as the system does; two that differ in case only are refused, because one of
/// them is a mistake that nobody sees.
public struct CategorySet: Hashable, Sendable {
    /// The most actions of a category that the system shows, and only where there is room for all; elsewhere it shows
    /// the first two or four.
    public static let maximumActions = 10

    private static let maximumIdentifier = 255
    /// What the system's own actions are called, for example a dismissal.
    private static let applePrefix = "com.apple."

    /// The categories in the order in which they were declared.
    public let categories: [CategoryDeclaration]

    /// Takes categories; throws `invalidIdentifier`, `repeatedIdentifier`, `tooManyActions` or `emptyTitle`.
    public init(_ categories: [CategoryDeclaration]) throws(CategoryError) {
        var known = KnownIdentifiers()
        for (index, category) in categories.enumerated() {
            let place = "categories[\(index)]"
            try Self.check(category.identifier, at: "\(place).identifier")
            try known.add(category.identifier, at: "\(place).identifier")
            guard category.actions.count <= Self.maximumActions else {
                throw CategoryError(
                    .tooManyActions, at: "\(place).actions",
                    "\(category.actions.count) actions, and the system shows at most \(Self.maximumActions)")
            }
            var knownActions = KnownIdentifiers()
            for (index, action) in category.actions.enumerated() {
                let place = "\(place).actions[\(index)]"
                try Self.check(action.identifier, at: "\(place).identifier")
                try knownActions.add(action.identifier, at: "\(place).identifier")
                try Self.check(title: action.title, at: "\(place).title")
                if let input = action.textInput {
                    try Self.check(title: input.buttonTitle, at: "\(place).textInput.buttonTitle")
                }
            }
        }
        self.categories = categories
    }

    /// The category with exactly this identifier.
    public subscript(_ identifier: String) -> CategoryDeclaration? {
        categories.first { $0.identifier.utf8.elementsEqual(identifier.utf8) }
    }

    // MARK: Checks

    private static func check(_ identifier: String, at place: String) throws(CategoryError) {
        guard (1...maximumIdentifier).contains(identifier.utf8.count),
            !identifier.unicodeScalars.contains(where: \.isControl)
        else {
            throw CategoryError(
                .invalidIdentifier, at: place,
                "an identifier has 1 to \(maximumIdentifier) bytes and no control characters")
        }
        guard !identifier.hasPrefix(applePrefix) else {
            throw CategoryError(
                .invalidIdentifier, at: place, "identifiers that begin with \(applePrefix) are Apple's: choose another")
        }
    }

    private static func check(title: NotificationContent.Text, at place: String) throws(CategoryError) {
        guard title.isEmpty || title == .localized(key: "", arguments: []) else { return }
        throw CategoryError(.emptyTitle, at: place, "a button without a title cannot be read: give it one")
    }
}

/// Finds identifiers that are there twice, or once more in other letters.
private struct KnownIdentifiers {
    private var places: [String: (identifier: String, place: String)] = [:]

    mutating func add(_ identifier: String, at place: String) throws(CategoryError) {
        let folded = identifier.lowercased()
        if let earlier = places[folded] {
            let isSame = earlier.identifier.utf8.elementsEqual(identifier.utf8)
            throw CategoryError(
                .repeatedIdentifier, at: place,
                isSame
                    ? "the identifier of \(earlier.place) again"
                    : "as \(earlier.place) but for the case or the spelling of letters, which counts: choose another")
        }
        places[folded] = (identifier, place)
    }
}

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
