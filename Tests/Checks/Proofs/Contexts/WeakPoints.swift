/// Points that honest programs do not make, from RFC 7748, RFC 8032 and the curve's equation.
enum WeakPoints {
    // MARK: X25519

    /// The u-coordinates that give zero, in every encoding of 32 bytes: the five of rule K-8, p and p + 1, which are 0 and 1 once
    /// more, and all of these with bit 255 set, which X25519 does not look at.
    static let zeroShares: [[UInt8]] = {
        let five = [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ].map(bytes(hex:))
        let seven = five + [aboveP(0), aboveP(1)]
        return seven + seven.map(\.withTopBit)
    }()

    /// Encodings of ordinary points that are not canonical: p + 2 to p + 18, these with bit 255 set, and a given point with bit 255 set.
    static func otherShares(of ordinary: [UInt8]) -> [[UInt8]] {
        let above = (2...18).map(aboveP)
        return above + above.map(\.withTopBit) + [ordinary.withTopBit]
    }

    // MARK: Ed25519

    /// The eight points whose order divides 8: the multiples of one of order 8.
    static let torsion: [[UInt8]] = {
        let generator = bytes(hex: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
        var points = [identity]
        while points.count < 8, let next = Primitives.add(points[points.count - 1], generator) { points.append(next) }
        return points
    }()

    static let identity: [UInt8] = [1] + [UInt8](repeating: 0, count: 31)

    /// Every encoding with a y of p or above, and the two of x = 0 with the wrong sign.
    static let notCanonical: [[UInt8]] = {
        let above = (0...18).map(aboveP)
        return above + above.map(\.withTopBit) + [identity.withTopBit, aboveP(-1).withTopBit]
    }()

    /// A point of prime order and each point of small order but the identity: orders 2L, 4L and 8L.
    static func mixed(with point: [UInt8]) -> [[UInt8]] {
        torsion.dropFirst().compactMap { Primitives.add(point, $0) }
    }

    /// Canonical encodings of no point at all.
    static func notOnCurve(_ count: Int, _ numbers: inout Numbers) -> [[UInt8]] {
        var found: [[UInt8]] = []
        while found.count < count {
            var candidate = numbers.bytes(32)
            candidate[31] &= 0x3f
            if Primitives.add(candidate, identity) == nil { found.append(candidate) }
        }
        return found
    }

    // MARK: Bytes

    /// p + k for p = 2^255 - 19 and k of -237…18, little-endian.
    private static func aboveP(_ k: Int) -> [UInt8] {
        [UInt8(0xed + k)] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
    }

    static func bytes(hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map {
            $0 <= UInt8(ascii: "9") ? $0 - UInt8(ascii: "0") : $0 - UInt8(ascii: "a") + 10
        }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension [UInt8] {
    fileprivate var withTopBit: [UInt8] {
        var bytes = self
        bytes[31] |= 0x80
        return bytes
    }
}
