/// Bytes that are not secret. `ContiguousArray`, because its spans exist on every system the package supports.
package typealias Bytes = ContiguousArray<UInt8>

extension ContiguousArray where Element == UInt8 {
    package init(copying span: Span<UInt8>) {
        self.init()
        reserveCapacity(span.count)
        append(copying: span)
    }

    package mutating func append(copying span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    package mutating func append(_ label: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount))
    }

    package mutating func append(bigEndian value: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
    }

    /// Lower-case hexadecimal digits.
    package var hex: String { span.hex }
}

extension Span where Element == UInt8 {
    /// Reads an unsigned big-endian integer at `offset`, which the caller has checked.
    func bigEndian<T: FixedWidthInteger>(at offset: Int, as type: T.Type = T.self) -> T {
        var value: T = 0
        for index in offset..<offset + T.bitWidth / 8 { value = value << 8 | T(truncatingIfNeeded: self[index]) }
        return value
    }

    /// Lower-case hexadecimal digits.
    package var hex: String {
        let digits: StaticString = "0123456789abcdef"
        var text = Bytes()
        text.reserveCapacity(count * 2)
        for index in indices {
            unsafe text.append(digits.utf8Start[Int(self[index] >> 4)])
            unsafe text.append(digits.utf8Start[Int(self[index] & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension ContiguousArray where Element == UInt8 {
    /// Reads an even number of lower-case hexadecimal digits; returns nil for anything else.
    package init?(lowerCaseHex text: String) {
        func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        let digits = ContiguousArray(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self.init()
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            append(high << 4 | low)
        }
    }
}

// MARK: Characters of codes

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// Whether the byte is an ASCII letter or digit.
    package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether the byte may be in a code: a lower-case letter, a digit or a hyphen.
    package var isOfCode: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// Whether the byte is a character of base64url.
    package var isOfBase64URL: Bool { isLetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
}
