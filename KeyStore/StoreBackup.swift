package import Pushcrypt

// Backups: one file without a log, made while the store is in use.
extension SQLiteKeyStore {
    /// Writes the database as it is now to a new file, and checks every row of it. Damaged rows are copied, too; no store uses them.
    ///
    /// The secrets in it are sealed: without `store.key`, or the passphrase, it opens nothing. If this throws, neither file
    /// exists.
    ///
    /// - Parameters:
    ///   - path: The new file.
    ///   - keyPath: Another new file, for a copy of `store.key`; nil for none.
    /// - Returns: The damaged rows of devices.
    /// - Throws: `storeExists` if there is such a file; `corruptStore` if the store or the copy is damaged apart from such rows;
    ///   `storeKeyMissing` if a passphrase opens the store.
    @discardableResult
    package func backUp(to path: String, key keyPath: String? = nil) throws(KeyStoreError) -> [Finding] {
        var files = [try NewFile(path)]
        if let keyPath {
            let keyFile = try NewFile(keyPath)
            guard keyFile.resolved != files[0].resolved else {
                throw KeyStoreError(
                    .storeExists, "\(keyPath) is the file of the backup: name another one for \(StoreKeyFile.name)")
            }
            guard try directory?.has(StoreKeyFile.name) == true else {
                throw KeyStoreError(
                    .storeKeyMissing, "this store has no \(StoreKeyFile.name): its passphrase opens the backup")
            }
            files.append(keyFile)
        }
        do throws(KeyStoreError) {
            let damaged = try writeDatabase(to: files[0])
            if files.count > 1 { try writeKey(to: files[1]) }
            for file in files { try file.finish() }
            return damaged
        } catch {
            for file in files { file.discard() }
            throw error
        }
    }

    private func writeDatabase(to file: NewFile) throws(KeyStoreError) -> [Finding] {
        _ = try file.create()
        let damaged: [Finding]
        do {
            let copy = try SQLiteKeyStore.connect(file.temporary, named: file.path, options)
            try withConnection { (connection) throws(KeyStoreError) in try copy.receiveCopy(of: connection) }
            try copy.leaveLog()
            let store = SQLiteKeyStore(copy, nil, keys, nil, options)
            damaged = try store.requireSound("this store is damaged, and was not copied")
        }
        try Descriptor(reading: file.temporary, named: file.path).synchronize()
        return damaged
    }

    private func writeKey(to file: NewFile) throws(KeyStoreError) {
        guard let directory else { return }
        let key = try StoreKeyFile.read(at: directory.file(StoreKeyFile.name))
        let descriptor = try file.create()
        try key.withSpan { (key) throws(KeyStoreError) in try descriptor.write(key) }
    }
}

extension SQLiteConnection {
    /// Leaves the write-ahead log, so that the database is one file.
    func leaveLog() throws(KeyStoreError) {
        guard try rows("PRAGMA journal_mode = DELETE").first?.first == .text("delete") else {
            throw KeyStoreError(.inputOutput, "cannot write \(name) as one file: try again")
        }
    }
}

// MARK: Restoring
extension SQLiteKeyStore {
    /// Makes a backup the content of a store, which is created if there is none. Processes that have it open go on with it.
    ///
    /// Removed devices stay removed, opened answers stay opened, and later certificates are known as if phones had reported them.
    /// Push keys stay. Codes for pairing are void. Everything else is the backup's.
    ///
    /// - Parameters:
    ///   - path: The backup.
    ///   - directory: The directory of the store.
    ///   - key: The copy of `store.key` that opens it; nil to use the one in the directory.
    ///   - passphrase: The passphrase of the backup, if it has one.
    ///   - replace: Whether to replace a store that exists.
    /// - Throws: `storeExists` for a store without `replace`, and for another store than the backup's; `wrongPassphrase` for another
    ///   `store.key`; the errors of opening the backup. The store has not changed then.
    package static func restore(
        _ path: String, to directory: String, key: String?, passphrase: StorePassphrase?, replace: Bool,
        options: StoreOptions = StoreOptions(), at now: Timestamp
    ) throws(KeyStoreError) -> RestoredStore {
        // Refused before a directory is created.
        try Restoration.checkFile(path)
        if let key { _ = try StoreKeyFile.read(at: key) }
        let directory = try StoreDirectory(making: directory)
        let restoration = Restoration(
            path: path, directory: directory, key: key, passphrase: passphrase, replaces: replace, options: options)
        return try directory.withLock(waiting: options.busyTimeout) { () throws(KeyStoreError) in
            try restoration.run(at: now)
        }
    }
}

