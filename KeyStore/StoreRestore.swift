package import Pushcrypt

extension SQLiteKeyStore {
    /// Makes a backup the content of a store, which is created if there is none. Processes that have it open go on with it.
    ///
    /// What the store has removed stays removed, what was answered stays answered, and later certificates are known as if phones
    /// had reported them. Codes for pairing are void; everything else is the backup's.
    ///
    /// - Parameters:
    ///   - path: The backup.
    ///   - directory: The directory of the store.
    ///   - key: The copy of `store.key` that opens it; nil to use the one in the directory.
    ///   - passphrase: The passphrase of the backup, if it has one.
    ///   - replace: Whether to replace a store that exists.
    /// - Returns: Why nothing of the store that was there could be read, and kept; nil if it could, or if there was none.
    /// - Throws: `storeExists` for a store without `replace`, and for another store than the backup's; `wrongPassphrase` for another
    ///   `store.key`; the errors of opening the backup. The store has not changed then.
    package static func restore(
        _ path: String, to directory: String, key: String?, passphrase: StorePassphrase?, replace: Bool,
        options: StoreOptions = StoreOptions(), at now: Timestamp
    ) throws(KeyStoreError) -> KeyStoreError? {
        // Refused before a directory is created.
        _ = try Restoration.openBackup(path)
        let key: StoreKeyCopy? = if let key { try StoreKeyCopy(at: key) } else { nil }
        return try StoreDirectory.making(directory) { (directory) throws(KeyStoreError) in
            let restoration = Restoration(
                path: path, directory: directory, key: key, passphrase: passphrase, replaces: replace, options: options)
            return try directory.withLock(waiting: options.busyTimeout) { () throws(KeyStoreError) in
                try restoration.run(at: now)
            }
        }
    }
}

/// One restore; the directory is locked.
private struct Restoration {
    private static let newFiles: [StaticString] = [
        SQLiteKeyStore.newDatabaseName, "keystore.db.new-wal", "keystore.db.new-shm", "keystore.db.new-journal",
        StoreKeyFile.newName,
    ]

    let path: String
    let directory: StoreDirectory
    let key: StoreKeyCopy?
    let passphrase: StorePassphrase?
    let replaces: Bool
    let options: StoreOptions

    private var staged: String { directory.file(SQLiteKeyStore.newDatabaseName) }
    private var database: String { directory.file(SQLiteKeyStore.databaseName) }

    func run(at now: Timestamp) throws(KeyStoreError) -> KeyStoreError? {
        let isThere = try directory.has(SQLiteKeyStore.databaseName)
        guard replaces || !isThere else {
            throw KeyStoreError(.storeExists, "a key store already exists at \(directory.path): it is kept")
        }
        let writesKey = try writesKey()
        removeNewFiles()
        defer { removeNewFiles() }
        try stage()
        let (connection, keys) = try openStaged()
        let staged = StoreTransaction(connection: connection, keys: keys)
        guard isThere else {
            try forgetPairings(connection, keys)
            if writesKey { try writeKey() }
            // SQLite would apply the log of another database that had this name.
            for name in SQLiteKeyStore.leftovers where name.description.hasPrefix("keystore.db-") {
                try directory.removeIfPresent(name)
            }
            try directory.rename(SQLiteKeyStore.newDatabaseName, to: SQLiteKeyStore.databaseName)
            return nil
        }
        var unread: KeyStoreError?
        var present: StoreTransaction?
        do throws(KeyStoreError) { present = try openPresent(keys) } catch {
            guard [.corruptStore, .newerVersion, .olderVersion].contains(error.code) else { throw error }
            unread = error
        }
        try target().receiveCopy(of: connection) { () throws(KeyStoreError) in
            do throws(KeyStoreError) {
                try connection.transaction(.writing) { () throws(KeyStoreError) in
                    if let present { try staged.keep(present, at: now) }
                }
            } catch {
                guard error.code == .corruptStore else { throw error }
                unread = error
            }
            try forgetPairings(connection, keys)
            if writesKey { try writeKey() }
        }
        if let target = try? SQLiteKeyStore.connect(database, options) {
            try? target.useLog()
            // What the backup lacks is in no file any more.
            try? target.emptyLog()
        }
        return unread
    }

    /// Of a backup it is not known which codes were used since.
    private func forgetPairings(_ connection: SQLiteConnection, _ keys: StoreKeys) throws(KeyStoreError) {
        try connection.transaction(.writing) { () throws(KeyStoreError) in
            try StoreTransaction(connection: connection, keys: keys).changeProvider { $0.pairings = [] }
        }
    }

