import Pushcrypt

/// The text of a key as BIP-173 says it, written apart from the product so that inputs get past the checksum.
enum KeyText {
    private static let alphabet = Bytes("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let generators: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]

    /// A prefix, five bits for each symbol, and the checksum that belongs to them.
    static func text(_ prefix: String, symbols: Bytes) -> Bytes {
        let lower = Bytes(prefix.lowercased().utf8)
        let expanded = lower.map { $0 >> 5 } + [0] + lower.map { $0 & 31 }
        let sum = polymod(Bytes(expanded) + symbols + Bytes(repeating: 0, count: 6)) ^ 1
        let checksum = (0..<6).map { UInt8(truncatingIfNeeded: sum >> UInt32(5 * (5 - $0))) & 31 }
        let letters = (symbols + checksum).map { alphabet[Int($0)] }
        let text = String(decoding: lower + [UInt8(ascii: "1")] + letters, as: UTF8.self)
        return Bytes((prefix == prefix.uppercased() ? text.uppercased() : text).utf8)
    }

    /// Eight bits a byte as five bits a symbol, zeros at the end.
    static func symbols(of bytes: Bytes) -> Bytes {
        let bits = bytes.flatMap { byte in (0..<8).map { byte >> UInt8(7 - $0) & 1 } }
        return Bytes(
            stride(from: 0, to: bits.count, by: 5).map { start in
                (0..<5).reduce(0) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) }
            })
    }

    /// The bytes that the text of a key stands for, whose form somebody else has checked.
    static func bytes(of text: Bytes) -> Bytes {
        let symbols =
            text.filter { $0 > 0x20 }.map { $0 | ($0 < 0x40 ? 0 : 0x20) }.split(separator: UInt8(ascii: "1")).last ?? []
        let bits = symbols.dropLast(6).flatMap { letter in
            let symbol = alphabet.firstIndex(of: letter) ?? 0
            return (0..<5).map { UInt8(symbol >> (4 - $0) & 1) }
        }
        return Bytes(
            stride(from: 0, through: bits.count - 8, by: 8).map { start in
                bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
            })
    }

    private static func polymod(_ values: Bytes) -> UInt32 {
        values.reduce(1) { state, value in
            let next = (state & 0x1ff_ffff) << 5 ^ UInt32(value)
            return generators.indices.reduce(next) { (state >> 25) >> UInt32($1) & 1 == 1 ? $0 ^ generators[$1] : $0 }
        }
    }
}
