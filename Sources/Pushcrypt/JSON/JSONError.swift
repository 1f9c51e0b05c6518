/// An error for bytes that are not a JSON text that the format accepts.
///
/// Neither the error nor its description contains a byte of the text, which may be a private message.
package struct JSONError: CodedError {
    /// The kind of error.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String, CaseIterable {
            case unexpectedEnd = "unexpected-end"
            case unexpectedByte = "unexpected-byte"
            case invalidNumber = "invalid-number"
            case invalidEscape = "invalid-escape"
            case invalidUTF8 = "invalid-utf8"
            case loneSurrogate = "lone-surrogate"
            case controlCharacter = "control-character"
            case tooDeep = "too-deep"
            case duplicateName = "duplicate-name"
            case trailingBytes = "trailing-bytes"
            case byteOrderMark = "byte-order-mark"
            case tooLarge = "too-large"
        }

        private let value: Value

        /// The text ends inside a value, or is empty. The offset is the text's length.
        package static let unexpectedEnd = Code(value: .unexpectedEnd)
        /// A byte that the grammar does not allow in its place.
        package static let unexpectedByte = Code(value: .unexpectedByte)
        /// A number with a leading zero, or with another character instead of a digit. The offset is that of the
        /// first wrong byte.
        package static let invalidNumber = Code(value: .invalidNumber)
        /// A backslash that does not start an escape of RFC 8259. The offset is that of the backslash.
        package static let invalidEscape = Code(value: .invalidEscape)
        /// A string that is not UTF-8 (RFC 3629). The offset is that of the first byte of the invalid sequence.
        package static let invalidUTF8 = Code(value: .invalidUTF8)
        /// A `\u` escape for half of a surrogate pair. The offset is that of its backslash.
        package static let loneSurrogate = Code(value: .loneSurrogate)
        /// An unescaped character below U+0020 in a string.
        package static let controlCharacter = Code(value: .controlCharacter)
        /// Objects and arrays nested deeper than ``JSONDocument/maximumDepth``. The offset is that of the first bracket
        /// beyond the limit.
        package static let tooDeep = Code(value: .tooDeep)
        /// The same name twice in one object. The offset is that of the first name that equals an earlier one.
        package static let duplicateName = Code(value: .duplicateName)
        /// Characters other than white space after the value.
        package static let trailingBytes = Code(value: .trailingBytes)
        /// The text starts with a byte order mark, of UTF-8 or UTF-16.
        package static let byteOrderMark = Code(value: .byteOrderMark)
        /// More bytes than the caller's limit. The offset is that limit.
        package static let tooLarge = Code(value: .tooLarge)

        /// Every code.
        package static var allCases: [Code] { Value.allCases.map(Code.init(value:)) }

        /// The code as programs read it, for example `duplicate-name`.
        package var description: String { value.rawValue }

        fileprivate var advice: String {
            switch value {
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