    // MARK: The backup

    static func openBackup(_ path: String) throws(KeyStoreError) -> Descriptor {
        let file = try Descriptor(reading: path)
        try FileFacts(of: file).requireRegular(path)
        if let log = try FileFacts(at: realPath(path) + LogFile.log.rawValue), log.size > 0 {
            throw KeyStoreError(
                .corruptStore,
                "\(path) has a log beside it, so it was copied while in use: restore a file that pushcrypt wrote")
        }
        return file
    }

    /// Copies as many bytes as the backup has at the start.
    private func stage() throws(KeyStoreError) {
        let file = try Self.openBackup(path)
        let new = try directory.create(SQLiteKeyStore.newDatabaseName, for: SQLiteKeyStore.databaseName)
        var rest = try FileFacts(of: file).size
        var piece = Bytes(repeating: 0, count: 1 << 16)
        while rest > 0 {
            let count = try unsafe piece.withUnsafeMutableBufferPointer { (buffer) throws(KeyStoreError) in
                var output = unsafe MutableBytes(buffer)
                return try file.read(into: &output)
            }
            guard count > 0 else { break }
            try new.append(piece.span.extracting(0..<min(count, Int(clamping: rest))))
            rest -= Int64(count)
        }
        try new.synchronize()
    }

    /// Checks every row of the copy.
    private func openStaged() throws(KeyStoreError) -> (SQLiteConnection, StoreKeys) {
        let connection = try SQLiteKeyStore.connect(staged, named: path, options)
        try SQLiteKeyStore.checkKind(of: connection)
        if let key, try SQLiteKeyStore.unverifiedHeader(connection).derivation != nil {
            throw KeyStoreError(
                .wrongPassphrase,
                "a passphrase opens the backup \(path), and no key such as \(key.path): leave the key out")
        }
        let source = key.map { StoreKeySource.copy($0) } ?? .file(in: directory)
        let keys = try SQLiteKeyStore.unlock(connection, "the backup \(path)", source, passphrase)
        try SQLiteKeyStore(connection, nil, keys, nil, options).requireSound("\(path) is damaged")
        // One file, which a rename moves whole.
        try connection.leaveLog()
        return (connection, keys)
    }

    private func removeNewFiles() { for name in Self.newFiles { try? directory.removeIfPresent(name) } }

    // MARK: The present store

    /// Opens the present store; throws `storeExists` if it has another key.
    private func openPresent(_ keys: StoreKeys) throws(KeyStoreError) -> StoreTransaction {
        let connection = try SQLiteKeyStore.connect(database, options)
        try SQLiteKeyStore.checkKind(of: connection)
        guard try SQLiteKeyStore.unverifiedHeader(connection).storeID == keys.storeID else {
            throw KeyStoreError(
                .storeExists,
                "\(directory.path) holds another store than the backup, with another key: it is kept; name an empty directory"
            )
        }
        try SQLiteKeyStore.verifyHeader(connection, keys)
        // Without a log nobody could read it while it is replaced.
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
            return try SQLiteConnection(overwriting: database, busyTimeout: options.busyTimeout)
        }
    }

    // MARK: The key

    /// Whether the copy becomes `store.key`; throws `wrongPassphrase` if another is there, the only one perhaps that opens a
    /// database elsewhere.
    private func writesKey() throws(KeyStoreError) -> Bool {
        guard let key else { return false }
        guard try directory.has(StoreKeyFile.name) else { return true }
        let name = directory.file(StoreKeyFile.name)
        do throws(KeyStoreError) {
            let current = try StoreKeyFile.read(in: directory)
            if current.withSpan({ current in key.key.withSpan { Sodium.areEqual(current, $0) } }) { return false }
        } catch {
            guard error.code == .corruptStore else { throw error }
            if replaces { return true }
            throw KeyStoreError(.storeExists, "\(name) exists, and is damaged: it is kept")
        }
        throw KeyStoreError(
            .wrongPassphrase, "\(name) is another key than \(key.path), and is kept: name an empty directory")
    }

    private func writeKey() throws(KeyStoreError) {
        guard let key else { return }
        let file = try directory.create(StoreKeyFile.newName, for: StoreKeyFile.name)
        try key.key.withSpan { (key) throws(KeyStoreError) in try file.write(key) }
        try directory.rename(StoreKeyFile.newName, to: StoreKeyFile.name)
    }
}

extension StoreTransaction {
    /// Keeps of a later state of this store what must not be undone. A damaged row is left out.
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
