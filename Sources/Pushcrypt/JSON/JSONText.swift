/// The lexical parts of JSON text: white space, UTF-8 sequences, escapes.
package enum JSONText {
    /// Whether the byte is a space, tab, line feed or carriage return (RFC 8259, section 2).
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Skips plain ASCII from `start` on: returns the place of the first control character, quote, backslash or byte
    /// above 0x7F, or the end of the text.
    ///
    /// Checks eight bytes at once, and before that 32: most of a received push is the text of its envelope.
    static func endOfPlainText(in bytes: ContiguousArray<UInt8>, from start: Int) -> Int {
        let text = bytes.span
        var position = start
        while text.count - position >= blockLength, isPlain(text.extracting(position..<position + blockLength)) {
            position += blockLength
        }
        while text.count - position >= 8 {
            let word = unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
            let special = specialBytes(in: UInt64(littleEndian: word))
            guard special == 0 else { return position + special.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < text.count, isPlain(text[position]) { position += 1 }
        return position
    }

    private static let blockLength = 32

    /// A loop without an early exit compiles to vector instructions.
    private static func isPlain(_ block: Span<UInt8>) -> Bool {
        var special: UInt8 = 0
        for index in block.indices {
            let byte = block[index]
            // Sets bit 7 for every byte that is not plain, without a comparison or branch.
            special |= byte | byte &- 0x20
            special |= (byte ^ UInt8(ascii: "\"")) &- 1
            special |= (byte ^ UInt8(ascii: "\\")) &- 1
        }
        return special < 0x80
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x80).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Returns a word whose lowest set bit is in the lowest byte that is not plain; 0 if all eight are plain.
    private static func specialBytes(in word: UInt64) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ each &* UInt64(UInt8(ascii: "\""))
        let backslashes = word ^ each &* UInt64(UInt8(ascii: "\\"))
        // A subtraction sets bit 7 of the bytes that are too small for it, and borrows only from the bytes above those.
        let small = (word &- each &* 0x20) | (quotes &- each) | (backslashes &- each)
        return (small | word) & (each &* 0x80)
    }

    /// Returns the end of the UTF-8 sequence at `start`, whose first byte is above 0x7F (RFC 3629, section 4).
    ///
    /// Overlong forms, surrogates and values above U+10FFFF are recognized by their second byte.
    static func endOfSequence(in bytes: ContiguousArray<UInt8>, at start: Int) throws(JSONError) -> Int {
        let length: Int
        let second: ClosedRange<UInt8>
        switch bytes[start] {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw JSONError(.invalidUTF8, at: start)
        }
        for index in start + 1..<start + length {
            guard index < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
            let allowed = index == start + 1 ? second : 0x80...0xBF
            guard allowed.contains(bytes[index]) else { throw JSONError(.invalidUTF8, at: start) }
        }
        return start + length
    }

    /// Returns the character of the escape at `start`, and the end of the escape. A surrogate pair counts as one
    /// escape.
    static func escape(
        in bytes: ContiguousArray<UInt8>, at start: Int
    ) throws(JSONError) -> (scalar: UInt32, end: Int) {
        guard start + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        switch bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return (UInt32(bytes[start + 1]), start + 2)
        case UInt8(ascii: "b"): return (0x08, start + 2)
        case UInt8(ascii: "f"): return (0x0C, start + 2)
        case UInt8(ascii: "n"): return (0x0A, start + 2)
        case UInt8(ascii: "r"): return (0x0D, start + 2)
        case UInt8(ascii: "t"): return (0x09, start + 2)
        case UInt8(ascii: "u"): break
        default: throw JSONError(.invalidEscape, at: start)
        }
        let unit = try codeUnit(in: bytes, at: start)
        switch unit {
        case 0xD800..<0xDC00:
            let low = start + 6
            guard low < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
            guard bytes[low] == UInt8(ascii: "\\") else { throw JSONError(.loneSurrogate, at: start) }
            guard low + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
            guard bytes[low + 1] == UInt8(ascii: "u") else { throw JSONError(.loneSurrogate, at: start) }
            let lowUnit = try codeUnit(in: bytes, at: low)
            guard (0xDC00..<0xE000).contains(lowUnit) else { throw JSONError(.loneSurrogate, at: start) }
            return (0x10000 + ((unit - 0xD800) << 10) + (lowUnit - 0xDC00), low + 6)
        case 0xDC00..<0xE000: throw JSONError(.loneSurrogate, at: start)
        default: return (unit, start + 6)
        }
    }

    /// Returns the value of the four hexadecimal digits of the `\u` escape at `start`.
    private static func codeUnit(in bytes: ContiguousArray<UInt8>, at start: Int) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for index in start + 2..<start + 6 {
            guard index < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
            let digit: UInt8
            switch bytes[index] {
            case let byte where UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte: digit = byte - UInt8(ascii: "0")
            case let byte where UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte: digit = byte - UInt8(ascii: "a") + 10
            case let byte where UInt8(ascii: "A")...UInt8(ascii: "F") ~= byte: digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONError(.invalidEscape, at: start)
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}

/// Comparisons of checked JSON strings after unescaping. Few strings have an escape, and most differ in their first bytes.
extension JSONText {
    /// Returns whether two strings of a text, without their quotes, are equal.
    static func areEqual(_ left: Range<Int>, _ right: Range<Int>, in bytes: ContiguousArray<UInt8>) -> Bool {
        let text = bytes.span
        var (i, j) = (left.lowerBound, right.lowerBound)
        while i < left.upperBound, j < right.upperBound, text[i] == text[j], text[i] != UInt8(ascii: "\\") {
            i += 1
            j += 1
        }
        if i == left.upperBound || j == right.upperBound { return i == left.upperBound && j == right.upperBound }
        guard text[i] == UInt8(ascii: "\\") || text[j] == UInt8(ascii: "\\") else { return false }
        return JSONUnescaped(bytes, in: i..<left.upperBound).elementsEqual(
            JSONUnescaped(bytes, in: j..<right.upperBound))
    }

    /// Returns whether a string of a text, without its quotes, is equal to `other`.
    static func isEqual(_ string: Range<Int>, in bytes: ContiguousArray<UInt8>, to other: Span<UInt8>) -> Bool {
        let text = bytes.span
        var count = 0
        while count < string.count, text[string.lowerBound + count] != UInt8(ascii: "\\") {
            guard count < other.count, text[string.lowerBound + count] == other[count] else { return false }
            count += 1
        }
        if count == string.count { return count == other.count }
        var rest = JSONUnescaped(bytes, in: string.lowerBound + count..<string.upperBound)
        while let byte = rest.next() {
            guard count < other.count, byte == other[count] else { return false }
            count += 1
        }
        return count == other.count
    }
}

/// The unescaped UTF-8 bytes of a checked JSON string, one at a time, so that comparing needs no copy.
struct JSONUnescaped: Sequence, IteratorProtocol {
    private let bytes: ContiguousArray<UInt8>
    private var position: Int
    private let end: Int
    /// The remaining bytes of an escaped character, the next one lowest. Continuation bytes are never zero.
    private var pending: UInt32 = 0

    init(_ bytes: ContiguousArray<UInt8>, in characters: Range<Int>) {
        self.bytes = bytes
        position = characters.lowerBound
        end = characters.upperBound
    }

    mutating func next() -> UInt8? {
        if pending != 0 {
            defer { pending >>= 8 }
            return UInt8(truncatingIfNeeded: pending)
        }
        guard position < end else { return nil }
        let byte = bytes[position]
        // The parser has checked every escape, so this cannot fail.
        guard byte == UInt8(ascii: "\\"), let escape = try? JSONText.escape(in: bytes, at: position) else {
            position += 1
            return byte
        }
        position = escape.end
        let scalar = escape.scalar
        func continuation(_ shift: UInt32) -> UInt32 { 0x80 | scalar >> shift & 0x3F }
        switch scalar {
        case ..<0x80:
            return UInt8(truncatingIfNeeded: scalar)
        case ..<0x800:
            pending = continuation(0)
            return UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
        case ..<0x10000:
            pending = continuation(0) << 8 | continuation(6)
            return UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
        default:
            pending = continuation(0) << 16 | continuation(6) << 8 | continuation(12)
            return UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
        }
    }
}

extension JSONText {
    /// The length of valid, minified JSON in the longest form that a provider's client may re-encode it to, in bytes.
    ///
    /// Clients parse a payload and write it again: with spaces after separators (Python), non-ASCII as `\uXXXX`
    /// (Python, PHP, .NET), `/` as `\/` (PHP), or `<`, `>`, `&` (Go), `'`, `=` (Gson), `+`, `` ` `` and even `\"`
    /// (.NET) as `\u00XX`. The sum of all of these is measured against Apple's limit. (`Docs/Format.md`, Size)
    package static func maximumReencodedLength(of json: Span<UInt8>) -> Int {
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
                // An escape and the character after it. The digits of \uXXXX are counted as characters; any other
                // escape may become \uXXXX.
                length += index < json.count && json[index] == UInt8(ascii: "u") ? 2 : 6
                index += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                length += isInString ? 1 : 2
            case UInt8(ascii: "/"):
                length += 2
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "="),
                UInt8(ascii: "+"), UInt8(ascii: "`"), 0x7f:
                // The plus sign of an exponent counts too much, which is safe.
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
