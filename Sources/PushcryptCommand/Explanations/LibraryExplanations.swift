extension Explanation {
    static let library = [
        Explanation(
            "invalid-call", .library,
            summary: "an argument of the call cannot be",
            cause: """
                A null pointer, a length that no memory has, a text without an end or not in UTF-8, a list without a key, a
                structure whose size is not set or of a member that this version does not know, a time in seconds.
                """,
            fix: "The message names the argument. Look it up in pushcrypt.h, which Docs/OtherLanguages.md leads to.",
            shown: callerOnly),
        Explanation(
            "buffer-too-small", .library,
            summary: "the output has not room for the result",
            cause: "The capacity that was given is less than the result is long.",
            fix: """
                Call again with the length that was written to the last argument, or bring as much as always suffices; the
                header has both capacities. A payload that is sealed again is a message of its own, unless it has a name.
                """,
            shown: callerOnly),
    ]

    private static let callerOnly =
        "The program that called sees it, and nobody else. Nothing was written to the output."
}
