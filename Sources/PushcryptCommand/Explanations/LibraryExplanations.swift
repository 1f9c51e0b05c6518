extension Explanation {
    static let library = [
        Explanation(
            "invalid-call", .library,
            summary: "invalid argument",
            cause: """
                A null pointer, a length that no memory has, a text that does not end or is not UTF-8, a list without a key, a
                structure whose size is not set or that has a member unknown to this version, or a time in seconds.
                """,
            fix: "The message names the argument. Look it up in pushcrypt.h; see Docs/OtherLanguages.md."),
        Explanation(
            "buffer-too-small", .library,
            summary: "the output buffer is too small for the result",
            cause: "The given capacity is less than the length of the result.",
            fix: """
                Call again with the length written to the last argument, or with a capacity of the header that always
                suffices. A payload that is sealed again is a separate message, unless it has a name.
                """),
    ]
}