/// A key store that a backup has replaced.
package struct RestoredStore {
    /// Why the previous store could not be read, so that nothing of it was kept; nil if it could, or there was none.
    package var unread: KeyStoreError?
    /// The damaged rows of devices in the backup.
    package var damaged: [Finding]
}

/// One restore; the directory is locked.
private struct Restoration {
    let path: String
    let directory: StoreDirectory
    let key: String?
    let passphrase: StorePassphrase?
    let replaces: Bool
    let options: StoreOptions

    private var staged: String { directory.file(SQLiteKeyStore.newDatabaseName) }
    private var database: String { directory.file(SQLiteKeyStore.databaseName) }

    func run(at now: Timestamp) throws(KeyStoreError) -> RestoredStore {
        let isThere = try directory.has(SQLiteKeyStore.databaseName)
        guard replaces || !isThere else {
            throw KeyStoreError(.storeExists, "a key store already exists at \(directory.path): it is kept")
        }
        let writesKey = try writesKey()
        removeNewFiles()
        defer { removeNewFiles() }
        let (connection, keys, damaged) = try stage()
        var restored = RestoredStore(damaged: damaged)
        let staged = StoreTransaction(connection: connection, keys: keys)
        guard isThere else {
            try forgetPairings(connection, keys)
            if writesKey { try writeKey() }
            for name in SQLiteKeyStore.logFiles { try directory.removeIfPresent(name) }
            try directory.rename(SQLiteKeyStore.newDatabaseName, to: SQLiteKeyStore.databaseName)
            return restored
        }
        var present: StoreTransaction?
        do throws(KeyStoreError) { present = try openPresent(keys) } catch {
            guard [.corruptStore, .newerVersion, .olderVersion].contains(error.code) else { throw error }
            restored.unread = error
        }
        try target().receiveCopy(of: connection) { () throws(KeyStoreError) in
            do throws(KeyStoreError) {
                try connection.transaction(.writing) { () throws(KeyStoreError) in
                    if let present { try staged.keep(present, at: now) }
                }
            } catch {
                guard error.code == .corruptStore else { throw error }
                restored.unread = error
            }
            try forgetPairings(connection, keys)
            if writesKey { try writeKey() }
        }
        if let target = try? SQLiteKeyStore.connect(database, options) {
            try? target.useLog()
            // No file keeps anything that the backup lacks.
            try? target.emptyLog()
        }
        return restored
    }

    /// Codes may have been used since the backup.
    private func forgetPairings(_ connection: SQLiteConnection, _ keys: StoreKeys) throws(KeyStoreError) {
        try connection.transaction(.writing) { () throws(KeyStoreError) in
            try StoreTransaction(connection: connection, keys: keys).changeProvider { $0.pairings = [] }
        }
    }

    // MARK: The backup

    static func checkFile(_ path: String) throws(KeyStoreError) {
        try FileFacts(of: Descriptor(reading: path)).requireRegular(path)
        if let log = try FileFacts(at: realPath(path) + LogFile.log.rawValue), log.size > 0 {
            throw KeyStoreError(
                .corruptStore,
                "\(path) has a log beside it, so it was copied while in use: restore a file that 'pushcrypt backup' wrote, or use the copied directory itself as the store"
            )
        }
    }

