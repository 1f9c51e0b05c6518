internal import Pushcrypt

extension Explanation {
    static let json = [
        entry(
            .unexpectedEnd, "the text ends inside a value, or is empty",
            "The text was cut, or the program that writes it failed before its end.", "Send all of it."),
        entry(
            .unexpectedByte, "a byte that JSON does not allow there",
            "Often a comma too many or too few, single quotes, a comment, or a name without quotes.",
            "Fix the text at the byte that the message names, or have a JSON library write it."),
        entry(
            .invalidNumber, "a number that JSON does not have",
            "A leading zero, a plus sign, a point without a digit after it, or a word such as NaN.",
            "Write the number without leading zeros, and with a digit after each sign, point and exponent."),
        entry(
            .invalidEscape, "a backslash that begins no escape of JSON",
            "A path or a regular expression was quoted as it is.",
            "Write the backslash twice, or have a JSON library write the string."),
        entry(
            .invalidUTF8, "a string is not UTF-8",
            "The text is in another encoding, or a string was cut inside a character.",
            "Write the text as UTF-8. Shorten strings between characters, not between bytes."),
        entry(
            .loneSurrogate, "half of a surrogate pair",
            "A string was cut between the two halves of a character, most often an emoji.",
            "Write both halves, or the character itself. Shorten strings between characters."),
        entry(
            .controlCharacter, "a control character in a string, not escaped",
            "A string has a line break or tab as it is.",
            "Write it as an escape, a line break as backslash and n."),
        entry(
            .tooDeep, "nested deeper than 32",
            "More than 32 objects and arrays are inside each other, which no notification needs.",
            "Flatten the payload; look for data that contains itself."),
        entry(
            .duplicateName, "a name appears twice in one object",
            "Two readers would use different values. Templates and concatenated text cause this.",
            "Remove one of the two."),
        entry(
            .trailingBytes, "something follows the value",
            "Two values follow each other, or the text is longer than what was written into its buffer.",
            "Give one value alone."),
        entry(
            .byteOrderMark, "the text begins with a byte order mark",
            "An editor or a shell saved the file with a mark, or as UTF-16.", "Save it as UTF-8 without a mark."),
        entry(
            .tooLarge, "more bytes than are accepted",
            "The input is not a payload, or is a payload with a file in it.",
            "Shorten it; attach files instead of including them."),
    ]

    private static func entry(
        _ code: JSONError.Code, _ summary: String, _ cause: String, _ fix: String
    ) -> Explanation {
        Explanation(code, .json, summary: summary, cause: cause, fix: fix)
    }
}
