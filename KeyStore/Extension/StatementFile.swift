public import Pushcrypt

/// The changes that an extension learned from messages and the app has not merged yet: the file `statements.db` beside
/// the replay guard.
///
/// An extension only reads the keys, so the changes made by messages go here: verified rotation statements, and the
/// pending device keys that opened something. `ExtensionKeys` applies the statements to the pinned senders; the app
/// merges everything with `merge`. (`Docs/FormatRotation.md`)
///
/// Any number of threads and processes may use one file, and be killed at any moment. It holds nothing secret, and
/// nothing in it is trusted as such: every statement is verified against the pinned senders each time it is used.
/// Someone who can write the file can undo what the extension has learned, can add a statement that pinned keys did
/// sign after its acceptance period, and can make the app confirm one of its pending keys. No key is ever trusted
/// that a pinned key or a recovery key did not sign for.
public final class StatementFile: Sendable {
    /// The maximum number of rotations, of recoveries, and of keys; far more than accumulate even if the app is never
    /// opened.
    public static let capacity = 64

    private let file: Locked<RecoverableDatabase>
    /// Ends, from any thread, a call that is being made, so that no lock is held while the process is suspended.
    package let interruption = SQLiteInterruption()

    /// Uses the file in this directory, which is created when needed; a damaged one is recreated.
    ///
    /// The app creates the directory, in the group container that it shares with the extension.
    public init(in directory: String) {
        file = Locked(
            RecoverableDatabase(
                StatementTables.kind, in: directory, busyTimeout: ReplayFile.busyTimeout, interruption: interruption))
    }

    // MARK: For the extension

    /// Stores the statements that a message brought, and the pending key that opened it, if any; does not write what is
    /// already stored.
    ///
    /// - Parameters:
    ///   - pending: The key, if it is pending; nil for any other.
    ///   - statements: The statements that the message brought, as accepted by its opener.
    ///   - topic: The app that the message was for.
    ///   - now: When the statements took effect: they stay trusted from here on, even if their acceptance period ends
    ///     before the app merges them.
    /// - Throws: `rotationRefused` if the file is full and no recovery came with the rotation; `storeMissing` if the
    ///   directory does not exist; `unsafeStoreFile`, `storeBusy`, `diskFull`, `inputOutput`, `newerVersion`. Nothing is
    ///   stored then.
    package func keep(
        openedWith pending: DevicePublicKey?, statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) {
        try keep(openedWith: pending, statements: statements, insteadOf: [], topic: topic, at: now)
    }

