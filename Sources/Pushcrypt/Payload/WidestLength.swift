/// The length of JSON in the widest form that a sender's client may re-encode it to.
///
/// Clients parse a payload and write it again: with spaces after separators, non-ASCII as `\uXXXX`, `/` as `\/`, and
/// characters that mean something to HTML, quotes among them, as `\u00XX`. What is measured against Apple's limit takes
/// the widest of all of these for each character. (`Docs/Format.md`, Size)
enum WidestLength {
    /// The widest length of valid, minified JSON.
    static func of(_ json: Span<UInt8>) -> Int {
        var length = 0
        var isInString = false
        var index = 0
        while index < json.count {
            let byte = json[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                isInString.toggle()
                length += 1
            case UInt8(ascii: "\\"):
                // Some write every escape as \u00XX; the digits of one that is written so count as themselves.
                let isUnicode = index < json.count && json[index] == UInt8(ascii: "u")
                index += 1
                length += isUnicode ? 2 : 6
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                length += isInString ? 1 : 2
            case UInt8(ascii: "/"):
                length += 2
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "+"),
                UInt8(ascii: "`"), UInt8(ascii: "="), 0x7f:
                length += 6
            case 0x80..<0xc0:
                break  // counted with the first byte
            case 0xc0..<0xf0:
                length += 6
            case 0xf0...:
                length += 12  // two surrogates
            default:
                length += 1
            }
        }
        return length
    }
}
