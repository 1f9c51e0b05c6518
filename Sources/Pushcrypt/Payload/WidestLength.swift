/// The length of JSON in the widest form that a sender's client may re-encode it to.
///
/// Clients parse a payload and write it again: with spaces after separators (Python), non-ASCII as `\uXXXX` (Python, PHP,
/// .NET), `/` as `\/` (PHP), or `<`, `>`, `&` (Go), `'`, `=` (Gson), `+`, `` ` `` and even `\"` (.NET) as `\u00XX`. What is
/// measured against Apple's limit is the sum of all of these. (`Docs/Format.md`, Size)
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
                // An escape and the character after it; the digits of \uXXXX count as themselves, any other may become one.
                length += index < json.count && json[index] == UInt8(ascii: "u") ? 2 : 6
                index += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                length += isInString ? 1 : 2
            case UInt8(ascii: "/"):
                length += 2
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "="),
                UInt8(ascii: "+"), UInt8(ascii: "`"), 0x7f:
                // The plus of an exponent counts too much, which is on the safe side.
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