    /// Like `keep`; also deletes the statements that no longer count.
    func keep(
        openedWith pending: DevicePublicKey?, statements: [RotationStatement],
        insteadOf outdated: [StatementTables.Kept], topic: Topic, at now: Timestamp
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
                for statement in outdated { try tables.delete(statement) }
                let recoveries = statements.filter(\.isRecovery)
                for statement in recoveries { try tables.insert(statement, topic, at: now) }
                for statement in statements where !statement.isRecovery {
                    do throws(KeyStoreError) {
                        try tables.insert(statement, topic, at: now)
                    } catch {
                        // The recovery is kept whatever becomes of a rotation beside it.
                        guard error.code == .rotationRefused, !recoveries.isEmpty else { throw error }
                    }
                }
            }
        }
    }

    /// Returns the statements stored for an app, oldest first; none if there is no file.
    ///
    /// - Throws: `corruptStore`, and the errors of `keep`.
    func statements(for topic: Topic) throws(KeyStoreError) -> [StatementTables.Kept] {
        try file.withLock { (file) throws(KeyStoreError) in
            try file.read { (connection) throws(KeyStoreError) in
                try StatementTables(connection: connection).statements(for: topic)
            } ?? []
        }
    }

    // MARK: For the app

    /// The result of a merge.
    public struct MergeResult: Hashable, Sendable {
        /// The keys that were pending and are now active.
        public var confirmed: [DeviceKeyRecord] = []
        /// The rotations and recoveries of senders.
        public var changes: [ProviderTrust.Change] = []
        /// The number of statements dropped because they do not fit what is trusted now.
        public var refused = 0
        /// The number of statements that contradict an accepted one: evidence that an old sender key was stolen.
        public var conflicts = 0
    }

    /// Merges what the extension has learned into the app's key store, and removes it here; call this at every launch.
    ///
    /// It may be interrupted anywhere and called again: merging twice changes nothing. What the extension stores
    /// meanwhile stays for the next time.
    ///
    /// - Parameters:
    ///   - store: The app's keys, which the extension only reads.
    ///   - grace: How long after `now` a replaced device key still opens.
    ///   - now: The present time.
    /// - Throws: The errors of `keep` and of the key store; the rest is still there then. A damaged file is recreated.
    public func merge<Store: DeviceKeyStore>(
        into store: Store, grace: Interval = Store.standardGrace, at now: Timestamp
    ) throws(KeyStoreError) -> MergeResult {
        let (keys, statements) = try everything()
        var result = MergeResult()
        guard !keys.isEmpty || !statements.isEmpty else { return result }
        for key in keys {
            // A key that this device's store does not have as pending is ignored.
            let pending = try store.deviceKeys().first { $0.state == .pending && $0.publicKey.bytes == key }
            guard let pending else { continue }
            let record = try store.confirmDeviceKey(
                named: pending.name, acknowledged: pending.keyID, grace: grace, at: now)
            if let record { result.confirmed.append(record) }
        }
        for kept in statements {
            do throws(KeyStoreError) {
                result.changes += try store.acceptStatements(
                    [kept.statement], topic: kept.topic, at: min(kept.acceptedAt, now)
                ).filter { $0 != .unchanged }
            } catch {
                switch error.code {
                case .rotationConflict, .recoveryConflict: result.conflicts += 1
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
            try file.readOrRecreate(read) ?? ([], [])
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

    /// A statement as stored by an extension.
    struct Kept: Hashable, Sendable {
        let topic: Topic
        let statement: RotationStatement
        /// When it took effect here, which may be long before the app learns of it.
        let acceptedAt: Timestamp
    }

    let connection: SQLiteConnection

    /// Returns whether `keep` has nothing to write.
    func hasAll(
        _ pending: DevicePublicKey?, _ statements: [RotationStatement], _ topic: Topic
    ) throws(KeyStoreError) -> Bool {
        if let pending, try !openedWith().contains(pending.bytes) { return false }
        for statement in statements where try !has(statement, topic) { return false }
        return true
    }

    // MARK: Statements

    /// Returns the statements of one app or all, oldest first; never more than there is room for, even from a forged file.
    func statements(for topic: Topic? = nil) throws(KeyStoreError) -> [Kept] {
        let rows = try connection.rows(
            """
            SELECT topic, statement, accepted FROM statements WHERE ?1 IS NULL OR topic = ?1 ORDER BY id
            LIMIT \(2 * StatementFile.capacity)
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
        // Each version has its own room, so that a thief's rotations never keep a recovery out.
        let count = try connection.integer(
            "SELECT count(*) FROM statements WHERE substr(statement, 1, 1) = ?", [.blob([statement.bytes[0]])])
        guard count < StatementFile.capacity else {
            let noun = statement.isRecovery ? "recoveries" : "rotations"
            throw KeyStoreError(
                .rotationRefused,
                "\(connection.path) holds \(StatementFile.capacity) \(noun) that the app has not merged: open the app"
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

    // MARK: Keys that opened a message

    /// Returns the bytes of public keys, unchecked: they are only compared.
    func openedWith() throws(KeyStoreError) -> [Bytes] {
        var keys: [Bytes] = []
        for row in try connection.rows("SELECT key FROM opened ORDER BY key LIMIT \(StatementFile.capacity)") {
            guard case .blob(let bytes) = row[0] else { throw connection.damaged }
            keys.append(bytes)
        }
        return keys
    }

    func insert(openedWith key: Bytes) throws(KeyStoreError) {
        // A device has as many pending keys as accounts: a full table holds leftovers.
        if try connection.integer("SELECT count(*) FROM opened") >= StatementFile.capacity {
            try connection.rows("DELETE FROM opened")
        }
        try connection.rows("INSERT INTO opened (key) VALUES (?) ON CONFLICT (key) DO NOTHING", [.blob(key)])
    }

    func delete(openedWith key: Bytes) throws(KeyStoreError) {
        try connection.rows("DELETE FROM opened WHERE key = ?", [.blob(key)])
    }
}
