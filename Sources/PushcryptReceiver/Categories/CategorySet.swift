public import Pushcrypt

/// The checked categories of one app: what it registers at launch, and what its content extensions may name.
///
/// Identifiers are compared byte by byte, as the system does. Two that differ only in case are refused, because one of
/// them must be a mistake that nobody would notice.
public struct CategorySet: Hashable, Sendable {
    /// The most actions of a category that the system shows where there is room; elsewhere it shows the first two or
    /// four.
    package static let maximumActions = 10

    private static let maximumIdentifier = 255
    /// The prefix of the system's own actions, for example a dismissal.
    private static let applePrefix = "com.apple."

    /// The categories in the order of their declaration.
    public let categories: [CategoryDeclaration]

    /// Creates a set; throws `invalidIdentifier`, `repeatedIdentifier`, `tooManyActions` or `emptyTitle`.
    public init(_ categories: [CategoryDeclaration]) throws(CategoryError) {
        var known = KnownIdentifiers()
        for (index, category) in categories.enumerated() {
            let place = "categories[\(index)]"
            try Self.check(category.identifier, at: "\(place).identifier")
            try known.add(category.identifier, at: "\(place).identifier")
            guard category.actions.count <= Self.maximumActions else {
                throw CategoryError(
                    .tooManyActions, at: "\(place).actions",
                    "\(category.actions.count) actions, but the system shows at most \(Self.maximumActions)")
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

    /// Returns the category with exactly this identifier.
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
                "an identifier must have 1 to \(maximumIdentifier) bytes and no control characters")
        }
        guard !identifier.hasPrefix(applePrefix) else {
            throw CategoryError(
                .invalidIdentifier, at: place,
                "identifiers starting with \(applePrefix) are reserved by Apple: choose another")
        }
    }

    private static func check(title: NotificationContent.Text, at place: String) throws(CategoryError) {
        guard title.isEmpty || title == .localized(key: "", arguments: []) else { return }
        throw CategoryError(.emptyTitle, at: place, "the button has no title: add one")
    }
}

/// Finds repeated identifiers, and those that differ only in case.
private struct KnownIdentifiers {
    private var places: [String: (identifier: String, place: String)] = [:]

    mutating func add(_ identifier: String, at place: String) throws(CategoryError) {
        let folded = identifier.lowercased()
        if let earlier = places[folded] {
            let isSame = earlier.identifier.utf8.elementsEqual(identifier.utf8)
            throw CategoryError(
                .repeatedIdentifier, at: place,
                isSame
                    ? "same identifier as \(earlier.place)"
                    : "differs from \(earlier.place) only in case or spelling, which is significant: choose another")
        }
        places[folded] = (identifier, place)
    }
}

/// An error in declared categories. Errors are equal if their codes are.
public struct CategoryError: CodedError {
    /// The reason for the error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as programs read it, for example `repeated-identifier`.
        public let description: String

        init(_ code: String) { description = code }

        /// The JSON is malformed: a value of the wrong kind, a missing one, or an unknown name.
        package static let malformedCategories = Code("malformed-categories")
        /// An identifier is empty, too long, has control characters, or is reserved by Apple.
        package static let invalidIdentifier = Code("invalid-identifier")
        /// Two categories, or two actions of one, have the same identifier, or identifiers that differ only in case.
        package static let repeatedIdentifier = Code("repeated-identifier")
        /// There are more actions than the system ever shows.
        package static let tooManyActions = Code("too-many-actions")
        /// A button has no title.
        package static let emptyTitle = Code("empty-title")

        /// Every code.
        package static let allCases: [Code] = [
            .malformedCategories, .invalidIdentifier, .repeatedIdentifier, .tooManyActions, .emptyTitle,
        ]
    }

    /// The reason.
    public let code: Code
    /// The place, as a path from the top: `categories[2].actions[0].title`.
    public let place: String
    private let reason: String

    init(_ code: Code, at place: String, _ reason: String) {
        self.code = code
        self.place = place
        self.reason = reason
    }

    /// The place, what is wrong, and what to do.
    public var description: String { "\(place): \(reason)" }
}
