public import Pushcrypt

/// Keys, trust and devices in one SQLite database, for a provider, a device, or both.
///
/// A directory holds `keystore.db` and `store.key`; with a passphrase there is no `store.key`. New files have mode 0600, new
/// directories 0700; other modes, owners and links work, and `check()` says what other users can reach. Every
/// row is authenticated, and the keys of a provider, and those of a device, are sealed as a whole: someone who can read the
/// database but not `store.key` learns what it has of devices, such as names, users, public keys and times; someone who can
/// write it can only delete rows or put older ones back. Every change is one transaction, on the disk when the call returns.
///
/// Any number of threads and processes may use one store. A call waits up to two minutes for another process that
/// writes, then throws `storeBusy`. Every call may throw that, `corruptStore`, `diskFull` and `inputOutput`; errors
/// listed with a call are additional.
public final class SQLiteKeyStore: Sendable {
    /// The name of a key if the caller gives none: `default`.
    public static let defaultName = DeviceState.defaultName

    static let databaseName: StaticString = "keystore.db"
    static let newDatabaseName: StaticString = "keystore.db.new"

    /// Files of an interrupted creation, and the log of a database that was removed: SQLite would apply an old log to a
    /// new database of the same name.
    static let leftovers: [StaticString] =
        [
            newDatabaseName, "keystore.db.new-wal", "keystore.db.new-shm", "keystore.db.new-journal",
            "keystore.db-journal",
        ] + logFiles

    static let logName: StaticString = "keystore.db-wal"
    static let logFiles = [logName, "keystore.db-shm"]
    /// The files in a store's directory that stay.
    static let keptFiles = [StoreKeyFile.name, databaseName, ExtensionDatabase.fileName]
    /// The files in a store's directory.
    static let files = logFiles + keptFiles

    let directory: StoreDirectory?
    /// The database that the connection reads, even if another file has its name by now.
    let file: FileIdentity?
    let keys: StoreKeys
    let options: StoreOptions
    /// How the store is read where it cannot be written; nil if it can, as far as is known.
    let readOnly: ReadOnly?
    private let connection: Locked<SQLiteConnection>
    let states = StateCaches()

    /// A database that is read as it is.
    struct ReadOnly {
        /// Why it cannot be written.
        let reason: KeyStoreError
        /// When it had changed before it was opened.
        let changedAt: [Int]
    }

    // MARK: Opening

