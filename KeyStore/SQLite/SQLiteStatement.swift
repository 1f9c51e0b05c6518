internal import CSQLite
internal import Pushcrypt

/// A value of a row, as SQLite stores it.
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
    /// Appends a value so that different lists of values give different bytes: its kind, its length, then itself.
    mutating func append(_ value: SQLiteValue) {
        switch value {
        case .null: append(0)
        case .integer(let integer):
            append(1)
            append(number: UInt64(bitPattern: integer))
        case .text(let bytes):
            append(2)
            append(number: UInt64(bytes.count))
            append(contentsOf: bytes)
        case .blob(let bytes):
            append(3)
            append(number: UInt64(bytes.count))
            append(contentsOf: bytes)
        }
    }

    /// Appends big-endian; the generic form in another module costs a microsecond per row here.
    private mutating func append(number value: UInt64) {
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
    }
}

/// A prepared statement: values in, rows out.
@safe
struct SQLiteStatement {
    private let handle: OpaquePointer

    /// `SQLITE_TRANSIENT`, which the C header casts from -1: SQLite makes a copy at once.
    private static var copying: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    /// Sets every parameter; returns the result code of the first that fails.
    func bind(_ values: [SQLiteValue]) -> Int32 {
        precondition(values.count == Int(unsafe sqlite3_bind_parameter_count(handle)), "a parameter without a value")
        var index: Int32 = 0
        for value in values {
            index += 1
            let code =
                switch value {
                case .null: unsafe sqlite3_bind_null(handle, index)
                case .integer(let integer): unsafe sqlite3_bind_int64(handle, index, integer)
                case .text(let bytes): bind(bytes, at: index, isText: true)
                case .blob(let bytes): bind(bytes, at: index, isText: false)
                }
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    private func bind(_ bytes: Bytes, at index: Int32, isText: Bool) -> Int32 {
        unsafe bytes.withUnsafeBytes { buffer in
            // A null pointer would mean NULL, which is different from an empty value.
            guard !bytes.isEmpty, let base = buffer.baseAddress else {
                return isText
                    ? unsafe sqlite3_bind_text(handle, index, "", 0, nil)
                    : unsafe sqlite3_bind_zeroblob(handle, index, 0)
            }
            let count = UInt64(buffer.count)
            return isText
                ? unsafe sqlite3_bind_text64(
                    handle, index, unsafe base.assumingMemoryBound(to: CChar.self), count, Self.copying,
                    UInt8(SQLITE_UTF8))
                : unsafe sqlite3_bind_blob64(handle, index, base, count, Self.copying)
        }
    }

    func step() -> Int32 { unsafe sqlite3_step(handle) }

    /// The row reached by `step`.
    var row: SQLiteRow { unsafe SQLiteRow(of: handle) }

    /// Ends the run, releases its locks and forgets the values.
    func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    func finalize() { unsafe sqlite3_finalize(handle) }
}

/// The current row of a statement, read in SQLite's memory; valid until the statement's next step.
@safe
struct SQLiteRow {
    private let handle: OpaquePointer

    /// Creates the current row of a statement that has just returned one.
    init(of handle: OpaquePointer) { unsafe self.handle = handle }

    var count: Int { Int(unsafe sqlite3_column_count(handle)) }

    /// Returns a value; a floating-point number, which no table here has, is null.
    subscript(_ column: Int) -> SQLiteValue {
        switch kind(of: column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_TEXT: .text(Bytes(self, column))
        case SQLITE_BLOB: .blob(Bytes(self, column))
        default: .null
        }
    }

    func isNull(_ column: Int) -> Bool {
        let kind = kind(of: column)
        return kind != SQLITE_INTEGER && kind != SQLITE_TEXT && kind != SQLITE_BLOB
    }

    func isInteger(_ column: Int) -> Bool { kind(of: column) == SQLITE_INTEGER }
    func isText(_ column: Int) -> Bool { kind(of: column) == SQLITE_TEXT }
    func isBlob(_ column: Int) -> Bool { kind(of: column) == SQLITE_BLOB }

    func integer(_ column: Int) -> Int64 { unsafe sqlite3_column_int64(handle, Int32(truncatingIfNeeded: column)) }

    /// Calls `body` with the bytes of a text or blob; for text in a UTF-8 database, `sqlite3_column_blob` returns them
    /// as stored.
    func withBytes<R>(_ column: Int, _ body: (Span<UInt8>) -> R) -> R {
        let column = Int32(truncatingIfNeeded: column)
        guard let base = unsafe sqlite3_column_blob(handle, column) else { return body(Span()) }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        let bytes = unsafe UnsafeBufferPointer(start: base.assumingMemoryBound(to: UInt8.self), count: count)
        return body(unsafe bytes.span)
    }

    private func kind(of column: Int) -> Int32 {
        unsafe sqlite3_column_type(handle, Int32(truncatingIfNeeded: column))
    }
}

extension Bytes {
    init(_ row: SQLiteRow, _ column: Int) { self = row.withBytes(column) { Bytes(copying: $0) } }
}
