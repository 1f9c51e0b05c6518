internal import PushcryptReceiver

extension Explanation {
    static let categories = [
        Explanation(
            CategoryError.Code.malformedCategories, .categories,
            summary: "the JSON of the categories is not as it must be",
            cause: "A value is of another kind or missing, or a name was mistyped: nothing is passed over.",
            fix: "The message names the place. The names are Apple's, in Swift's spelling.",
            shown: notRegistered),
        Explanation(
            CategoryError.Code.invalidIdentifier, .categories,
            summary: "an identifier that is empty, too long or Apple's",
            cause: "It has not 1 to 255 bytes, has a control character, or begins with com.apple.",
            fix: "Choose another. A payload names a category in aps.category, byte for byte.",
            shown: notRegistered),
        Explanation(
            CategoryError.Code.repeatedIdentifier, .categories,
            summary: "two categories, or two actions of one, with one identifier",
            cause: """
                The system keeps the last of two with the same identifier. Two that differ in the case of letters only are two for
                the system, and nearly always a slip.
                """,
            fix: "Rename one. An action may have the identifier of an action in another category.",
            shown: notRegistered),
        Explanation(
            CategoryError.Code.tooManyActions, .categories,
            summary: "more than the 10 actions that the system shows",
            cause: "A list of everything that could be done.",
            fix: "Keep the most important ones. Where there is little room the system shows two.",
            shown: notRegistered),
        Explanation(
            CategoryError.Code.emptyTitle, .categories,
            summary: "a button without a title",
            cause: "The title is empty, or the key of a localised one is.",
            fix: "Give it one.",
            shown: notRegistered),
    ]

    private static let notRegistered =
        "The developer sees it before anybody else: nothing was registered, and notifications have no actions."
}
