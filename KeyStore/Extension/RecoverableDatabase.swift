internal import Pushcrypt

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
        ReplayTables.schema, JournalTable.schema, ResponseTable.schema, AnswerTable.schema)

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

    /// Writes in one transaction if there is a file; creates nothing.
    func writeIfPresent(_ body: (SQLiteConnection) throws(KeyStoreError) -> Void) throws(KeyStoreError) {
        guard let database = try connectedIfPresent() else { return }
        try database.transaction(.writing) { () throws(KeyStoreError) in try body(database) }
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
