internal import CSQLite
internal import Pushcrypt

/// The JSON reader of SQLite, which others have written: a second opinion.
@safe
final class SQLiteReader {
    private let database: OpaquePointer
    private let minify: OpaquePointer
    private let findNameTwice: OpaquePointer

    init() {
        var database: OpaquePointer?
        guard unsafe sqlite3_open(":memory:", &database) == SQLITE_OK, let database = unsafe database else {
            fail("SQLite opens")
        }
        unsafe self.database = database
        unsafe minify = Self.prepare("SELECT json(?1) WHERE json_valid(?1)", database)
        unsafe findNameTwice = Self.prepare(
            "SELECT '' FROM json_tree(?1) WHERE typeof(key) = 'text' GROUP BY parent, key HAVING count(*) > 1", database
        )
    }

    private static func prepare(_ sql: String, _ database: OpaquePointer) -> OpaquePointer {
        var statement: OpaquePointer?
        guard unsafe sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
            let statement = unsafe statement
        else { fail("SQLite reads JSON") }
        return unsafe statement
    }

    deinit {
        unsafe sqlite3_finalize(minify)
        unsafe sqlite3_finalize(findNameTwice)
        unsafe sqlite3_close(database)
    }

    /// The text without white space between its tokens; nil for what it does not take for JSON.
    func minified(_ text: Bytes) -> Bytes? { unsafe answer(of: minify, to: text) }

    /// Whether an object of a text that it takes has a name twice, escapes or not.
    func hasNameTwice(_ text: Bytes) -> Bool { unsafe answer(of: findNameTwice, to: text) != nil }

    /// The first column of the first row.
    private func answer(of statement: OpaquePointer, to text: Bytes) -> Bytes? {
        defer { unsafe sqlite3_reset(statement) }
        return unsafe text.withUnsafeBytes { text in
            let start = unsafe text.baseAddress?.assumingMemoryBound(to: CChar.self)
            // The text outlives the step, so that SQLite needs no copy.
            unsafe sqlite3_bind_text(statement, 1, start, Int32(truncatingIfNeeded: text.count), nil)
            guard unsafe sqlite3_step(statement) == SQLITE_ROW else { return nil }
            let count = Int(unsafe sqlite3_column_bytes(statement, 0))
            return unsafe Bytes(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, 0), count: count))
        }
    }
}
