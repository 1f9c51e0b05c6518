internal import Pushcrypt

// How stores are made and opened.
extension SQLiteKeyStore {
    /// Creates a store, its directory, and those above it.
    ///
    /// An interrupted creation, even by a power failure, leaves no store; calling this again completes it. If the new
    /// store cannot be opened, this throws, but the store exists.
    ///
    /// - Throws: `storeExists`.
    public static func create(
        in directory: String, passphrase: StorePassphrase? = nil
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        try create(in: directory, passphrase: passphrase, options: StoreOptions())
    }

    /// Opens an existing store.
    ///
    /// - Throws: `storeMissing`, `storeKeyMissing`, `passphraseNeeded`, `wrongPassphrase` (also for
    ///   a `store.key` of another store, and for a passphrase if the store has none), `newerVersion`.
    public static func open(
        in directory: String, passphrase: StorePassphrase? = nil
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        try open(in: directory, passphrase: passphrase, options: StoreOptions())
    }

    // MARK: Creation

    package static func create(
        in path: String, passphrase: StorePassphrase?, options: StoreOptions
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        let directory = try StoreDirectory(making: path)
        let keys = try directory.withLock(waiting: options.busyTimeout) { () throws(KeyStoreError) in
            guard try !directory.has(databaseName) else {
                throw KeyStoreError(
                    .storeExists, "a key store already exists at \(directory.path): use it, or name another directory"
                )
            }
            for name in newFiles + logFiles { try directory.removeIfPresent(name) }
            do throws(KeyStoreError) {
                return try build(in: directory, passphrase, options)
            } catch {
                for name in newFiles { try? directory.removeIfPresent(name) }
                throw error
            }
        }
        let facts = try databaseFacts(in: directory)
        return SQLiteKeyStore(
            try connect(directory.file(databaseName), options), facts.identity, keys, directory, options)
    }

    /// Builds the database under another name, and renames it when complete, so that it never exists without its key.
    private static func build(
        in directory: StoreDirectory, _ passphrase: StorePassphrase?, _ options: StoreOptions
    ) throws(KeyStoreError) -> StoreKeys {
        let derivation = passphrase.map { _ in StoreHeader.Derivation(cost: options.cost) }
        let keys =
            if let passphrase, let derivation {
                StoreKeys(storeKey: try derivation.storeKey(from: passphrase))
            } else {
                StoreKeys(storeKey: try StoreKeyFile.make(in: directory))
            }
        _ = try directory.create(newDatabaseName)
        try fill(try connect(directory.file(newDatabaseName), options), keys, derivation)
        try directory.rename(newDatabaseName, to: databaseName)
        return keys
    }

    /// Creates a store in memory, for tests; it ends with its last reference.
    package static func inMemory(options: StoreOptions = StoreOptions()) throws(KeyStoreError) -> SQLiteKeyStore {
        let keys = StoreKeys(storeKey: SecretBytes(randomCount: StoreKDF.keyLength))
        let connection = try connect(SQLiteConnection.memory, options)
        try fill(connection, keys, nil)
        return SQLiteKeyStore(connection, nil, keys, nil, options)
    }

    /// Writes the tables and the header of a new store.
    private static func fill(
        _ connection: SQLiteConnection, _ keys: StoreKeys, _ derivation: StoreHeader.Derivation?
    ) throws(KeyStoreError) {
        try connection.transaction(.writing) { () throws(KeyStoreError) in
            try Schema.create(in: connection)
            try StoreHeader.write(keys, derivation, to: connection)
        }
        try connection.useLog()
    }

    // MARK: Opening

    package static func open(
        in path: String, passphrase: StorePassphrase?, options: StoreOptions
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        let directory = try StoreDirectory(existing: path)
        return try connect(in: directory, options) { (connection) throws(KeyStoreError) in
            try unlock(
                connection, "the store at \(directory.path)", directory.file(StoreKeyFile.name), passphrase)
        }
    }

    /// Opens another connection to the same store without deriving its key again, so that two threads can read at once.
    /// If the database was replaced by another state of the same store, such as a backup, opens that.
    ///
    /// A store in memory has one connection, which is shared.
    ///
    /// - Throws: `storeMissing`; `wrongPassphrase` if another store is there now; `newerVersion`.
    package func anotherConnection() throws(KeyStoreError) -> SQLiteKeyStore {
        guard let directory else { return self }
        return try Self.connect(in: directory, options) { (connection) throws(KeyStoreError) in
            try Self.checkKind(of: connection)
            guard try StoreHeader(of: connection).isOf(keys) else {
                throw KeyStoreError(
                    .wrongPassphrase, "\(directory.path) now holds another store than before: start again to use it")
            }
            return keys
        }
    }

