internal import CSQLite
internal import CStore
internal import Pushcrypt

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// What concerns the whole file: copies, the log, and checks.
extension SQLiteConnection {
    /// Replaces this database with a copy of another, as that is at one moment; others go on using it.
    func receiveCopy(of source: SQLiteConnection) throws(KeyStoreError) {
        guard let copy = unsafe sqlite3_backup_init(database, "main", source.database, "main") else {
            throw failure(unsafe sqlite3_errcode(database))
        }
        source.compareAllPages()
        let code = unsafe sqlite3_backup_step(copy, -1)
        source.notePages()
        let end = unsafe sqlite3_backup_finish(copy)
        guard code == SQLITE_DONE else {
            let code = code == SQLITE_OK ? end : code
            throw SQLiteFailure.isOfWriting(code) ? failure(code) : source.failure(code)
        }
        try check(end)
        // The copy's checksums are right.
        if source.hasReadDamage { throw source.damagedPage }
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

    /// Gives each page of the file the checksum of what it holds; the log is empty.
    func renewChecksums() throws(KeyStoreError) {
        try check(unsafe pushcrypt_renew_checksums(database))
        // Also those that are in memory now.
        hasReadDamage = true
    }

    /// Checks the structure of the whole file, and compares indexes with tables.
    func isSound() throws(KeyStoreError) -> Bool {
        try rows("PRAGMA integrity_check(1)").first?.first == .text("ok")
    }

    /// Refuses a database that declares more than tables and their indexes: a view or virtual table instead of a table
    /// could compute rows, without end, and a trigger would run on every change.
    ///
    /// SQLite runs the text of a declaration, whatever kind it claims to be.
    func refuseForeignObjects() throws(KeyStoreError) {
        let foreign = try integer(
            """
            SELECT count(*) FROM sqlite_schema WHERE sql NOT LIKE 'CREATE TABLE %' AND sql NOT LIKE 'CREATE INDEX %'
            AND sql NOT LIKE 'CREATE UNIQUE INDEX %'
            """)
        guard foreign == 0 else {
            throw KeyStoreError(
                .corruptStore,
                "\(name) has views, triggers or virtual tables, which no store has: it was changed; restore it from a backup"
            )
        }
    }
}
