/// An error for bytes that are not a JSON text that the format accepts.
///
/// Neither the error nor its description contains a byte of the text, which may be a private message.
package struct JSONError: CodedError {
    /// The kind of error.
    package enum Code: String, CaseIterable, CustomStringConvertible, Sendable {
        /// The text ends inside a value, or is empty. The offset is the text's length.
        case unexpectedEnd = "unexpected-end"
        /// A byte that the grammar does not allow in its place.
        case unexpectedByte = "unexpected-byte"
        /// A number with a leading zero, or with another character instead of a digit. The offset is that of the
        /// first wrong byte.
        case invalidNumber = "invalid-number"
        /// A backslash that does not start an escape of RFC 8259. The offset is that of the backslash.
        case invalidEscape = "invalid-escape"
        /// A string that is not UTF-8 (RFC 3629). The offset is that of the first byte of the invalid sequence.
        case invalidUTF8 = "invalid-utf8"
        /// A `\u` escape for half of a surrogate pair. The offset is that of its backslash.
        case loneSurrogate = "lone-surrogate"
        /// An unescaped character below U+0020 in a string.
        case controlCharacter = "control-character"
        /// Objects and arrays nested deeper than ``JSONDocument/maximumDepth``. The offset is that of the first bracket
        /// beyond the limit.
        case tooDeep = "too-deep"
        /// The same name twice in one object. The offset is that of the first name that equals an earlier one.
        case duplicateName = "duplicate-name"
        /// Characters other than white space after the value.
        case trailingBytes = "trailing-bytes"
        /// The text starts with a byte order mark, of UTF-8 or UTF-16.
        case byteOrderMark = "byte-order-mark"
        /// More bytes than the caller's limit. The offset is that limit.
        case tooLarge = "too-large"

        /// The code as programs read it, for example `duplicate-name`.
        package var description: String { rawValue }

        fileprivate var advice: String {
            switch self {
            case .unexpectedEnd: "the JSON ends too early: send all of it"
            case .unexpectedByte: "not JSON: correct the byte at this offset"
            case .invalidNumber: "not a JSON number: write it without leading zeros, and a digit after '-', '.' and 'e'"
            case .invalidEscape: "not a JSON escape: use one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"
            case .invalidUTF8: "not UTF-8: encode the JSON as UTF-8"
            case .loneSurrogate: "half a surrogate pair: write both halves, or the character itself"
            case .controlCharacter: "a control character in a string: escape it"
            case .tooDeep:
                "nested too deeply: at most \(JSONDocument.maximumDepth) objects and arrays inside each other"
            case .duplicateName: "a name appears twice in one object: remove one of the two"
            case .trailingBytes: "something follows the JSON value: send one value alone"
            case .byteOrderMark: "a byte order mark: save the JSON as UTF-8 without one"
            case .tooLarge: "the JSON is too large: shorten it"
            }
        }
    }

    /// The kind of error.
    package var code: Code
    /// The offset of the error in bytes, from 0.
    package var offset: Int

    init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// The error, its fix and its place.
    package var description: String { "\(code.advice) (\(code), byte \(offset))" }
}
