internal import Pushcrypt

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
