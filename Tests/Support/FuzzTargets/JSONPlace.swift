internal import Pushcrypt

/// The token at an offset of a text that SQLite's reader has accepted; written apart from the product's reader.
struct JSONPlace {
    /// How many objects and arrays are open there.
    private(set) var depth = 0
    /// Whether an object or an array begins there.
    let opens: Bool
    /// Whether a name of an object would have to stand there.
    private(set) var isForName = false
    /// Whether a half of a surrogate pair stands there, as an escape, without its other half.
    let isHalfOfNoPair: Bool

    init(_ offset: Int, in text: Bytes) {
        let byte = offset < text.count ? text[offset] : 0
        opens = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
        isHalfOfNoPair = Self.isHalfOfNoPair(offset, in: text)
        var (open, last, isInString, isEscaped) = (Bytes(), UInt8(0), false, false)
        for byte in text.prefix(offset) {
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(byte)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): open.removeLast()
            case 0x09, 0x0a, 0x0d, 0x20: continue
            default: break
            }
            last = byte
        }
        depth = open.count
        isForName = open.last == UInt8(ascii: "{") && (last == UInt8(ascii: "{") || last == UInt8(ascii: ","))
    }

    private static func isHalfOfNoPair(_ offset: Int, in text: Bytes) -> Bool {
        guard let half = escaped(at: offset, in: text) else { return false }
        let (before, after) = (escaped(at: offset - 6, in: text) ?? 0, escaped(at: offset + 6, in: text) ?? 0)
        return isHigh(half) && !isLow(after) || isLow(half) && !isHigh(before)
    }

    private static func isHigh(_ unit: UInt16) -> Bool { 0xd800..<0xdc00 ~= unit }

    private static func isLow(_ unit: UInt16) -> Bool { 0xdc00..<0xe000 ~= unit }

    /// The code unit that the escape at an offset says: `\u` and four digits, after an even number of backslashes.
    private static func escaped(at offset: Int, in text: Bytes) -> UInt16? {
        guard offset >= 0, offset + 6 <= text.count, text[offset] == UInt8(ascii: "\\"),
            text[offset + 1] == UInt8(ascii: "u")
        else { return nil }
        guard text[..<offset].reversed().prefix(while: { $0 == UInt8(ascii: "\\") }).count.isMultiple(of: 2) else {
            return nil
        }
        return UInt16(String(decoding: text[offset + 2..<offset + 6], as: UTF8.self), radix: 16)
    }
}