    /// Copies the backup, and checks every row of the copy.
    private func stage() throws(KeyStoreError) -> (SQLiteConnection, StoreKeys, damaged: [Finding]) {
        _ = try directory.create(SQLiteKeyStore.newDatabaseName, for: SQLiteKeyStore.databaseName)
        try SQLiteKeyStore.connect(staged, named: database, options)
            .receiveCopy(of: SQLiteConnection(path: path, .unchanging))
        let connection = try SQLiteKeyStore.connect(staged, named: path, options)
        try SQLiteKeyStore.checkKind(of: connection)
        if let key, try StoreHeader(of: connection).derivation != nil {
            throw KeyStoreError(
                .wrongPassphrase,
                "a passphrase opens the backup \(path), and no key such as \(key): leave the key out")
        }
        let keys = try SQLiteKeyStore.unlock(
            connection, "the backup \(path)", key ?? directory.file(StoreKeyFile.name), passphrase)
        let damaged = try SQLiteKeyStore(connection, nil, keys, nil, options).requireSound("\(path) is damaged")
        // One file, which a rename moves whole.
        try connection.leaveLog()
        return (connection, keys, damaged)
    }

    private func removeNewFiles() {
        for name in SQLiteKeyStore.newFiles + [StoreKeyFile.newName] { try? directory.removeIfPresent(name) }
    }

    // MARK: The present store

    /// Opens the present store; throws `storeExists` if it has another key.
    private func openPresent(_ keys: StoreKeys) throws(KeyStoreError) -> StoreTransaction {
        let connection = try SQLiteKeyStore.connect(database, options)
        try SQLiteKeyStore.checkKind(of: connection)
        guard try StoreHeader(of: connection).isOf(keys) else {
            throw KeyStoreError(
                .storeExists,
                "\(directory.path) holds another store than the backup, with another key: it is kept; name an empty directory"
            )
        }
        // Only with a log can others read it while it is replaced.
        if try !connection.hasLog() { try connection.useLog() }
        return StoreTransaction(connection: connection, keys: keys)
    }

    private func target() throws(KeyStoreError) -> SQLiteConnection {
        do throws(KeyStoreError) {
            let connection = try SQLiteKeyStore.connect(database, options)
            _ = try Schema.version(of: connection)
            return connection
        } catch {
            guard error.code == .corruptStore else { throw error }
            return try SQLiteConnection(path: database, busyTimeout: options.busyTimeout, .overwritten)
        }
    }

    // MARK: The key

    /// Whether the copy becomes `store.key`; throws `wrongPassphrase` if another is there: it may be the only one that
    /// opens a database elsewhere.
    private func writesKey() throws(KeyStoreError) -> Bool {
        guard let key else { return false }
        guard try directory.has(StoreKeyFile.name) else { return true }
        let name = directory.file(StoreKeyFile.name)
        do throws(KeyStoreError) {
            let current = try StoreKeyFile.read(at: name)
            let copy = try StoreKeyFile.read(at: key)
            if current.withSpan({ current in copy.withSpan { Sodium.areEqual(current, $0) } }) { return false }
        } catch {
            guard error.code == .corruptStore else { throw error }
            if replaces { return true }
            throw KeyStoreError(.storeExists, "\(name) exists, and is damaged: it is kept")
        }
        throw KeyStoreError(
            .wrongPassphrase, "\(name) is another key than \(key), and is kept: name an empty directory")
    }

    private func writeKey() throws(KeyStoreError) {
        guard let key else { return }
        try StoreKeyFile.write(StoreKeyFile.read(at: key), in: directory)
    }
}

extension StoreTransaction {
    /// Keeps from a later state of this store whatever must not be undone, except damaged rows.
    fileprivate func keep(_ present: StoreTransaction, at now: Timestamp) throws(KeyStoreError) {
        _ = try present.connection.rows("\(HeldRow.table.select) WHERE removed IS NOT NULL", []) {
            (row) throws(KeyStoreError) in
            guard let removed = (try? present.verified(row) as HeldRow)?.held.removed else { return }
            try perform(DeviceRules.merge(.removed(removed), held: try heldIfSound(removed.id), at: now), at: now)
        }
        _ = try present.connection.rows("SELECT id, digest, opened, ends FROM answers", []) {
            (row) throws(KeyStoreError) in
            try connection.rows(
                "INSERT OR REPLACE INTO answers (id, digest, opened, ends) VALUES (?, ?, ?, ?)", (0..<4).map { row[$0] }
            )
        }
        let state = try present.provider()
        try changeProvider { $0.keep(state) }
    }
}
