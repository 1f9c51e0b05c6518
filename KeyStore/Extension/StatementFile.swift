public import Pushcrypt

/// What an extension has learnt from messages and the app has not taken in yet: the file `statements.db` beside the replay
/// guard's.
///
/// An extension only reads the keys, so what a message changes goes here: rotation statements that were verified, and the
/// pending device keys that opened something. `ExtensionKeys` believes the statements on top of the pinned senders; the app
/// takes everything in with `merge`. (`Docs/Format.md`, Rotation)
///
/// Any number of threads and processes may use one file, and be killed at any moment. It holds nothing secret, and nothing
/// in it is believed by itself: every statement is verified against the pinned senders each time it is used. Who can write
/// the file can take back what the extension has learnt; can bring in a statement that pinned keys did sign, after its time
/// to be accepted; and can make the app confirm a key of its own that is pending. No key is ever believed that a pinned
/// one did not sign for.
public final class StatementFile: Sendable {
    /// The most statements that are kept, and the most keys; an app that is never opened comes nowhere near.
    public static let capacity = 64

    private let file: Locked<RecoverableDatabase>

    /// Uses the file in this directory, which is made when something is to be kept; a damaged one is made anew.
    ///
    /// The directory is made by the app, in the group container that it shares with the extension.
    public init(in directory: String) {
        file = Locked(RecoverableDatabase(StatementTables.kind, in: directory, busyTimeout: ReplayFile.busyTimeout))
    }

    // MARK: For the extension

    /// Keeps that a message was opened with a pending key, and the statements it brought; what is kept already is passed
    /// over without writing.
    ///
    /// - Parameters:
    ///   - pending: the key, if it is pending; nil for any other.
    ///   - statements: the statements that the message brought, as its opener has accepted them.
    ///   - topic: the app that the message was for.
    ///   - now: when the statements took effect: they are believed from here on, also when their time to be accepted ends
    ///     before the app takes them in.
    /// - Throws: `rotationRefused` when the file is full; `storeMissing` when the directory is not there, `unsafeStoreFile`,
    ///   `storeBusy`, `diskFull`, `inputOutput`, `newerVersion`. Nothing is kept then.
    public func keep(
        openedWith pending: DevicePublicKey?, statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) {
        guard pending != nil || !statements.isEmpty else { return }
        try file.withLock { (file) throws(KeyStoreError) in
            // Readers do not wait for each other.
            let isKept = try? file.read { (connection) throws(KeyStoreError) in
                try StatementTables(connection: connection).hasAll(pending, statements, topic)
            }
            guard isKept != true else { return }
            try file.write { (connection) throws(KeyStoreError) in
                let tables = StatementTables(connection: connection)
                if let pending { try tables.insert(openedWith: pending.bytes) }
                for statement in statements { try tables.insert(statement, topic, at: now) }
            }
        }
    }

    /// The statements that were kept for an app, oldest first.
    ///
    /// - Throws: `corruptStore`, and what `keep` throws; a file that is not there has no statements.
    func statements(for topic: Topic) throws(KeyStoreError) -> [StatementTables.Kept] {
        try file.withLock { (file) throws(KeyStoreError) in
            try file.read { (connection) throws(KeyStoreError) in
                try StatementTables(connection: connection).statements(for: topic)
            } ?? []
        }
    }

    // MARK: For the app

    /// What an app has taken in.
    public struct MergeResult: Hashable, Sendable {
        /// The keys that were pending and are active now.
        public var confirmed: [DeviceKeyRecord] = []
        /// The senders that have rotated.
        public var rotated: [SenderTrust.Change] = []
        /// How many statements do not fit what is trusted now, and are dropped.
        public var refused = 0
        /// How many statements contradict one that was accepted: evidence that an old sender key was stolen.
        public var conflicts = 0
    }

    /// Takes what the extension has learnt into the app's key store, and removes it here; call it at every launch.
    ///
    /// May end at any point and be called again: what was taken in changes nothing the second time. What the extension
    /// keeps meanwhile stays for the next time.
    ///
    /// - Parameters:
    ///   - store: the app's keys, those that the extension only reads.
    ///   - grace: How long a replaced device key still opens.
    ///   - now: the present time, from which the grace counts.
    /// - Throws: what `keep` and the key store throw; the rest is still there then. A damaged file is made anew.
    public func merge<Store: DeviceKeyStore>(
        into store: Store, grace: Interval = Store.standardGrace, at now: Timestamp
    ) throws(KeyStoreError) -> MergeResult {
        let (keys, statements) = try everything()
        var result = MergeResult()
        guard !keys.isEmpty || !statements.isEmpty else { return result }
        for key in keys {
            // A name that this device's store does not know as pending is nothing.
            let pending = try store.deviceKeys().first { $0.state == .pending && $0.publicKey.bytes == key }
            guard let pending else { continue }
            let record = try store.confirmDeviceKey(
                named: pending.name, acknowledged: pending.keyID, grace: grace, at: now)
            if let record { result.confirmed.append(record) }
        }
        for kept in statements {
            do throws(KeyStoreError) {
                result.rotated += try store.acceptStatements(
                    [kept.statement], topic: kept.topic, at: min(kept.acceptedAt, now)
                ).filter { $0 != .unchanged }
            } catch {
                switch error.code {
                case .rotationConflict: result.conflicts += 1
                case .rotationRefused: result.refused += 1
                default: throw error
                }
            }
        }
        try remove(keys, statements)
        return result
    }

