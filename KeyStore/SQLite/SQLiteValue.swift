internal import Pushcrypt

/// One value of a row, as SQLite stores it.
enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(Bytes)
    case blob(Bytes)

    static func text(_ string: String) -> SQLiteValue { .text(Bytes(string.utf8)) }

    static func text(_ string: String?) -> SQLiteValue { string.map { .text($0) } ?? .null }

    static func blob(_ bytes: Bytes?) -> SQLiteValue { bytes.map { .blob($0) } ?? .null }

    /// SQLite has no unsigned integers: the 64 bits are kept, their order is not.
    static func unsigned(_ value: UInt64) -> SQLiteValue { .integer(Int64(bitPattern: value)) }

    static func time(_ time: Timestamp?) -> SQLiteValue { time.map { .unsigned($0.milliseconds) } ?? .null }
}

extension Bytes {
    /// Appends a value so that no two lists of values give the same bytes: its kind, its length, itself.
    mutating func append(_ value: SQLiteValue) {
        switch value {
        case .null: appendNull()
        case .integer(let integer): append(integer: integer)
        case .text(let bytes): append(text: bytes.span)
        case .blob(let bytes): append(blob: bytes.span)
        }
    }

    mutating func appendNull() { append(0) }

    mutating func append(integer: Int64) {
        append(1)
        append(number: UInt64(bitPattern: integer))
    }

    mutating func append(text: Span<UInt8>) {
        append(2)
        append(number: UInt64(text.count))
        append(copying: text)
    }

    mutating func append(blob: Span<UInt8>) {
        append(3)
        append(number: UInt64(blob.count))
        append(copying: blob)
    }

    /// Big-endian; the generic form of another module costs a microsecond a row here.
    private mutating func append(number value: UInt64) {
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
    }
}
