internal import Pushcrypt

/// A small database that an extension or the app keeps for itself. It connects when needed, and recreates a missing or
/// damaged file, or one of an older layout, because nothing may stop a delivery.
///
/// The file has a rollback journal and not a write-ahead log, so that no lock is held between two calls: iOS kills an
/// app that is suspended with a lock on a shared file.
final class RecoverableDatabase {
    /// The properties of one kind of file.
    struct Kind: Sendable {
        /// The kind as it appears in messages: `a replay file`.
        let noun: StaticString
        let name: StaticString
        let newName: StaticString
        /// SQLite would apply an old journal to a new database of the same name.
        let journals: [StaticString]
        /// Four letters that distinguish it from another program's database.
        let applicationID: Int64
        let version: Int64
        /// Whether a change is on the disk when a call returns. Otherwise it survives the end of the process, not a
        /// power failure, at a twentieth of the cost.
        let isDurable: Bool
        let schema: StaticString

        fileprivate var leftovers: [StaticString] { [newName] + journals }
    }

    /// Writes the initial content of a new file.
    typealias Filling = (SQLiteConnection) throws(KeyStoreError) -> Void

    private struct Connection {
        let database: SQLiteConnection
        let identity: FileIdentity
    }

    private let kind: Kind
    private let path: String
    private let busyTimeout: Int32
    private var connection: Connection?
    private var wasDamaged = false
    private let interruption: SQLiteInterruption

    init(_ kind: Kind, in path: String, busyTimeout: Int32, interruption: SQLiteInterruption = SQLiteInterruption()) {
        self.interruption = interruption
        self.kind = kind
        self.path = path
        self.busyTimeout = busyTimeout
    }

    // MARK: Transactions

    /// Writes in one transaction; recreates a missing or damaged file, once.
    func write<R>(
        filling fill: Filling = { _ in }, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        do throws(KeyStoreError) {
            return try writeOnce(filling: fill, body)
        } catch {
            guard error.code == .corruptStore else { throw error }
            try recreate(replacing: connection?.identity, filling: fill)
            return try writeOnce(filling: fill, body)
        }
    }

    private func writeOnce<R>(
        filling fill: Filling, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        let database = try connected(filling: fill)
        return try database.transaction(.writing) { () throws(KeyStoreError) in try body(database) }
    }

    /// Reads in one transaction; returns nil if there is no file. Creates nothing.
    func read<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        guard let database = try connectedIfPresent() else { return nil }
        return try database.transaction(.reading) { () throws(KeyStoreError) in try body(database) }
    }

    /// Compares the indexes of the whole file with its tables; returns nil if there is no file.
    func isSound() throws(KeyStoreError) -> Bool? { try connectedIfPresent()?.isSound() }

    /// Reads in one transaction; returns nil if there is no file. Recreates a damaged one, and reads that.
    func readOrRecreate<R>(
        filling fill: Filling = { _ in }, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R? {
        do throws(KeyStoreError) {
            return try read(body)
        } catch {
            guard error.code == .corruptStore else { throw error }
            return try write(filling: fill, body)
        }
    }

    /// Reads from the file used last, even if it was removed or cannot be written.
    func readOpen<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        guard let database = connection?.database else { return nil }
        return try database.transaction(.reading) { () throws(KeyStoreError) in try body(database) }
    }

    /// Connects if possible; otherwise the next call tries again and reports the problem.
    func prepare(filling fill: Filling) { _ = try? connected(filling: fill) }

    /// Returns, once, whether a damaged file was recreated.
    func takeDamaged() -> Bool {
        defer { wasDamaged = false }
        return wasDamaged
    }

    // MARK: The file

    /// Returns a connection to the file that has the name now; creates a missing one, and recreates a damaged one.
    private func connected(filling fill: Filling) throws(KeyStoreError) -> SQLiteConnection {
        if let connection, try !hasMoved() { return connection.database }
        let directory = try directory()
        guard let facts = try directory.facts(of: kind.name) else {
            try recreate(replacing: nil, filling: fill)
            return try connected(filling: fill)
        }
        do throws(KeyStoreError) {
            return try connect(to: facts, in: directory)
        } catch {
            guard error.code == .corruptStore else { throw error }
            // Replaces exactly the file that was checked: someone may have recreated it meanwhile.
            try recreate(replacing: facts.identity, filling: fill)
            return try connected(filling: fill)
        }
    }

    private func connectedIfPresent() throws(KeyStoreError) -> SQLiteConnection? {
        if let connection, try !hasMoved() { return connection.database }
        let directory = try directory()
        guard let facts = try directory.facts(of: kind.name) else { return nil }
        return try connect(to: facts, in: directory)
    }

    private func connect(to facts: FileFacts, in directory: StoreDirectory) throws(KeyStoreError) -> SQLiteConnection {
        let database = try connect(directory.file(kind.name))
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
        let database = try SQLiteConnection(path: path, busyTimeout: busyTimeout, interruption: interruption)
        if !kind.isDurable { try database.execute("PRAGMA synchronous = OFF") }
        return database
    }

    /// Throws `newerVersion`, or `corruptStore` for any other file.
    private func check(_ database: SQLiteConnection) throws(KeyStoreError) {
        guard try database.integer("PRAGMA application_id") == kind.applicationID else {
            throw KeyStoreError(.corruptStore, "\(database.path) is not \(kind.noun)")
        }
        let version = try database.integer("PRAGMA user_version")
        guard version >= kind.version else {
            throw KeyStoreError(.corruptStore, "\(database.path) has an older layout")
        }
        guard version == kind.version else {
            throw KeyStoreError(
                .newerVersion,
                "\(database.path) was written by a newer version than this one reads: upgrade pushcrypt")
        }
        try database.refuseForeignObjects()
    }

    /// Creates the file; throws `storeExists` if it exists.
    func create(filling fill: Filling) throws(KeyStoreError) {
        let directory = try directory()
        try directory.withLock(waiting: busyTimeout) { () throws(KeyStoreError) in
            guard try !directory.has(kind.name) else {
                throw KeyStoreError(.storeExists, "\(directory.file(kind.name)) already exists: use it")
            }
            try build(in: directory, filling: fill)
        }
    }

    /// Creates the file, replacing a damaged one, if any.
    func recreate(replacing damaged: FileIdentity?, filling fill: Filling) throws(KeyStoreError) {
        let directory = try directory()
        try directory.withLock(waiting: busyTimeout) { () throws(KeyStoreError) in
            // Another process may have done it while this one waited.
            guard try directory.facts(of: kind.name)?.identity == damaged else { return }
            try interruption.check(directory.file(kind.name))
            try build(in: directory, filling: fill)
            wasDamaged = wasDamaged || damaged != nil
        }
        // Close last: until then the inode cannot be reused.
        connection = nil
    }

    private func build(in directory: StoreDirectory, filling fill: Filling) throws(KeyStoreError) {
        for name in kind.leftovers { try directory.removeIfPresent(name) }
        do throws(KeyStoreError) {
            _ = try directory.create(kind.newName)
            let database = try connect(directory.file(kind.newName))
            try database.transaction(.writing) { () throws(KeyStoreError) in
                try database.execute("PRAGMA application_id = \(kind.applicationID)")
                try database.execute("PRAGMA user_version = \(kind.version)")
                try database.execute("\(kind.schema)")
                try fill(database)
            }
            try directory.rename(kind.newName, to: kind.name)
        } catch {
            for name in kind.leftovers { try? directory.removeIfPresent(name) }
            throw error
        }
    }
}
