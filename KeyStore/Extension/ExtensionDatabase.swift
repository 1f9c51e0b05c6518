package import Pushcrypt

/// The one database of an extension, `extension.db`: the messages that were shown, the journal, the responses that the app
/// has not handled yet, and what the user can answer with.
///
/// Each write is a separate transaction, on the disk when the call returns: one that fails stops no other. Any number of threads and
/// processes may use one file, and be killed at any moment. A missing or damaged file is recreated by the next write.
///
/// It holds no secret that is not sealed to a device key, and nothing that decides trust. Someone who can write the file
/// can make the guard forget or ignore messages.
public final class ExtensionDatabase: Sendable {
    /// The name of the file.
    static let fileName = RecoverableDatabase.name
    /// How long a call waits for other processes, in milliseconds: a notification extension has 30 seconds for all its
    /// work.
    package static let busyTimeout: Int32 = 2000

    let file: Locked<RecoverableDatabase>
    let maximumRows: Int
    /// Ends, from any thread, a call that is being made, so that no lock is held while the process is suspended.
    /// Nothing of it is then kept, and the call reports the problem.
    package let interruption: SQLiteInterruption

    /// Uses the file in this directory, which the app has created. Never fails: if the file cannot be used, each call
    /// says why.
    public convenience init(in directory: String) {
        self.init(in: directory, busyTimeout: Self.busyTimeout)
    }

    package convenience init(
        in directory: String, busyTimeout: Int32, maximumRows: Int = ReplayRules.maximumRows
    ) {
        self.init(RecoverableDatabase(in: directory, busyTimeout: busyTimeout), maximumRows: maximumRows)
    }

    private init(_ file: RecoverableDatabase, maximumRows: Int) {
        interruption = file.interruption
        self.file = Locked(file)
        self.maximumRows = maximumRows
    }

    /// Creates the file, when a device is enrolled; messages sent at or before `floor` never count as new.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeExists`, `storeBusy`,
    ///   `diskFull`, `inputOutput`.
    package static func create(in directory: String, floor: Timestamp) throws(KeyStoreError) -> ExtensionDatabase {
        let file = RecoverableDatabase(in: directory, busyTimeout: busyTimeout)
        try file.create(floor: floor)
        return ExtensionDatabase(file, maximumRows: ReplayRules.maximumRows)
    }

    /// Remembers the messages that were shown.
    package var replay: ReplayGuard { ReplayGuard(database: self) }

    /// The last deliveries, for debugging.
    public var journal: Journal { Journal(database: self) }

    /// The user's responses that the app could not handle yet.
    package var responses: Responses { Responses(database: self) }

    /// The keys with which the user can answer messages.
    package var answerKeys: AnswerKeys { AnswerKeys(database: self) }

    // MARK: Transactions

    func write<R>(
        at now: Timestamp, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        try file.withLock { (file) throws(KeyStoreError) in try file.write(at: now, body) }
    }

    /// Reads; returns nil if there is no file, or a damaged one.
    func read<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        try file.withLock { (file) throws(KeyStoreError) in try file.readUndamaged(body) }
    }

    /// Changes what is there; nothing if there is no file, or a damaged one.
    func writeIfPresent(_ body: (SQLiteConnection) throws(KeyStoreError) -> Void) throws(KeyStoreError) {
        try file.withLock { (file) throws(KeyStoreError) in try file.writeIfPresent(body) }
    }
}

/// The file `extension.db`, over one connection. It connects when needed, and recreates a missing or damaged file, or
/// one of an older layout, because nothing may stop a delivery.
///
/// The file has a rollback journal and not a write-ahead log, so that no lock is held between two calls: iOS kills an
/// app that is suspended with a lock on a shared file.
final class RecoverableDatabase {
    static let name: StaticString = "extension.db"
    private static let newName: StaticString = "extension.db.new"
    /// SQLite would apply an old journal to a new database of the same name.
    private static let leftovers: [StaticString] = [newName, "extension.db.new-journal", "extension.db-journal"]
    /// "PCEX": distinguishes the file from another program's database.
    private static let applicationID: Int64 = 0x5043_4558
    private static let version: Int64 = 3
    private static let declarations = Declarations(
        ReplayTables.schema, Journal.schema, Responses.schema, AnswerTable.schema)

    private struct Connection {
        let database: SQLiteConnection
        let identity: FileIdentity
    }

    let interruption = SQLiteInterruption()
    private let path: String
    private let busyTimeout: Int32
    private var connection: Connection?
    private var wasDamaged = false
    /// Whether a reader has found damage, so that the next writer recreates the file.
    private var isDamaged = false

    init(in path: String, busyTimeout: Int32) {
        self.path = path
        self.busyTimeout = busyTimeout
    }

    // MARK: Transactions

    /// Writes in one transaction; recreates a missing or damaged file, once.
    ///
    /// - Parameter now: The time that decides the replay guard's floor if the file is recreated.
    func write<R>(
        at now: Timestamp, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        do throws(KeyStoreError) {
            if !isDamaged { return try writeOnce(at: now, body) }
        } catch {
            guard error.code == .corruptStore else { throw error }
        }
        try recreate(replacing: connection?.identity, at: now)
        isDamaged = false
        return try writeOnce(at: now, body)
    }

    private func writeOnce<R>(
        at now: Timestamp, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        let database = try connected(at: now)
        return try database.transaction(.writing) { () throws(KeyStoreError) in try body(database) }
    }

    /// Writes in one transaction if there is a file, and no damaged one; creates nothing.
    func writeIfPresent(_ body: (SQLiteConnection) throws(KeyStoreError) -> Void) throws(KeyStoreError) {
        do throws(KeyStoreError) {
            guard let database = try connectedIfPresent() else { return }
            try database.transaction(.writing) { () throws(KeyStoreError) in try body(database) }
        } catch {
            guard error.code == .corruptStore else { throw error }
        }
    }