    /// Creates a store, its directory, and those above it.
    ///
    /// An interrupted creation, even by a power failure, leaves no store; calling this again completes it. If the new
    /// store cannot be opened, this throws, but the store exists.
    ///
    /// - Throws: `storeExists`.
    public static func create(
        in directory: String, passphrase: StorePassphrase? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        try create(in: directory, passphrase: passphrase, options: StoreOptions(), at: now)
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

    /// Creates a store in memory, for tests; it ends with its last reference.
    public static func inMemory() throws(KeyStoreError) -> SQLiteKeyStore { try inMemory(options: StoreOptions()) }

    /// Opens another connection to the same store without deriving its key again, so that two threads can read at once.
    /// If the database was replaced by another state of the same store, such as a backup, opens that.
    ///
    /// A store in memory has one connection, which is shared.
    ///
    /// - Throws: `storeMissing`; `wrongPassphrase` if another store is there now; `newerVersion`.
    package func anotherConnection() throws(KeyStoreError) -> SQLiteKeyStore {
        guard let directory else { return self }
        let facts = try Self.databaseFacts(in: directory)
        let (connection, _, readOnly) = try Self.connect(in: directory, options) { (connection) throws(KeyStoreError) in
            try Self.checkKind(of: connection)
            guard try Self.unverifiedHeader(connection).storeID == keys.storeID else {
                throw KeyStoreError(
                    .wrongPassphrase, "\(directory.path) now holds another store than before: start again to use it")
            }
            try Self.verifyHeader(connection, keys)
        }
        return SQLiteKeyStore(connection, facts.identity, keys, directory, options, readOnly)
    }

    /// Read before the file is opened: if another file takes its name in between, this connection counts as replaced.
    private static func databaseFacts(in directory: StoreDirectory) throws(KeyStoreError) -> FileFacts {
        guard let facts = try directory.facts(of: databaseName) else { throw StoreDirectory.missing(directory.path) }
        return facts
    }

    package static func create(
        in path: String, passphrase: StorePassphrase?, options: StoreOptions, at now: Timestamp
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        let directory = try StoreDirectory(making: path)
        let keys = try directory.withLock(waiting: options.busyTimeout) { () throws(KeyStoreError) in
            guard try !directory.has(databaseName) else {
                throw KeyStoreError(
                    .storeExists, "a key store already exists at \(directory.path): use it, or name another directory"
                )
            }
            for name in leftovers { try directory.removeIfPresent(name) }
            do throws(KeyStoreError) {
                return try build(in: directory, passphrase, options, now)
            } catch {
                for name in leftovers { try? directory.removeIfPresent(name) }
                throw error
            }
        }
        let facts = try databaseFacts(in: directory)
        return SQLiteKeyStore(
            try connect(directory.file(databaseName), options), facts.identity, keys, directory, options)
    }

    /// Builds the database under another name, and renames it when complete, so that it never exists without its key.
    private static func build(
        in directory: StoreDirectory, _ passphrase: StorePassphrase?, _ options: StoreOptions, _ now: Timestamp
    ) throws(KeyStoreError) -> StoreKeys {
        let derivation = passphrase.map { _ in StoreHeader.Derivation(cost: options.cost) }
        let keys: StoreKeys
        if let passphrase, let derivation {
            keys = StoreKeys(newStoreWith: try derivation.storeKey(from: passphrase))
        } else {
            keys = StoreKeys(newStoreWith: try StoreKeyFile.make(in: directory))
        }
        _ = try directory.create(newDatabaseName)
        try fill(try connect(directory.file(newDatabaseName), options), keys, derivation, options, now)
        try directory.rename(newDatabaseName, to: databaseName)
        return keys
    }

    package static func inMemory(options: StoreOptions) throws(KeyStoreError) -> SQLiteKeyStore {
        let keys = StoreKeys(newStoreWith: SecretBytes(randomCount: StoreKDF.keyLength))
        let connection = try connect(SQLiteConnection.memory, options)
        try fill(connection, keys, nil, options, Timestamp(milliseconds: 0))
        return SQLiteKeyStore(connection, nil, keys, nil, options)
    }

    package static func open(
        in path: String, passphrase: StorePassphrase?, options: StoreOptions
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        let directory = try StoreDirectory(existing: path)
        while true {
            let facts = try databaseFacts(in: directory)
            let store = Result { () throws(KeyStoreError) in try open(in: directory, facts, passphrase, options) }
            // A backup may have been restored meanwhile, and its log been read beside the old database.
            if try databaseFacts(in: directory).identity == facts.identity { return try store.get() }
        }
    }

    private static func open(
        in directory: StoreDirectory, _ facts: FileFacts, _ passphrase: StorePassphrase?, _ options: StoreOptions
    ) throws(KeyStoreError) -> SQLiteKeyStore {
        let (connection, keys, readOnly) = try connect(in: directory, options) { (connection) throws(KeyStoreError) in
            try unlock(connection, "the store at \(directory.path)", .file(in: directory), passphrase)
        }
        return SQLiteKeyStore(connection, facts.identity, keys, directory, options, readOnly)
    }

    /// Connects to the database in a directory, and reads it with `body`.
    ///
    /// Where SQLite cannot create its log, as on a read-only or full disk, or this user may only read, a database without one
    /// is read as it is.
    private static func connect<R>(
        in directory: StoreDirectory, _ options: StoreOptions, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> (SQLiteConnection, R, ReadOnly?) {
        let failure: KeyStoreError
        do throws(KeyStoreError) {
            let path = directory.file(databaseName)
            // With a log that this user creates, the owner could change nothing any more.
            if try !LogFile.log.hasContent(in: directory) { try requireWritable(path) }
            let connection = try connect(path, options)
            let result = try body(connection)
            // Another program may have turned the log off. While somebody reads it cannot be turned on again.
            if try !connection.hasLog() { try? SQLiteConnection(path: connection.path, busyTimeout: 0).useLog() }
            return (connection, result, nil)
        } catch {
            failure = error
        }
        let facts = try databaseFacts(in: directory)
        guard failure.code == .inputOutput || failure.code == .diskFull,
            try !LogFile.log.hasContent(in: directory), try !LogFile.journal.hasContent(in: directory)
        else { throw failure }
        let connection = try SQLiteConnection(unchangingAt: directory.file(databaseName))
        return (connection, try body(connection), ReadOnly(reason: failure, changedAt: facts.changedAt))
    }

    init(
        _ connection: SQLiteConnection, _ file: FileIdentity?, _ keys: StoreKeys, _ directory: StoreDirectory?,
        _ options: StoreOptions, _ readOnly: ReadOnly? = nil
    ) {
        self.connection = Locked(connection)
        self.file = file
        self.keys = keys
        self.directory = directory
        self.options = options
        self.readOnly = readOnly
    }

    static func connect(
        _ path: String, named name: String? = nil, _ options: StoreOptions
    ) throws(KeyStoreError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, named: name, busyTimeout: options.busyTimeout)
        if let pages = options.maximumPages { try connection.execute("PRAGMA max_page_count = \(pages)") }
        return connection
    }

    /// Writes the tables and the header of a new store.
    private static func fill(
        _ connection: SQLiteConnection, _ keys: StoreKeys, _ derivation: StoreHeader.Derivation?,
        _ options: StoreOptions, _ now: Timestamp
    ) throws(KeyStoreError) {
        try connection.transaction(.writing) { () throws(KeyStoreError) in
            try Schema.create(in: connection)
            let store = StoreTransaction(connection: connection, keys: keys)
            try store.put(StoreHeader(keys: keys, derivation: derivation, createdAt: now))
        }
        try connection.useLog()
    }

    // MARK: Transactions

    /// Reads in one snapshot.
    func read<R>(_ body: (StoreTransaction) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try connection.withLock { (connection) throws(KeyStoreError) in
            try connection.transaction(.reading) { () throws(KeyStoreError) in try body(transaction(connection)) }
        }
    }

    /// Reads with one statement, which is its own snapshot.
    func readOnce<R>(_ body: (StoreTransaction) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try connection.withLock { (connection) throws(KeyStoreError) in try body(transaction(connection)) }
    }

    /// Reads and writes as the only writer; if `body` throws, nothing has changed. A secret that the provider's state has lost is then
    /// in none of the store's files.
    ///
    /// A reader that holds the log for a moment, or a disk that fails then, is no failure: the change is made, and the connection
    /// that closes last empties the log.
    func write<R>(_ body: (StoreTransaction) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        if let readOnly { throw readOnly.reason }
        let (result, memory) = try connection.withLock { (connection) throws(KeyStoreError) in
            try connection.transaction(.writing) { () throws(KeyStoreError) in
                try refuseReplaced(connection)
                let store = transaction(connection)
                return (try body(store), store.memory)
            }
        }
        // The secrets of a value share their memory: one that was lost goes with the others.
        if memory.hasChanged { states.provider.withLock { $0.forget() } }
        if memory.hasLostSecrets { try? eraseDeleted() }
        return result
    }

    private func transaction(_ connection: SQLiteConnection) -> StoreTransaction {
        StoreTransaction(connection: connection, keys: keys, states: states)
    }

    /// Returns the provider's state.
    func provider() throws(KeyStoreError) -> ProviderState {
        try readOnce { (store) throws(KeyStoreError) in try store.provider() }
    }

    /// Changes the provider's state in one transaction; if `body` throws, nothing has changed.
    @discardableResult
    func changeProvider<R>(
        _ body: (inout ProviderState) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        try write { (store) throws(KeyStoreError) in try store.changeProvider(body) }
    }

    /// Throws `inputOutput` if another database has taken the place of this one, or its log is gone: a change would be lost.
    private func refuseReplaced(_ connection: SQLiteConnection) throws(KeyStoreError) {
        guard let directory else { return }
        guard try FileFacts(at: directory.file(Self.databaseName))?.identity == file else {
            throw KeyStoreError(
                .inputOutput,
                "the store at \(directory.path) was replaced while it was open: open it again, and repeat the change")
        }
        let identity = try LogFile.log.facts(in: directory)?.identity
        guard connection.log == nil || identity == connection.log else {
            throw KeyStoreError(
                .inputOutput,
                "\(directory.file(Self.logName)) was removed while the store was open, and the latest changes may be lost: open the store again, and repeat the change"
            )
        }
        connection.log = identity
    }

    /// Uses the connection outside a transaction.
    func withConnection<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try connection.withLock(body)
    }
}
