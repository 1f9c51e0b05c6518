import Pushcrypt

/// Splits an input: a target's decisions come first, one after another. An input that ends early has
/// decided 0.
struct Choices {
    private let bytes: Bytes
    private var position = 0

    init(_ bytes: Bytes) { self.bytes = bytes }

    var isEmpty: Bool { position >= bytes.count }

    mutating func byte() -> UInt8 {
        guard position < bytes.count else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    /// A number below `count`.
    mutating func number(below count: Int) -> Int { Int(byte()) % count }

    mutating func integer<T: FixedWidthInteger>(_: T.Type = T.self) -> T {
        var value: T = 0
        for _ in 0..<T.bitWidth / 8 { value = value << 8 | T(truncatingIfNeeded: byte()) }
        return value
    }

    /// The next `count` bytes, zeros where the input has ended.
    mutating func bytes(_ count: Int) -> Bytes { Bytes((0..<count).map { _ in byte() }) }

    /// All that is left.
    mutating func rest() -> Bytes {
        defer { position = bytes.count }
        return Bytes(bytes.dropFirst(position))
    }
}
