internal import CSQLite
internal import FuzzHarness
internal import Pushcrypt

/// The JSON reader of SQLite, which others have written: a second opinion.
@safe
final class SQLiteReader {
    private let database: OpaquePointer
    private let statement: OpaquePointer

    init() {
        var (database, statement): (OpaquePointer?, OpaquePointer?)
        let sql = "SELECT json(?1) WHERE json_valid(?1)"
        guard unsafe sqlite3_open(":memory:", &database) == SQLITE_OK,
            unsafe sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
            let database = unsafe database, let statement = unsafe statement
        else { fail("SQLite reads JSON") }
        unsafe self.database = database
        unsafe self.statement = statement
    }

    deinit {
        unsafe sqlite3_finalize(statement)
        unsafe sqlite3_close(database)
    }

    /// The text without white space between its tokens; nil for what it does not take for JSON.
    func minified(_ text: Bytes) -> Bytes? {
        defer { unsafe sqlite3_reset(statement) }
        return unsafe text.withUnsafeBytes { text in
            let start = unsafe text.baseAddress?.assumingMemoryBound(to: CChar.self)
            // The text outlives the step, so that SQLite needs no copy.
            unsafe sqlite3_bind_text(statement, 1, start, Int32(truncatingIfNeeded: text.count), nil)
            guard unsafe sqlite3_step(statement) == SQLITE_ROW, let minified = unsafe sqlite3_column_blob(statement, 0)
            else { return nil }
            let count = Int(unsafe sqlite3_column_bytes(statement, 0))
            return unsafe Bytes(UnsafeRawBufferPointer(start: minified, count: count))
        }
    }
}
