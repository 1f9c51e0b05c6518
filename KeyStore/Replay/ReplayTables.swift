internal import Pushcrypt

/// The rows of `replay.db`, inside one transaction.
struct ReplayTables: ReplayStorage {
    /// A sender has a number, because its key would stand in every row and in two indexes. The sender with the empty key
    /// is the guard itself.
    private static let schema: StaticString = """
        CREATE TABLE senders (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, floor INTEGER NOT NULL);
        CREATE TABLE seen (
            sender INTEGER NOT NULL, message BLOB NOT NULL, request BLOB NOT NULL, sent INTEGER NOT NULL,
            expires INTEGER NOT NULL, first INTEGER NOT NULL, PRIMARY KEY (sender, message)) WITHOUT ROWID;
        CREATE INDEX seen_by_time ON seen (sender, sent);
        CREATE INDEX seen_by_end ON seen (expires);
        """

    static let kind = RecoverableDatabase.Kind(
        noun: "a replay file", name: "replay.db", newName: "replay.db.new",
        journals: ["replay.db.new-journal", "replay.db-journal"],
        // "PCRP". A person waits while a message is remembered. A power cut may take the last seconds of memory or damage the
        // file, which is then made anew.
        applicationID: 0x5043_5250, version: 1, isDurable: false, schema: schema)

    let connection: SQLiteConnection

    /// What a new guard begins with.
    static func fill(_ connection: SQLiteConnection, floor: Timestamp) throws(KeyStoreError) {
        try connection.rows("INSERT INTO senders (key, floor) VALUES (x'', ?)", [time(floor)])
    }

    /// Rows are compared by time, so a time beyond what SQLite's integers hold becomes the last that they hold.
    private static func time(_ time: Timestamp) -> SQLiteValue { .integer(Int64(clamping: time.milliseconds)) }

    // MARK: ReplayStorage

    private static let number = "(SELECT id FROM senders WHERE key = ?)"

    func row(of message: ReplayMessage) throws(KeyStoreError) -> ReplayRow? {
        let rows = try connection.rows(
            "SELECT request, first FROM seen WHERE sender = \(Self.number) AND message = ?",
            [.blob(message.sender.bytes), .blob(message.id.bytes)])
        guard let row = rows.first else { return nil }
        guard case .blob(let request) = row[0], case .integer(let first) = row[1] else { throw connection.damaged }
        return ReplayRow(request: request, firstSeen: Timestamp(milliseconds: UInt64(clamping: first)))
    }

    func floor(of sender: SenderPublicKey) throws(KeyStoreError) -> Timestamp {
        let floor = try connection.integer(
            "SELECT max(floor) FROM senders WHERE key IN (x'', ?)", [.blob(sender.bytes)])
        return Timestamp(milliseconds: UInt64(clamping: floor))
    }

    func count(of sender: SenderPublicKey) throws(KeyStoreError) -> Int {
        let count = try connection.integer(
            "SELECT count(*) FROM seen WHERE sender = \(Self.number)", [.blob(sender.bytes)])
        return Int(clamping: count)
    }

    mutating func insert(_ message: ReplayMessage, firstSeen: Timestamp) throws(KeyStoreError) {
        let sender = SQLiteValue.blob(message.sender.bytes)
        try connection.rows("INSERT INTO senders (key, floor) VALUES (?, 0) ON CONFLICT (key) DO NOTHING", [sender])
        try connection.rows(
            "INSERT INTO seen (sender, message, request, sent, expires, first) VALUES (\(Self.number), ?, ?, ?, ?, ?)",
            [
                sender, .blob(message.id.bytes), .blob(message.request), Self.time(message.sentAt),
                Self.time(message.expiresAt), Self.time(firstSeen),
            ])
    }

    mutating func extend(_ message: ReplayMessage) throws(KeyStoreError) {
        let (sent, expires) = (Self.time(message.sentAt), Self.time(message.expiresAt))
        try connection.rows(
            """
            UPDATE seen SET sent = max(sent, ?), expires = max(expires, ?)
            WHERE sender = \(Self.number) AND message = ? AND (sent < ? OR expires < ?)
            """,
            [sent, expires, .blob(message.sender.bytes), .blob(message.id.bytes), sent, expires])
    }

    mutating func dropExpired(at now: Timestamp) throws(KeyStoreError) {
        try connection.rows("DELETE FROM seen WHERE expires < ?", [Self.time(now)])
    }

    mutating func dropEarliest(of sender: SenderPublicKey) throws(KeyStoreError) -> Timestamp {
        let rows = try connection.rows(
            "SELECT message, sent FROM seen WHERE sender = \(Self.number) ORDER BY sent LIMIT 1", [.blob(sender.bytes)])
        guard let row = rows.first, case .integer(let sent) = row[1] else { throw connection.damaged }
        try connection.rows(
            "DELETE FROM seen WHERE sender = \(Self.number) AND message = ?", [.blob(sender.bytes), row[0]])
        return Timestamp(milliseconds: UInt64(clamping: sent))
    }

    mutating func raiseFloor(of sender: SenderPublicKey, to floor: Timestamp) throws(KeyStoreError) {
        try connection.rows("UPDATE senders SET floor = ? WHERE key = ?", [Self.time(floor), .blob(sender.bytes)])
    }
}
