internal import CSQLite
internal import Pushcrypt

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// One connection to one database; not for two threads at once.
@safe
final class SQLiteConnection {
    static let memory = ":memory:"

    private let database: OpaquePointer
    let path: String
    /// A list, since comparing a text with these few takes less time than hashing it.
    private var statements: [(sql: String, statement: SQLiteStatement)] = []

    /// The milliseconds between two looks at whether a database is free.
    private static let wait = 5

    /// Ceilings, so that a damaged or hostile file cannot make SQLite take memory or time without bound.
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_LENGTH, 1 << 20), (SQLITE_LIMIT_SQL_LENGTH, 1 << 16), (SQLITE_LIMIT_COLUMN, 64),
        (SQLITE_LIMIT_EXPR_DEPTH, 64), (SQLITE_LIMIT_COMPOUND_SELECT, 8), (SQLITE_LIMIT_ATTACHED, 0),
        (SQLITE_LIMIT_TRIGGER_DEPTH, 0), (SQLITE_LIMIT_VARIABLE_NUMBER, 32), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]

    /// Opens a file that exists, or a new database in memory.
    ///
    /// `secure_delete` overwrites what is deleted; `synchronous` waits for the disk, also until it has forgotten a rollback
    /// journal, which would take the change back; `temp_store` keeps what SQLite sorts off the disk; the others distrust what
    /// stands in the file.
    init(path: String, busyTimeout milliseconds: Int32) throws(KeyStoreError) {
        var handle: OpaquePointer?
        var flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW
        if path == Self.memory { flags |= SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY }
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard let opened = unsafe handle else {
            throw KeyStoreError(.inputOutput, "cannot use \(path): out of memory")
        }
        unsafe database = opened
        self.path = path
        // From here on deinit closes, as SQLite asks for after a failure too.
        guard code == SQLITE_OK else { throw failure(code) }
        unsafe sqlite3_extended_result_codes(database, 1)
        waitForOthers(milliseconds)
        for (limit, value) in Self.limits { unsafe sqlite3_limit(database, limit, value) }
        try execute(
            """
            PRAGMA secure_delete = ON; PRAGMA synchronous = EXTRA; PRAGMA temp_store = MEMORY;
            PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
            """)
    }

    /// Waits for as long as this when another connection is in the way, and looks again every few milliseconds.
    ///
    /// SQLite's own wait looks ten times a second in the end: too seldom for the moments between the transactions of a
    /// large import, so that a writer could miss all of them.
    private func waitForOthers(_ milliseconds: Int32) {
        let looks = Int(milliseconds) / Self.wait
        unsafe sqlite3_busy_handler(
            database,
            { limit, count in
                guard count < Int(bitPattern: limit) else { return 0 }
                var pause = timespec(tv_sec: 0, tv_nsec: SQLiteConnection.wait * 1_000_000)
                unsafe nanosleep(&pause, nil)
                return 1
            }, UnsafeMutableRawPointer(bitPattern: looks))
    }

    deinit {
        for (_, statement) in statements { statement.finalize() }
        unsafe sqlite3_close_v2(database)
    }

    // MARK: Statements

    /// Runs one or more statements that give no rows.
    func execute(_ sql: String) throws(KeyStoreError) {
        let code = unsafe sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs one statement, prepared once, and gives its rows.
    @discardableResult
    func rows(_ sql: String, _ values: [SQLiteValue] = []) throws(KeyStoreError) -> [[SQLiteValue]] {
        try rows(sql, values) { row in (0..<row.count).map { row[$0] } }
    }

    /// Runs one statement, prepared once, and makes something of each row where it lies. `body` must not use the connection.
    func rows<R>(
        _ sql: String, _ values: [SQLiteValue], _ body: (SQLiteRow) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> [R] {
        let statement = try prepared(sql)
        defer { statement.reset() }
        try check(statement.bind(values))
        var results: [R] = []
        while try step(statement) { results.append(try body(statement.row)) }
        return results
    }

    /// Runs one statement up to its first row, and makes something of it where it lies; nil when it gives none.
    func firstRow<R>(
        _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteRow) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R? {
        let statement = try prepared(sql)
        defer { statement.reset() }
        try check(statement.bind(values))
        return try step(statement) ? try body(statement.row) : nil
    }

    /// Tells whether there is one row more.
    private func step(_ statement: SQLiteStatement) throws(KeyStoreError) -> Bool {
        let code = statement.step()
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw failure(code) }
        return code == SQLITE_ROW
    }

    /// The one integer that a statement gives, such as a pragma or a count.
    func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(KeyStoreError) -> Int64 {
        guard case .integer(let value)? = try rows(sql, values).first?.first else {
            throw KeyStoreError(.corruptStore, "\(path) gives no number where it must: restore it from a backup")
        }
        return value
    }

    /// What is thrown for a row that no version writes.
    var damaged: KeyStoreError {
        KeyStoreError(.corruptStore, "\(path) holds a value of another kind than it must")
    }

    /// How many rows the last statement changed.
    var changes: Int { Int(unsafe sqlite3_changes(database)) }

    /// Two values are equal when nothing was changed in between, by this connection or any other.
    func state() throws(KeyStoreError) -> (others: Int64, own: Int32) {
        (try integer("PRAGMA data_version"), unsafe sqlite3_total_changes(database))
    }

    private func prepared(_ sql: String) throws(KeyStoreError) -> SQLiteStatement {
        for (text, statement) in statements where text == sql { return statement }
        var handle: OpaquePointer?
        try check(unsafe sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil))
        guard let handle = unsafe handle else { preconditionFailure("an empty statement") }
        let statement = unsafe SQLiteStatement(handle)
        statements.append((sql, statement))
        return statement
    }

    // MARK: Transactions

    enum Access: String {
        case reading = "BEGIN"
        /// Waits for other writers at the start, so that nothing read before the first write can be out of date.
        case writing = "BEGIN IMMEDIATE"

        /// How it ends well. To commit fails where one damaged page was met; of reading there is nothing to keep.
        fileprivate var end: String {
            switch self {
            case .reading: "ROLLBACK"
            case .writing: "COMMIT"
            }
        }
    }

    /// Runs `body` in one transaction: all of what it writes, or, when it throws, nothing.
    func transaction<R>(_ access: Access, _ body: () throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try rows(access.rawValue)
        do throws(KeyStoreError) {
            let result = try body()
            try rows(access.end)
            return result
        } catch {
            // SQLite has rolled back by itself after some failures, and then this says that there is nothing to do.
            _ = try? rows("ROLLBACK")
            throw error
        }
    }

    /// Keeps changes in a write-ahead log from now on, so that readers and the writer do not wait for each other.
    func useLog() throws(KeyStoreError) {
        let mode = try rows("PRAGMA journal_mode = WAL").first?.first
        guard mode == .text("wal") || mode == .text("memory") else {
            throw KeyStoreError(
                .inputOutput, "the file system of \(path) cannot share memory between processes: use a local disk")
        }
    }

    /// Copies the write-ahead log into the database and cuts it to nothing, so that what was deleted lies in neither.
    func emptyLog() throws(KeyStoreError) {
        try check(unsafe sqlite3_wal_checkpoint_v2(database, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
        // SQLite does not wait for the disk to cut it: without power it would be there again, as long as it was.
        let log = "\(path)-wal"
        guard path != Self.memory, try FileFacts(at: log) != nil else { return }
        try Descriptor(log, O_RDONLY).synchronize()
    }

    /// Looks through the whole file for damage to its structure, and compares indexes with tables.
    func isSound() throws(KeyStoreError) -> Bool {
        try rows("PRAGMA integrity_check(1)").first?.first == .text("ok")
    }

    /// Refuses a database that declares more than tables and their indexes: a view or a virtual table in the place of a
    /// table would compute its rows, without an end if its author likes, and a trigger would run on every change.
    ///
    /// SQLite runs the text of a declaration, whatever kind it claims to be of.
    func refuseForeignObjects() throws(KeyStoreError) {
        let foreign = try integer(
            """
            SELECT count(*) FROM sqlite_schema WHERE sql NOT LIKE 'CREATE TABLE %' AND sql NOT LIKE 'CREATE INDEX %'
            AND sql NOT LIKE 'CREATE UNIQUE INDEX %'
            """)
        guard foreign == 0 else {
            throw KeyStoreError(
                .corruptStore,
                "\(path) has views, triggers or virtual tables, which no store has: somebody has changed it; restore it from a backup"
            )
        }
    }

    // MARK: Failures

    private func check(_ code: Int32) throws(KeyStoreError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Says what a result code means for whoever uses the store. Bound values never appear in it.
    private func failure(_ code: Int32) -> KeyStoreError {
        let systemError = unsafe sqlite3_system_errno(database)
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            return KeyStoreError(.storeBusy, "another process is using \(path): try again when it is done")
        case SQLITE_FULL:
            return .system(ENOSPC, "write \(path)")
        case SQLITE_READONLY:
            return KeyStoreError(
                .inputOutput, "cannot write \(path): run chmod u+w \(quoted(path)), or use a disk that is not read-only"
            )
        case SQLITE_CANTOPEN where systemError == ENOENT && (try? FileFacts(at: path)) != nil:
            // The last of several tries to open a log or its index, and not the one that says why.
            return KeyStoreError(
                .inputOutput,
                "cannot make the files beside \(path): see that the disk has room, and its directory may be written")
        case SQLITE_CANTOPEN, SQLITE_IOERR:
            return systemError == 0
                ? KeyStoreError(.inputOutput, "cannot use \(path): \(Self.text(of: code))")
                : .system(systemError, "use \(path)")
        case SQLITE_NOMEM:
            return KeyStoreError(.inputOutput, "cannot use \(path): out of memory")
        default:
            return KeyStoreError(.corruptStore, "\(path) is damaged (\(Self.text(of: code))): restore it from a backup")
        }
    }

    private static func text(of code: Int32) -> String {
        guard let text = unsafe sqlite3_errstr(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    /// The version of the library that is linked, for example `3.40.1`.
    static var version: String { unsafe String(cString: sqlite3_libversion()) }
}

extension SQLiteKeyStore {
    /// Configures SQLite for a command, before the process opens its first database: SQLite does not count its memory, which
    /// takes a lock for each allocation, and does not allocate pages in advance.
    ///
    /// For the whole process, so not for a library inside an app.
    package static func prepareProcess() { pushcrypt_save_time() }
}
