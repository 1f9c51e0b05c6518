internal import Pushcrypt

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
