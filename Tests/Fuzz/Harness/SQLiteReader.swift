import Pushcrypt

@testable import PushcryptKeyStore

/// The JSON reader of SQLite, which others have written: a second opinion.
struct SQLiteReader {
    private let connection: SQLiteConnection

    init() {
        guard let connection = try? SQLiteConnection(path: SQLiteConnection.memory, busyTimeout: 0) else {
            fail("a database in memory opens")
        }
        self.connection = connection
    }

    /// The text without white space between its tokens; nil for what it does not take for JSON.
    func minified(_ text: Bytes) -> Bytes? {
        let sql = "SELECT CASE WHEN json_valid(?1) THEN json(?1) END"
        guard case .text(let minified)?? = try? connection.firstRow(sql, [.text(text)], { $0[0] }) else { return nil }
        return minified
    }
}
