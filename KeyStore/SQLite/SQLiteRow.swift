internal import CSQLite
internal import Pushcrypt

/// The row that a statement has reached, read where SQLite keeps it: gone with the statement's next step.
@safe
struct SQLiteRow {
    private let handle: OpaquePointer

    /// A row of a statement that has just given one.
    init(of handle: OpaquePointer) { unsafe self.handle = handle }

    var count: Int { Int(unsafe sqlite3_column_count(handle)) }

    /// A value; a floating-point number, which no table here has, is null.
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

    /// The bytes of text or of a blob: for text in a database of UTF-8, `sqlite3_column_blob` gives them as they lie.
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

    /// Appends a column as `append(_: SQLiteValue)` appends its value.
    mutating func append(_ row: SQLiteRow, _ column: Int) {
        if row.isText(column) {
            row.withBytes(column) { append(text: $0) }
        } else if row.isBlob(column) {
            row.withBytes(column) { append(blob: $0) }
        } else if row.isInteger(column) {
            append(integer: row.integer(column))
        } else {
            appendNull()
        }
    }
}
