internal import Pushcrypt

/// The rows of `replay.db`, inside one transaction.
struct ReplayTables: ReplayStorage {
    /// Senders with their accounts are numbered, because their keys would be in every row and in two indexes. The sender
    /// with the empty key is the guard itself.
    private static let schema: StaticString = """
        CREATE TABLE senders (
            id INTEGER PRIMARY KEY, key BLOB NOT NULL, account BLOB NOT NULL, floor INTEGER NOT NULL,
            highest INTEGER NOT NULL, UNIQUE (key, account));
        CREATE TABLE seen (
            sender INTEGER NOT NULL, message BLOB NOT NULL, request BLOB NOT NULL, state INTEGER NOT NULL,
            sent INTEGER NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (sender, message)) WITHOUT ROWID;
        CREATE INDEX seen_by_time ON seen (sender, sent);
        CREATE INDEX seen_by_end ON seen (sender, expires);
        CREATE INDEX seen_withdrawn ON seen (sender, message) WHERE state = 3;
        """

    static let kind = RecoverableDatabase.Kind(
        noun: "a replay file", name: "replay.db", newName: "replay.db.new",
        journals: ["replay.db.new-journal", "replay.db-journal"],
        // "PCRP". The user waits while a message is remembered. A power failure may lose the last seconds or damage the
        // file, which is then recreated.
        applicationID: 0x5043_5250, version: 3, isDurable: false, schema: schema)

    let connection: SQLiteConnection

    /// Writes the initial content of a new guard.
    static func fill(_ connection: SQLiteConnection, floor: Timestamp) throws(KeyStoreError) {
        try connection.rows(
            "INSERT INTO senders (key, account, floor, highest) VALUES (x'', x'', ?, 0)", [time(floor)])
    }

    /// Rows are compared by time, so a time beyond SQLite's integers becomes the largest of them.
    private static func time(_ time: Timestamp) -> SQLiteValue { .integer(Int64(clamping: time.milliseconds)) }

    private static let number = "(SELECT id FROM senders WHERE key = ? AND account = ?)"

    private static func group(_ message: ReplayMessage) -> [SQLiteValue] {
        [.blob(message.sender.bytes), .blob(message.account)]
    }

    // MARK: Reading

    func row(of message: ReplayMessage) throws(KeyStoreError) -> ReplayRow? {
        let rows = try connection.rows(
            "SELECT request, state FROM seen WHERE sender = \(Self.number) AND message = ?",
            Self.group(message) + [.blob(message.id.bytes)])
        guard let row = rows.first else { return nil }
        guard case .blob(let request) = row[0], case .integer(let code) = row[1],
            let state = ReplayRow.State(rawValue: code)
        else { throw connection.damaged }
        return ReplayRow(request: request, state: state)
    }

    func guardFloor() throws(KeyStoreError) -> Timestamp {
        let floor = try connection.integer("SELECT floor FROM senders WHERE key = x'' AND account = x''")
        return Timestamp(milliseconds: UInt64(clamping: floor))
    }

    func floor(of message: ReplayMessage) throws(KeyStoreError) -> Timestamp { try time("floor", of: message) }

    func highest(of message: ReplayMessage) throws(KeyStoreError) -> Timestamp { try time("highest", of: message) }

    private func time(_ column: String, of message: ReplayMessage) throws(KeyStoreError) -> Timestamp {
        let time = try connection.integer(
            "SELECT coalesce(max(\(column)), 0) FROM senders WHERE key = ? AND account = ?", Self.group(message))
        return Timestamp(milliseconds: UInt64(clamping: time))
    }

    func count(of message: ReplayMessage) throws(KeyStoreError) -> Int {
        Int(
            clamping: try connection.integer(
                "SELECT count(*) FROM seen WHERE sender = \(Self.number)", Self.group(message)))
    }

    func withdrawn() throws(KeyStoreError) -> Set<MessageMark> {
        let rows = try connection.rows(
            """
            SELECT senders.key, senders.account, seen.message FROM seen JOIN senders ON senders.id = seen.sender
            WHERE seen.state = 3
            """)
        var marks: Set<MessageMark> = []
        for row in rows {
            guard case .blob(let sender) = row[0], case .blob(let account) = row[1], case .blob(let id) = row[2]
            else { throw connection.damaged }
            marks.insert(MessageMark(sender, account, id))
        }
        return marks
    }

    // MARK: Writing

    func removeGuardFloor() throws(KeyStoreError) {
        try connection.rows("UPDATE senders SET floor = 0 WHERE key = x'' AND account = x''")
    }

    func insert(_ message: ReplayMessage, _ state: ReplayRow.State) throws(KeyStoreError) {
        try connection.rows(
            "INSERT INTO senders (key, account, floor, highest) VALUES (?, ?, 0, 0) ON CONFLICT DO NOTHING",
            Self.group(message))
        try connection.rows(
            "INSERT INTO seen (sender, message, request, state, sent, expires) VALUES (\(Self.number), ?, ?, ?, ?, ?)",
            Self.group(message) + [
                .blob(message.id.bytes), .blob(message.request), .integer(state.rawValue), Self.time(message.sentAt),
                Self.time(message.expiresAt),
            ])
    }

    func extend(_ message: ReplayMessage) throws(KeyStoreError) {
        let (sent, expires) = (Self.time(message.sentAt), Self.time(message.expiresAt))
        try connection.rows(
            """
            UPDATE seen SET sent = max(sent, ?), expires = max(expires, ?)
            WHERE sender = \(Self.number) AND message = ? AND (sent < ? OR expires < ?)
            """,
            [sent, expires] + Self.group(message) + [.blob(message.id.bytes), sent, expires])
    }

    func set(_ state: ReplayRow.State, of message: ReplayMessage) throws(KeyStoreError) {
        try changeOne(
            "UPDATE seen SET state = ? WHERE sender = \(Self.number) AND message = ?",
            [.integer(state.rawValue)] + Self.group(message) + [.blob(message.id.bytes)])
    }

    func raiseHighest(to message: ReplayMessage) throws(KeyStoreError) {
        let sent = Self.time(message.sentAt)
        try connection.rows(
            "UPDATE senders SET highest = ? WHERE key = ? AND account = ? AND highest < ?",
            [sent] + Self.group(message) + [sent])
    }

    func dropEnded(before time: Timestamp, of message: ReplayMessage) throws(KeyStoreError) {
        try connection.rows(
            "DELETE FROM seen WHERE sender = \(Self.number) AND expires < ?",
            Self.group(message) + [Self.time(time)])
    }

    func dropEarliest(of message: ReplayMessage) throws(KeyStoreError) -> Timestamp {
        let rows = try connection.rows(
            "SELECT message, sent FROM seen WHERE sender = \(Self.number) ORDER BY sent LIMIT 1", Self.group(message))
        guard let row = rows.first, case .integer(let sent) = row[1] else { throw connection.damaged }
        try changeOne(
            "DELETE FROM seen WHERE sender = \(Self.number) AND message = ?", Self.group(message) + [row[0]])
        return Timestamp(milliseconds: UInt64(clamping: sent))
    }

    func raiseFloor(of message: ReplayMessage, to floor: Timestamp) throws(KeyStoreError) {
        try changeOne(
            "UPDATE senders SET floor = ? WHERE key = ? AND account = ?", [Self.time(floor)] + Self.group(message))
    }

    /// Changes a row that was just read. If it is not there, an index and its table differ.
    private func changeOne(_ sql: String, _ values: [SQLiteValue]) throws(KeyStoreError) {
        try connection.rows(sql, values)
        guard connection.changes == 1 else { throw connection.damaged }
    }
}
