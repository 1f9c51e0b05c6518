internal import CSQLite
internal import Pushcrypt

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A connection to a database; not safe for concurrent use.
@safe
final class SQLiteConnection {
    static let memory = ":memory:"

    let database: OpaquePointer
    let path: String
    /// The path in errors.
    let name: String
    /// The state of the busy handler, kept alive only here.
    private let waiting: Waiting
    /// A list, since comparing a text with these few takes less time than hashing it.
    private var statements: [(sql: String, statement: SQLiteStatement)] = []

    /// The milliseconds between two attempts while a database is busy.
    private static let wait: Int32 = 5

    /// Limits, so that a damaged or hostile file cannot make SQLite use unbounded memory or time.
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_LENGTH, 1 << 20), (SQLITE_LIMIT_SQL_LENGTH, 1 << 16), (SQLITE_LIMIT_COLUMN, 64),
        (SQLITE_LIMIT_EXPR_DEPTH, 64), (SQLITE_LIMIT_COMPOUND_SELECT, 8), (SQLITE_LIMIT_ATTACHED, 0),
        (SQLITE_LIMIT_TRIGGER_DEPTH, 0), (SQLITE_LIMIT_VARIABLE_NUMBER, 32), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]

    /// How a file is used.
    enum Use {
        /// Other connections use it too.
        case shared
        /// Its content is ignored, even if damaged: a copy of another database takes its place.
        case overwritten
        /// Nobody changes it meanwhile: it is read without its log, and no file is created.
        case unchanging
    }

    /// Opens an existing file, or creates a database in memory.
    ///
    /// `secure_delete` overwrites deleted content; `synchronous` waits for the disk, also until a rollback journal is
    /// gone, which would undo the change; `temp_store` keeps temporary data off the disk; `cache_size` keeps up to 8 MiB in
    /// memory, of which a small store fills less; the others distrust the file.
    ///
    /// - Parameter name: The path in errors, if the file is a temporary one.
    init(
        path: String, named name: String? = nil, busyTimeout milliseconds: Int32 = 0, _ use: Use = .shared,
        interruption: SQLiteInterruption? = nil
    ) throws(KeyStoreError) {
        var handle: OpaquePointer?
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        flags |= use == .unchanging ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE
        if path == Self.memory { flags |= SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY }
        let code = unsafe sqlite3_open_v2(use == .unchanging ? Self.unchanging(path) : path, &handle, flags, nil)
        guard let opened = unsafe handle else {
            throw KeyStoreError(.inputOutput, "cannot use \(name ?? path): out of memory")
        }
        unsafe database = opened
        (self.path, self.name) = (path, name ?? path)
        waiting = Waiting(attempts: milliseconds / Self.wait, interruption)
        unsafe interruption?.add(opened)
        // From here on deinit closes the handle, as SQLite requires after a failure too.
        guard code == SQLITE_OK else { throw failure(code) }
        unsafe sqlite3_extended_result_codes(database, 1)
        if use == .overwritten { try check(unsafe pushcrypt_ignore_content(database)) }
        waitForOthers()
        for (limit, value) in Self.limits { unsafe sqlite3_limit(database, limit, value) }
        try execute(
            """
            PRAGMA secure_delete = ON; PRAGMA synchronous = EXTRA; PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -\(Self.cache * 1024); PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
            """)
    }

    /// The address of a file that is opened as it is, without a look at its log.
    private static func unchanging(_ path: String) -> String {
        let escaped = path.unicodeScalars.map { scalar in
            "%?#".unicodeScalars.contains(scalar)
                ? "%" + String(scalar.value, radix: 16, uppercase: true) : String(scalar)
        }
        return "file:\(escaped.joined())?immutable=1"
    }

    static let cache = 8

    /// The most of the file that stays in memory between transactions; SQLite frees what is above a smaller limit.
    func setCache(megabytes: Int) throws(KeyStoreError) {
        try execute("PRAGMA cache_size = -\(megabytes * 1024)")
    }

    /// Waits up to this long while another connection holds the database, trying again every few milliseconds.
    ///
    /// SQLite's own handler ends up trying ten times a second: too rarely for the short gaps between the transactions
    /// of a large import, so that a writer could miss them all.
    private func waitForOthers() {
        unsafe sqlite3_busy_handler(
            database,
            { waiting, count in
                guard let waiting = unsafe waiting else { return 0 }
                let limits = unsafe Unmanaged<Waiting>.fromOpaque(waiting).takeUnretainedValue()
                guard count < limits.attempts, limits.interruption?.isStopped != true else { return 0 }
                var pause = timespec(tv_sec: 0, tv_nsec: Int(SQLiteConnection.wait) * 1_000_000)
                unsafe nanosleep(&pause, nil)
                return 1
            }, Unmanaged.passUnretained(waiting).toOpaque())
    }

    /// Leaves the lock to those who wait for it, since a writer of many transactions would take it again at once.
    static func letOthersWrite() {
        var pause = timespec(tv_sec: 0, tv_nsec: 2 * Int(wait) * 1_000_000)
        unsafe nanosleep(&pause, nil)
    }

    /// How long the busy handler waits.
    private final class Waiting {
        let attempts: Int32
        let interruption: SQLiteInterruption?

        init(attempts: Int32, _ interruption: SQLiteInterruption?) {
            self.attempts = attempts
            self.interruption = interruption
        }
    }

    deinit {
        for (_, statement) in statements { statement.finalize() }
        unsafe waiting.interruption?.remove(database)
        unsafe sqlite3_close_v2(database)
    }

    // MARK: Statements

    /// Runs one or more statements that return no rows.
    func execute(_ sql: String) throws(KeyStoreError) {
        try check(unsafe sqlite3_exec(database, sql, nil, nil, nil))
    }

    /// Runs one statement, prepared once, and returns its rows.
    @discardableResult
    func rows(_ sql: String, _ values: [SQLiteValue] = []) throws(KeyStoreError) -> [[SQLiteValue]] {
        try rows(sql, values) { row in (0..<row.count).map { row[$0] } }
    }

    /// Runs one statement, prepared once, and calls `body` with each row in place. `body` must not use the connection.
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

    /// Steps to the next row; returns false if there is none.
    private func step(_ statement: SQLiteStatement) throws(KeyStoreError) -> Bool {
        let code = statement.step()
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw failure(code) }
        return code == SQLITE_ROW
    }

    /// Returns the one integer that a statement produces, such as a pragma or a count.
    func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(KeyStoreError) -> Int64 {
        guard case .integer(let value)? = try rows(sql, values).first?.first else {
            throw KeyStoreError(
                .corruptStore, "\(name) does not return a number where it must: restore it from a backup")
        }
        return value
    }

    /// The error for a row that no version writes.
    var damaged: KeyStoreError {
        KeyStoreError(.corruptStore, "\(name) holds a value of the wrong kind")
    }

    /// The number of rows changed by the last statement.
    var changes: Int { Int(unsafe sqlite3_changes(database)) }

    /// Returns the state; two states are equal if nothing changed in between, by this connection or any other.
    func state() throws(KeyStoreError) -> (others: Int64, own: Int32) {
        (try integer("PRAGMA data_version"), unsafe sqlite3_total_changes(database))
    }

    private func prepared(_ sql: String) throws(KeyStoreError) -> SQLiteStatement {
        let length = sql.utf8.count
        for (text, statement) in statements where text.utf8.count == length && text == sql { return statement }
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

        /// The statement that ends it successfully. COMMIT fails after a damaged page; a reader has nothing to commit.
        fileprivate var end: String {
            switch self {
            case .reading: "ROLLBACK"
            case .writing: "COMMIT"
            }
        }
    }

    /// Runs `body` in one transaction: all of its changes are kept, or none if it throws.
    func transaction<R>(_ access: Access, _ body: () throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try control(access.rawValue)
        do throws(KeyStoreError) {
            // SQLite interrupts only statements that are running.
            try waiting.interruption?.check(path)
            let result = try body()
            try waiting.interruption?.check(path)
            try control(access.end)
            return result
        } catch {
            // SQLite has already rolled back after some failures; then this fails, harmlessly.
            _ = try? control("ROLLBACK")
            throw error
        }
    }

    private func control(_ sql: String) throws(KeyStoreError) {
        let statement = try prepared(sql)
        defer { statement.reset() }
        _ = try step(statement)
    }

    /// The version of the linked library, for example `3.40.1`.
    static var version: String { unsafe String(cString: sqlite3_libversion()) }
}

extension SQLiteKeyStore {
    /// Configures SQLite for a command, before the process opens its first database: SQLite does not count its memory, which
    /// takes a lock for each allocation, and does not allocate pages in advance.
    ///
    /// For the whole process, so not for a library inside an app.
    package static func prepareProcess() { pushcrypt_configure_sqlite() }
}