    private func everything() throws(KeyStoreError) -> (keys: [Bytes], statements: [StatementTables.Kept]) {
        func read(_ connection: SQLiteConnection) throws(KeyStoreError) -> ([Bytes], [StatementTables.Kept]) {
            let tables = StatementTables(connection: connection)
            return (try tables.openedWith(), try tables.statements())
        }
        return try file.withLock { (file) throws(KeyStoreError) in
            try file.readOrRemake(read) ?? ([], [])
        }
    }

    private func remove(_ keys: [Bytes], _ statements: [StatementTables.Kept]) throws(KeyStoreError) {
        try file.withLock { (file) throws(KeyStoreError) in
            try file.write { (connection) throws(KeyStoreError) in
                let tables = StatementTables(connection: connection)
                for key in keys { try tables.delete(openedWith: key) }
                for statement in statements { try tables.delete(statement) }
            }
        }
    }
}

/// The rows of `statements.db`, inside one transaction.
struct StatementTables {
    static let kind = RecoverableDatabase.Kind(
        noun: "a statement file", name: "statements.db", newName: "statements.db.new",
        journals: ["statements.db.new-journal", "statements.db-journal"],
        // "PCST"
        applicationID: 0x5043_5354, version: 1, isDurable: true, schema: schema)

    private static let schema: StaticString = """
        CREATE TABLE statements (
            id INTEGER PRIMARY KEY, topic TEXT NOT NULL, statement BLOB NOT NULL, accepted INTEGER NOT NULL,
            UNIQUE (topic, statement));
        CREATE TABLE opened (key BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
        """

    /// A statement as an extension has kept it.
    struct Kept: Hashable, Sendable {
        let topic: Topic
        let statement: RotationStatement
        /// When it took effect here, which may be long before the app hears of it.
        let acceptedAt: Timestamp
    }

    let connection: SQLiteConnection

    /// Whether `keep` has nothing to write.
    func hasAll(
        _ pending: DevicePublicKey?, _ statements: [RotationStatement], _ topic: Topic
    ) throws(KeyStoreError) -> Bool {
        if let pending, try !openedWith().contains(pending.bytes) { return false }
        for statement in statements where try !has(statement, topic) { return false }
        return true
    }

    // MARK: Statements

    /// Oldest first; for one app or all. Never more than the file may hold, whoever has filled it.
    func statements(for topic: Topic? = nil) throws(KeyStoreError) -> [Kept] {
        let rows = try connection.rows(
            """
            SELECT topic, statement, accepted FROM statements WHERE ?1 IS NULL OR topic = ?1 ORDER BY id
            LIMIT \(StatementFile.capacity)
            """, [.text(topic?.bundleID)])
        var statements: [Kept] = []
        for row in rows {
            guard case .text(let text) = row[0], case .blob(let bytes) = row[1],
                case .integer(let milliseconds) = row[2], let topic = try? Topic(String(decoding: text, as: UTF8.self)),
                let statement = try? RotationStatement(bytes: bytes.span)
            else { throw connection.damaged }
            let acceptedAt = Timestamp(milliseconds: UInt64(clamping: milliseconds))
            statements.append(Kept(topic: topic, statement: statement, acceptedAt: acceptedAt))
        }
        return statements
    }

    private func has(_ statement: RotationStatement, _ topic: Topic) throws(KeyStoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM statements WHERE topic = ? AND statement = ?",
            [.text(topic.bundleID), .blob(statement.bytes)]) > 0
    }

    func insert(_ statement: RotationStatement, _ topic: Topic, at now: Timestamp) throws(KeyStoreError) {
        guard try !has(statement, topic) else { return }
        guard try connection.integer("SELECT count(*) FROM statements") < StatementFile.capacity else {
            throw KeyStoreError(
                .rotationRefused,
                "\(connection.path) holds \(StatementFile.capacity) rotations that the app has not taken in: open the app"
            )
        }
        try connection.rows(
            "INSERT INTO statements (topic, statement, accepted) VALUES (?, ?, ?)",
            [.text(topic.bundleID), .blob(statement.bytes), .integer(Int64(clamping: now.milliseconds))])
    }

    func delete(_ statement: Kept) throws(KeyStoreError) {
        try connection.rows(
            "DELETE FROM statements WHERE topic = ? AND statement = ?",
            [.text(statement.topic.bundleID), .blob(statement.statement.bytes)])
    }

    // MARK: Keys that have opened a message

    /// The bytes of public keys, unchecked: they are only compared.
    func openedWith() throws(KeyStoreError) -> [Bytes] {
        var keys: [Bytes] = []
        for row in try connection.rows("SELECT key FROM opened ORDER BY key LIMIT \(StatementFile.capacity)") {
            guard case .blob(let bytes) = row[0] else { throw connection.damaged }
            keys.append(bytes)
        }
        return keys
    }

    func insert(openedWith key: Bytes) throws(KeyStoreError) {
        // A device has as many pending keys as accounts: what fills the table has been left behind.
        if try connection.integer("SELECT count(*) FROM opened") >= StatementFile.capacity {
            try connection.rows("DELETE FROM opened")
        }
        try connection.rows("INSERT INTO opened (key) VALUES (?) ON CONFLICT (key) DO NOTHING", [.blob(key)])
    }

    func delete(openedWith key: Bytes) throws(KeyStoreError) {
        try connection.rows("DELETE FROM opened WHERE key = ?", [.blob(key)])
    }
}
