package import Pushcrypt

/// Keys, trust and devices in one SQLite database, for a provider, a device, or both.
///
/// A directory holds `keystore.db` and `store.key`; with a passphrase there is no `store.key`. New files have mode 0600, new
/// directories 0700; other modes, owners and links work, and `check()` says what other users can reach. Every
/// row is authenticated, and the keys of a provider, and those of a device, are sealed as a whole: someone who can read the
/// database but not `store.key` learns what it has of devices, such as names, users, public keys and times; someone who can
/// write it can only delete rows or put older ones back. Every change is one transaction, on the disk when the call returns, unless
/// somebody replaces or removes files of the store while it is open.
///
/// Any number of threads and processes may use one store. A call waits up to two minutes for another process that
/// writes, then throws `storeBusy`. Every call may throw that, `corruptStore`, `diskFull` and `inputOutput`; errors
/// listed with a call are additional.
public final class SQLiteKeyStore: Sendable {
    static let databaseName: StaticString = "keystore.db"
    static let newDatabaseName: StaticString = "keystore.db.new"
    static let newFiles: [StaticString] = [
        newDatabaseName, "keystore.db.new-wal", "keystore.db.new-shm", "keystore.db.new-journal",
    ]

    /// The logs of a database: SQLite would apply an old one to a new database of the same name.
    static let logFiles: [StaticString] = ["keystore.db-journal", "keystore.db-wal", "keystore.db-shm"]

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

    /// Reads and writes as the only writer; if `body` throws, nothing has changed. A secret that a state has lost is then in
    /// none of the store's files.
    ///
    /// A reader that holds the log for a moment, or a disk that fails then, is no failure: the change is made, and the connection
    /// that closes last empties the log.
    func write<R>(_ body: (StoreTransaction) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        if let readOnly { throw readOnly.reason }
        let (result, hasLostSecrets) = try connection.withLock { (connection) throws(KeyStoreError) in
            try connection.transaction(.writing) { () throws(KeyStoreError) in
                try refuseReplaced()
                let store = transaction(connection)
                return (try body(store), store.memory.hasLostSecrets)
            }
        }
        guard hasLostSecrets else { return result }
        // The secrets of a value share their memory: one that was lost goes with the others.
        states.forget()
        try? eraseDeleted()
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

    /// Throws `inputOutput` if another database has taken the place of this one: a change would be lost.
    private func refuseReplaced() throws(KeyStoreError) {
        guard let directory, try FileFacts(at: directory.file(Self.databaseName))?.identity != file else { return }
        throw KeyStoreError(
            .inputOutput,
            "the store at \(directory.path) was replaced while it was open: open it again, and repeat the change")
    }

    /// Uses the connection outside a transaction.
    func withConnection<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try connection.withLock { (connection) throws(KeyStoreError) in try body(connection) }
    }
}

/// Options for tests.
package struct StoreOptions: Sendable {
    package var cost = StoreKDF.Cost.standard
    /// How long a call waits for other writers, in milliseconds: an import or a backup takes a while.
    package var busyTimeout: Int32 = 120_000
    /// The number of pages at which the database counts as a full disk.
    package var maximumPages: Int?

    package init() {}
}

/// The state of a store; shows a long-running program whether its data may be out of date.
///
/// Two values of one connection are equal if nothing has changed in between.
package struct StoreVersion: Hashable, Sendable {
    private let others: Int64
    private let own: Int32
    /// Whether the database that this connection reads was replaced by another, such as a restored backup, or was changed
    /// although it could only be read here; `anotherConnection()` opens what is there now.
    package let isReplaced: Bool

    fileprivate init(others: Int64, own: Int32, isReplaced: Bool) {
        self.others = others
        self.own = own
        self.isReplaced = isReplaced
    }
}

extension SQLiteKeyStore {
    /// Returns the state of the store; takes a few microseconds.
    ///
    /// - Throws: `storeMissing` if the database no longer has its name.
    package func version() throws(KeyStoreError) -> StoreVersion {
        var isReplaced = false
        if let directory {
            guard let facts = try FileFacts(at: directory.file(Self.databaseName)) else {
                throw StoreDirectory.missing(directory.path)
            }
            isReplaced = facts.identity != file
            // Another process writes after all, and this connection never reads its log.
            if let readOnly {
                let hasLog = try LogFile.log.hasContent(in: directory)
                isReplaced = isReplaced || hasLog || facts.changedAt != readOnly.changedAt
            }
        }
        let state = try withConnection { (connection) throws(KeyStoreError) in try connection.state() }
        return StoreVersion(others: state.others, own: state.own, isReplaced: isReplaced)
    }
}