    /// Connects to the database in a directory, whose keys `body` returns.
    ///
    /// Where SQLite cannot create its log, as on a read-only or full disk, or this user may only read, a database without one
    /// is read as it is.
    private static func connect(
        in directory: StoreDirectory, _ options: StoreOptions,
        _ body: (SQLiteConnection) throws(KeyStoreError) -> StoreKeys
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        // Read before the file is opened: if another file takes its name in between, this connection counts as replaced.
        let facts = try databaseFacts(in: directory)
        let path = directory.file(databaseName)
        let failure: KeyStoreError
        do throws(KeyStoreError) {
            // With a log that this user creates, the owner could change nothing any more.
            if try !LogFile.log.hasContent(in: directory) { try requireWritable(path) }
            let connection = try connect(path, options)
            let keys = try body(connection)
            // Another program may have turned the log off. While somebody reads it cannot be turned on again.
            if try !connection.hasLog() { try? SQLiteConnection(path: path).useLog() }
            return SQLiteKeyStore(connection, facts.identity, keys, directory, options)
        } catch {
            failure = error
        }
        guard failure.code == .inputOutput || failure.code == .diskFull,
            try !LogFile.log.hasContent(in: directory), try !LogFile.journal.hasContent(in: directory)
        else { throw failure }
        let connection = try SQLiteConnection(path: path, .unchanging)
        return SQLiteKeyStore(
            connection, facts.identity, try body(connection), directory, options,
            ReadOnly(reason: failure, changedAt: facts.changedAt))
    }

    static func connect(
        _ path: String, named name: String? = nil, _ options: StoreOptions
    ) throws(KeyStoreError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, named: name, busyTimeout: options.busyTimeout)
        if let pages = options.maximumPages { try connection.execute("PRAGMA max_page_count = \(pages)") }
        return connection
    }

    private static func databaseFacts(in directory: StoreDirectory) throws(KeyStoreError) -> FileFacts {
        guard let facts = try directory.facts(of: databaseName) else { throw StoreDirectory.missing(directory.path) }
        return facts
    }

    // MARK: Unlocking

    /// Gets the store's key, and checks it before anything else is trusted.
    ///
    /// - Parameters:
    ///   - subject: The store in errors.
    ///   - keyPath: The file of the key, if no passphrase opens the store.
    static func unlock(
        _ connection: SQLiteConnection, _ subject: @autoclosure () -> String, _ keyPath: String,
        _ passphrase: StorePassphrase?
    ) throws(KeyStoreError) -> StoreKeys {
        try checkKind(of: connection)
        let header = try StoreHeader(of: connection)
        let key: SecretBytes
        switch (header.derivation, passphrase) {
        case (let derivation?, let passphrase?): key = try derivation.storeKey(from: passphrase)
        case (_?, nil): throw KeyStoreError(.passphraseNeeded, "\(subject()) needs a passphrase")
        case (nil, nil):
            guard try FileFacts(at: keyPath) != nil else {
                throw KeyStoreError(
                    .storeKeyMissing,
                    "\(keyPath) is missing, and the database cannot be opened without it: restore it from a backup")
            }
            key = try StoreKeyFile.read(at: keyPath)
        case (nil, _?):
            // A caller that expects a passphrase must not get another store instead.
            throw KeyStoreError(
                .wrongPassphrase, "\(subject()) has no passphrase: open it without one if it is yours")
        }
        let keys = StoreKeys(storeKey: key)
        guard header.isOf(keys) else {
            throw KeyStoreError(
                .wrongPassphrase,
                header.derivation == nil
                    ? "\(keyPath) is not the key of \(connection.name): restore the one created with it"
                    : "wrong passphrase for \(connection.name): try again")
        }
        return keys
    }

    /// Refuses a database that is not a key store, or one with another layout.
    static func checkKind(of connection: SQLiteConnection) throws(KeyStoreError) {
        let version = try Schema.version(of: connection)
        guard try connection.integer("PRAGMA application_id") == Schema.applicationID, version > 0 else {
            throw KeyStoreError(.corruptStore, "\(connection.name) is not a key store: restore it from a backup")
        }
        guard version <= Schema.version else {
            throw KeyStoreError(
                .newerVersion,
                "\(connection.name) was written by a newer version (\(version)) than this one reads: upgrade pushcrypt")
        }
        guard version == Schema.version else {
            throw KeyStoreError(
                .olderVersion,
                "\(connection.name) was written by a version before 1.0, with layout \(version) instead of \(Schema.version): create a new store, and register the devices again"
            )
        }
        try connection.require(Schema.declarations)
    }
}
