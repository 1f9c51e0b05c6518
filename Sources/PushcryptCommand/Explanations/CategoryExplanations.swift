internal import PushcryptReceiver

extension Explanation {
    static let categories = [
        Explanation(
            CategoryError.Code.malformedCategories, .categories,
            summary: "the JSON of the categories breaks its rules",
            cause: "A value is missing or of another kind, or a name was mistyped: nothing is ignored.",
            fix: "The message names the place. The names are Apple's, in Swift's spelling."),
        Explanation(
            CategoryError.Code.invalidIdentifier, .categories,
            summary: "an identifier that is empty, too long or Apple's",
            cause: "It does not have 1 to 255 bytes, has a control character, or begins with com.apple.",
            fix: "Choose another. A payload names a category in aps.category, byte for byte."),
        Explanation(
            CategoryError.Code.repeatedIdentifier, .categories,
            summary: "two categories, or two actions of one, with one identifier",
            cause: """
                The system keeps the last of two. Two that differ only in case are different to it, and nearly always a
                typo.
                """,
            fix: "Rename one. An action may have the identifier of an action in another category."),
        Explanation(
            CategoryError.Code.tooManyActions, .categories,
            summary: "more than the 10 actions that the system shows",
            cause: "A list of everything that could be done.",
            fix: "Keep the most important ones. Where there is little room the system shows two."),
        Explanation(
            CategoryError.Code.emptyTitle, .categories,
            summary: "a button without a title",
            cause: "The title is empty, or the key of a localised one is.",
            fix: "Give it one."),
    ]
}
