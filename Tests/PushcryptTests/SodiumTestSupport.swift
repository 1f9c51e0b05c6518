import Testing

@testable import Pushcrypt

/// Bytes written as hexadecimal digits, in a test or in a file of vectors.
struct Hex: Hashable, Sendable {
    let bytes: Bytes

    /// Reads pairs of digits; nil for anything else.
    init?(_ text: String) {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Bytes()
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        self.bytes = bytes
    }
}

extension Hex: ExpressibleByStringLiteral {
    /// In a test, digits may be broken by spaces and new lines.
    init(stringLiteral text: String) {
        guard let hex = Hex(text.filter { !$0.isWhitespace }) else {
            preconditionFailure("a test holds text that is not hexadecimal: \(text)")
        }
        self = hex
    }
}

extension Hex: Decodable {
    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let hex = Hex(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not hexadecimal digits: \(text)"))
        }
        self = hex
    }
}

extension Hex: CustomStringConvertible {
    var description: String { bytes.isEmpty ? "(empty)" : bytes.hex }
}

extension Ephemeral {
    /// A copy, which only a test may take.
    var bytes: Bytes { withSpan { Bytes(copying: $0) } }
}

extension SecretBytes {
    /// A copy, which only a test may take.
    var bytes: Bytes { withSpan { Bytes(copying: $0) } }
}

extension Bytes {
    init(hex: Hex) { self = hex.bytes }

    /// Every array that differs from this one in one bit.
    var withEachBitFlipped: [Bytes] {
        (0..<count * 8).map { bit in
            var copy = self
            copy[bit / 8] ^= 1 << UInt8(bit % 8)
            return copy
        }
    }
}

/// The points of small order on Curve25519 and its twist, in every encoding of 32 bytes: for each of 0, 1, the two of
/// order 8 and p - 1, the value, the value + p if that is below 2^255, and each of those with bit 255 set.
let smallOrderX25519Points: [Hex] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]

extension HMACSHA256 {
    /// Returns the tag.
    consuming func finishPublic() -> Bytes { withTag { Bytes(copying: $0) } }
}
