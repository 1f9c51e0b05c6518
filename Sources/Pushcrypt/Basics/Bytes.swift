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

// MARK: Characters of names and codes

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
}

extension Unicode.Scalar {
    /// Whether this is an ASCII or Latin-1 control character.
    package var isControl: Bool { value < 0x20 || (0x7f...0x9f).contains(value) }
}
