internal import CSQLite
internal import Pushcrypt

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// Work on the whole file: copies, the log, and checks.
extension SQLiteConnection {
    /// Replaces this database with a copy of another, as that is at one moment, in one transaction; others go on using both.
    ///
    /// - Parameter body: Called when nobody else can change this database any more. It may change the other one by its connection.
    func receiveCopy(
        of source: SQLiteConnection, whenLocked body: () throws(KeyStoreError) -> Void = {}
    ) throws(KeyStoreError) {
        guard let copy = unsafe sqlite3_backup_init(database, "main", source.database, "main") else {
            throw failure(unsafe sqlite3_errcode(database))
        }
        var code = unsafe sqlite3_backup_step(copy, 0)
        if code == SQLITE_OK {
            do throws(KeyStoreError) {
                try body()
            } catch {
                unsafe sqlite3_backup_finish(copy)
                throw error
            }
            code = unsafe sqlite3_backup_step(copy, -1)
        }
        let end = unsafe sqlite3_backup_finish(copy)
        guard code == SQLITE_DONE else {
            let code = code == SQLITE_OK ? end : code
            throw Self.isOfWriting(code) ? failure(code) : source.failure(code)
        }
        try check(end)
    }

    /// Whether changes go into a write-ahead log.
    func hasLog() throws(KeyStoreError) -> Bool {
        try rows("PRAGMA journal_mode").first?.first == .text("wal")
    }

    /// Switches to a write-ahead log, so that readers and the writer do not wait for each other.
    func useLog() throws(KeyStoreError) {
        let mode = try rows("PRAGMA journal_mode = WAL").first?.first
        guard mode == .text("wal") || mode == .text("memory") else {
            throw KeyStoreError(
                .inputOutput, "the file system of \(name) does not support shared memory: use a local disk")
        }
    }

    /// Copies the write-ahead log into the database and truncates it, so that deleted content is in neither.
    func emptyLog() throws(KeyStoreError) {
        try check(unsafe sqlite3_wal_checkpoint_v2(database, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
        // SQLite does not sync after truncating: after a power failure, the log could be back at its old length.
        guard path != Self.memory else { return }
        let log = try realPath(path) + LogFile.log.rawValue
        guard try FileFacts(at: log) != nil else { return }
        try Descriptor(log, O_RDONLY).synchronize()
    }

    /// Checks the structure of the whole file, and compares indexes with tables.
    func isSound() throws(KeyStoreError) -> Bool {
        try rows("PRAGMA integrity_check(1)").first?.first == .text("ok")
    }
}
