internal import Pushcrypt

/// The format's rules for a sender's public key (`Docs/Format.md`, Keys as text), as numbers in hexadecimal digits.
enum Ed25519Point {
    /// 2^255 - 19.
    private static let prime = "7" + String(repeating: "f", count: 61) + "ed"
    /// The y-coordinates of small order.
    private static let small: Set = [
        String(repeating: "0", count: 64), String(repeating: "0", count: 63) + "1",
        "7" + String(repeating: "f", count: 61) + "ec",
        "05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826",
        "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7",
    ]

    /// Whether these bytes are the one encoding of a y-coordinate that is not of small order.
    static func isUsable(_ bytes: Bytes) -> Bool {
        guard bytes.count == 32 else { return false }
        var digits = Bytes(bytes.reversed())
        digits[0] &= 0x7f
        return digits.hex < prime && !small.contains(digits.hex)
    }
}
