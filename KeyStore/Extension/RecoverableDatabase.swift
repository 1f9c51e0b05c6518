internal import Pushcrypt

/// One user of a small database that an extension or the app keeps for itself: connects when needed, and makes the file
/// anew when it is missing or damaged, because nothing may stop a delivery.
///
/// The file has a rollback journal and not a write-ahead log, so that no lock is held between two calls: iOS ends an
/// app that is suspended with a lock on a shared file.
final class RecoverableDatabase {
    /// What tells one such file from the others.
    struct Kind: Sendable {
        /// What messages call it: `a replay file`.
        let noun: StaticString
        let name: StaticString
        let newName: StaticString
        /// An old journal would be played into a new database of the same name.
        let journals: [StaticString]
        /// Four letters that tell it from another program's database.
        let applicationID: Int64
        let version: Int64
        /// Whether a change is on the disk when a call returns. Without that it survives the process, not a power cut, and
        /// costs a twentieth.
        let isDurable: Bool
        let schema: StaticString

        fileprivate var leftovers: [StaticString] { [newName] + journals }
    }

    /// Puts into a new file what it begins with.
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

    init(_ kind: Kind, in path: String, busyTimeout: Int32) {
        self.kind = kind
        self.path = path
        self.busyTimeout = busyTimeout
    }

    // MARK: Transactions

    /// Writes in one transaction, in a file that is made anew, once, when it is missing or damaged.
    func write<R>(
        filling fill: Filling = { _ in }, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        do throws(KeyStoreError) {
            return try writeOnce(filling: fill, body)
        } catch {
            guard error.code == .corruptStore else { throw error }
            try remake(instead: connection?.identity, filling: fill)
            return try writeOnce(filling: fill, body)
        }
    }

    private func writeOnce<R>(
        filling fill: Filling, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        let database = try connected(filling: fill)
        return try database.transaction(.writing) { () throws(KeyStoreError) in try body(database) }
    }

    /// Reads in one transaction; nil when there is no file. Makes nothing.
    func read<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        guard let database = try connectedIfPresent() else { return nil }
        return try database.transaction(.reading) { () throws(KeyStoreError) in try body(database) }
    }

    /// Reads in one transaction; nil when there is no file. A damaged one is made anew, and read then.
    func readOrRemake<R>(
        filling fill: Filling = { _ in }, _ body: (SQLiteConnection) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R? {
        do throws(KeyStoreError) {
            return try read(body)
        } catch {
            guard error.code == .corruptStore else { throw error }
            return try write(filling: fill, body)
        }
    }

    /// Reads from the file that was used last, whatever has become of it: what cannot be written may still be read.
    func readOpen<R>(_ body: (SQLiteConnection) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R? {
        guard let database = connection?.database else { return nil }
        return try database.transaction(.reading) { () throws(KeyStoreError) in try body(database) }
    }

    /// Connects, if it can; the next call tries again and says what is wrong.
    func prepare(filling fill: Filling) { _ = try? connected(filling: fill) }

    /// Tells, once, whether a file was made in the place of a damaged one.
    func takeDamaged() -> Bool {
        defer { wasDamaged = false }
        return wasDamaged
    }

    // MARK: The file

    /// The connection to the file that has the name now, which is made if there is none, or only a damaged one.
    private func connected(filling fill: Filling) throws(KeyStoreError) -> SQLiteConnection {
        if let connection, try !hasMoved() { return connection.database }
        let directory = try directory()
        guard let facts = try directory.facts(of: kind.name) else {
            try remake(instead: nil, filling: fill)
            return try connected(filling: fill)
        }
        do throws(KeyStoreError) {
            return try connect(to: facts, in: directory)
        } catch {
            guard error.code == .corruptStore else { throw error }
            // The file that was looked at, and no other: somebody may have remade it meanwhile.
            try remake(instead: facts.identity, filling: fill)
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

    /// Tells whether another file has the name by now: somebody has removed the file, or remade it.
    private func hasMoved() throws(KeyStoreError) -> Bool {
        guard let connection else { return false }
        return try FileFacts(at: connection.database.path)?.identity != connection.identity
    }

    private func directory() throws(KeyStoreError) -> StoreDirectory { try StoreDirectory(existing: path) }

    private func connect(_ path: String) throws(KeyStoreError) -> SQLiteConnection {
        let database = try SQLiteConnection(path: path, busyTimeout: busyTimeout)
        if !kind.isDurable { try database.execute("PRAGMA synchronous = OFF") }
        return database
    }

    /// Throws `newerVersion`, or `corruptStore` for what is no such file.
    private func check(_ database: SQLiteConnection) throws(KeyStoreError) {
        guard try database.integer("PRAGMA application_id") == kind.applicationID else {
            throw KeyStoreError(.corruptStore, "\(database.path) is not \(kind.noun)")
        }
        guard try database.integer("PRAGMA user_version") <= kind.version else {
            throw KeyStoreError(
                .newerVersion,
                "\(database.path) was written by a newer version than this one reads: upgrade pushcrypt")
        }
        try database.refuseForeignObjects()
    }

    /// Makes the file where there must be none; throws `storeExists`.
    func create(filling fill: Filling) throws(KeyStoreError) {
        let directory = try directory()
        try directory.withLock(waiting: busyTimeout) { () throws(KeyStoreError) in
            guard try !directory.has(kind.name) else {
                throw KeyStoreError(.storeExists, "\(directory.file(kind.name)) is there already: use it")
            }
            try build(in: directory, filling: fill)
        }
    }

    /// Puts a new file in the place of a damaged one, or where there is none.
    func remake(instead damaged: FileIdentity?, filling fill: Filling) throws(KeyStoreError) {
        let directory = try directory()
        try directory.withLock(waiting: busyTimeout) { () throws(KeyStoreError) in
            // Another process may have done it while this one waited.
            guard try directory.facts(of: kind.name)?.identity == damaged else { return }
            try build(in: directory, filling: fill)
            wasDamaged = wasDamaged || damaged != nil
        }
        // Only now, because the number of a file that nobody has open may come back.
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