    /// Reads in one transaction; returns nil if there is no file. Creates nothing.
    func read<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        guard let database = try connectedIfPresent() else { return nil }
        return try database.transaction(.reading) { () throws(KeyStoreError) in try body(database) }
    }

    /// Reads in one transaction; returns nil if there is no file, or a damaged one, which the next writer recreates.
    func readUndamaged<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        do throws(KeyStoreError) {
            return try read(body)
        } catch {
            guard error.code == .corruptStore else { throw error }
            isDamaged = connection != nil
            return nil
        }
    }

    /// Reads from the file used last, even if it was removed or cannot be written.
    func readOpen<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        guard let database = connection?.database else { return nil }
        return try database.transaction(.reading) { () throws(KeyStoreError) in try body(database) }
    }

    /// Compares the indexes of the whole file with its tables; returns nil if there is no file.
    func isSound() throws(KeyStoreError) -> Bool? { try connectedIfPresent()?.isSound() }

    /// Returns, once, whether a damaged file was recreated.
    func takeDamaged() -> Bool {
        defer { wasDamaged = false }
        return wasDamaged
    }

    // MARK: The file

    /// Returns a connection to the file that has the name now; creates a missing one, and recreates a damaged one.
    private func connected(at now: Timestamp) throws(KeyStoreError) -> SQLiteConnection {
        if let connection, try !hasMoved() { return connection.database }
        let directory = try directory()
        guard let facts = try directory.facts(of: Self.name) else {
            try recreate(replacing: nil, at: now)
            return try connected(at: now)
        }
        do throws(KeyStoreError) {
            return try connect(to: facts, in: directory)
        } catch {
            guard error.code == .corruptStore else { throw error }
            // Replaces exactly the file that was checked: someone may have recreated it meanwhile.
            try recreate(replacing: facts.identity, at: now)
            return try connected(at: now)
        }
    }

    private func connectedIfPresent() throws(KeyStoreError) -> SQLiteConnection? {
        if let connection, try !hasMoved() { return connection.database }
        let directory = try directory()
        guard let facts = try directory.facts(of: Self.name) else { return nil }
        return try connect(to: facts, in: directory)
    }

    private func connect(to facts: FileFacts, in directory: StoreDirectory) throws(KeyStoreError) -> SQLiteConnection {
        let database = try connect(directory.file(Self.name))
        try check(database)
        connection = Connection(database: database, identity: facts.identity)
        return database
    }

    /// Returns whether another file has the name by now, because this one was removed or recreated.
    private func hasMoved() throws(KeyStoreError) -> Bool {
        guard let connection else { return false }
        return try FileFacts(at: connection.database.path)?.identity != connection.identity
    }

    private func directory() throws(KeyStoreError) -> StoreDirectory { try StoreDirectory(existing: path) }

    private func connect(_ path: String) throws(KeyStoreError) -> SQLiteConnection {
        try SQLiteConnection(path: path, busyTimeout: busyTimeout, interruption: interruption)
    }

    /// Throws `newerVersion`, or `corruptStore` for any other file.
    private func check(_ database: SQLiteConnection) throws(KeyStoreError) {
        guard try database.integer("PRAGMA application_id") == Self.applicationID else {
            throw KeyStoreError(.corruptStore, "\(database.path) is not an extension's database")
        }
        let version = try database.integer("PRAGMA user_version")
        guard version >= Self.version else {
            throw KeyStoreError(.corruptStore, "\(database.path) has an older layout")
        }
        guard version == Self.version else {
            throw KeyStoreError(
                .newerVersion,
                "\(database.path) was written by a newer version than this one reads: upgrade pushcrypt")
        }
        try database.require(Self.declarations)
    }

    /// Creates the file; throws `storeExists` if it exists.
    func create(floor: Timestamp) throws(KeyStoreError) {
        let directory = try directory()
        try directory.withLock(waiting: busyTimeout) { () throws(KeyStoreError) in
            guard try !directory.has(Self.name) else {
                throw KeyStoreError(.storeExists, "\(directory.file(Self.name)) already exists: use it")
            }
            try build(in: directory, floor: floor)
        }
    }

    /// Creates the file, replacing a damaged one, if any. [O-8.10]
    func recreate(replacing damaged: FileIdentity?, at now: Timestamp) throws(KeyStoreError) {
        let directory = try directory()
        try directory.withLock(waiting: busyTimeout) { () throws(KeyStoreError) in
            // Another process may have done it while this one waited.
            guard try directory.facts(of: Self.name)?.identity == damaged else { return }
            try interruption.check(directory.file(Self.name))
            let age = damaged == nil ? ReplayRules.firstFloorAge : ReplayRules.recreatedFloorAge
            try build(in: directory, floor: now.subtracting(age))
            wasDamaged = wasDamaged || damaged != nil
        }
        // Close last: until then the inode cannot be reused.
        connection = nil
    }

    private func build(in directory: StoreDirectory, floor: Timestamp) throws(KeyStoreError) {
        for name in Self.leftovers { try directory.removeIfPresent(name) }
        do throws(KeyStoreError) {
            _ = try directory.create(Self.newName)
            let database = try connect(directory.file(Self.newName))
            try database.transaction(.writing) { () throws(KeyStoreError) in
                try database.execute("PRAGMA application_id = \(Self.applicationID)")
                try database.execute("PRAGMA user_version = \(Self.version)")
                try database.declare(Self.declarations)
                try ReplayTables.fill(database, floor: floor)
            }
            try directory.rename(Self.newName, to: Self.name)
        } catch {
            for name in Self.leftovers { try? directory.removeIfPresent(name) }
            throw error
        }
    }
}
