internal import CSQLite
internal import Pushcrypt

/// A prepared statement: values in, rows out.
@safe
struct SQLiteStatement {
    private let handle: OpaquePointer

    /// `SQLITE_TRANSIENT`, which the C header casts from -1: SQLite takes a copy at once.
    private static var copying: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    /// Sets every parameter; the result code of the first that fails.
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
            // Nothing to point at would be NULL, which is another value than an empty one.
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

    /// The row that `step` reached.
    var row: SQLiteRow { unsafe SQLiteRow(of: handle) }

    /// Ends the run, gives up its locks and forgets the values.
    func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    func finalize() { unsafe sqlite3_finalize(handle) }
}
