// The characters that names and codes are made of.

extension UInt8 {
    /// Whether it is a letter or a digit of ASCII.
    package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether codes have it: a small letter, a digit or a hyphen.
    package var isOfCode: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character, of ASCII or of Latin-1.
    package var isControl: Bool { value < 0x20 || (0x7f...0x9f).contains(value) }
}
