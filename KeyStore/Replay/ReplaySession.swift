internal import Pushcrypt

/// One user of `replay.db`: connects when needed, and makes the file anew when it must.
///
/// The file has a rollback journal and not a write-ahead log, so that no lock is held between two judgements: iOS ends an
/// app that is suspended with a lock on a shared file.
final class ReplaySession {
    static let name: StaticString = "replay.db"
    private static let newName: StaticString = "replay.db.new"

    /// An old journal would be played into a new database of the same name.
    private static let leftovers: [StaticString] = [newName, "replay.db.new-journal", "replay.db-journal"]

    private let path: String
    private let busyTimeout: Int32
    private var connection: Connection?

    private struct Connection {
        let database: SQLiteConnection
        let identity: FileIdentity
    }

    init(at path: String, busyTimeout: Int32) {
        self.path = path
        self.busyTimeout = busyTimeout
    }

    // MARK: Judging

    func judge(_ message: ReplayMessage, now: Timestamp) -> ReplayJudgement {
        do throws(KeyStoreError) {
            return ReplayJudgement(verdict: try remember(message, now: now), problem: nil)
        } catch {
            // What cannot be written may still be read.
            let verdict = connection.flatMap { try? look(message, in: $0.database, now: now) }
            return ReplayJudgement(verdict: verdict ?? .new, problem: error)
        }
    }

    private func remember(_ message: ReplayMessage, now: Timestamp) throws(KeyStoreError) -> ReplayVerdict {
        do throws(KeyStoreError) {
            return try insertOrCompare(message, now: now)
        } catch {
            guard error.code == .corruptStore else { throw error }
            try remake(instead: connection?.identity, now: now)
            return try insertOrCompare(message, now: now)
        }
    }

    private func insertOrCompare(_ message: ReplayMessage, now: Timestamp) throws(KeyStoreError) -> ReplayVerdict {
        let connection = try connected(now: now)
        return try connection.transaction(.writing) { () throws(KeyStoreError) in
            var storage = ReplayTables(connection: connection)
            return try ReplayRules.judge(message, in: &storage, now: now)
        }
    }

    private func look(
        _ message: ReplayMessage, in connection: SQLiteConnection, now: Timestamp
    ) throws(KeyStoreError) -> ReplayVerdict {
        try connection.transaction(.reading) { () throws(KeyStoreError) in
            let storage = ReplayTables(connection: connection)
            return ReplayRules.verdict(
                of: message, row: try storage.row(of: message), floor: try storage.floor(of: message.sender), now: now)
        }
    }

    // MARK: The file

    /// Connects, if it can; a judgement tries again and says what is wrong.
    func prepare(now: Timestamp) { _ = try? connected(now: now) }

    /// The connection to the file that has the name now.
    private func connected(now: Timestamp) throws(KeyStoreError) -> SQLiteConnection {
        if let connection, try !hasMoved() { return connection.database }
        let directory = try StoreDirectory(existing: path)
        guard let facts = try directory.facts(of: Self.name) else {
            try remake(instead: nil, now: now)
            return try connected(now: now)
        }
        do throws(KeyStoreError) {
            let database = try connect(directory.file(Self.name))
            try ReplayTables.check(database)
            connection = Connection(database: database, identity: facts.identity)
            return database
        } catch {
            guard error.code == .corruptStore else { throw error }
            try remake(instead: facts.identity, now: now)
            return try connected(now: now)
        }
    }

    /// Tells whether another file has the name by now: somebody has removed the file, or remade it.
    private func hasMoved() throws(KeyStoreError) -> Bool {
        guard let connection else { return false }
        return try FileFacts(at: connection.database.path)?.identity != connection.identity
    }

    private func connect(_ path: String) throws(KeyStoreError) -> SQLiteConnection {
        try SQLiteConnection(path: path, busyTimeout: busyTimeout)
    }

    func create(floor: Timestamp) throws(KeyStoreError) {
        let directory = try StoreDirectory(existing: path)
        try directory.withLock(waiting: busyTimeout) { () throws(KeyStoreError) in
            guard try !directory.has(Self.name) else {
                throw KeyStoreError(.storeExists, "\(directory.file(Self.name)) is there already: use it")
            }
            try build(in: directory, floor: floor)
        }
    }

    /// Puts a new file in the place of a damaged one, or where there is none.
    func remake(instead damaged: FileIdentity?, now: Timestamp) throws(KeyStoreError) {
        let directory = try StoreDirectory(existing: path)
        try directory.withLock(waiting: busyTimeout) { () throws(KeyStoreError) in
            // Another process may have done it while this one waited.
            guard try directory.facts(of: Self.name)?.identity == damaged else { return }
            try build(in: directory, floor: now.subtracting(milliseconds: ReplayRules.remadeFloorAge))
        }
        // Only now, because the number of a file that nobody has open may come back.
        connection = nil
    }

    private func build(in directory: StoreDirectory, floor: Timestamp) throws(KeyStoreError) {
        for name in Self.leftovers { try directory.removeIfPresent(name) }
        do throws(KeyStoreError) {
            _ = try directory.create(Self.newName)
            try ReplayTables.make(try connect(directory.file(Self.newName)), floor: floor)
            try directory.rename(Self.newName, to: Self.name)
        } catch {
            for name in Self.leftovers { try? directory.removeIfPresent(name) }
            throw error
        }
    }
}
