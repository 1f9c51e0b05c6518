internal import Pushcrypt

/// The rows of the replay guard, inside one transaction. A message's group is all rows of its provider and account.
struct ReplayTables {
    /// Providers with their accounts are numbered, because their keys would be in every row and in two indexes. The
    /// provider with the empty key is the guard itself.
    static let schema: StaticString = """
        CREATE TABLE providers (
            id INTEGER PRIMARY KEY, key BLOB NOT NULL, account BLOB NOT NULL, floor INTEGER NOT NULL,
            floor_epoch INTEGER NOT NULL, trust_floor INTEGER NOT NULL, highest INTEGER NOT NULL, UNIQUE (key, account));
        CREATE TABLE seen (
            provider INTEGER NOT NULL, message BLOB NOT NULL, request BLOB NOT NULL, state INTEGER NOT NULL,
            epoch INTEGER NOT NULL, sent INTEGER NOT NULL, expires INTEGER NOT NULL,
            PRIMARY KEY (provider, message)) WITHOUT ROWID;
        CREATE INDEX seen_by_time ON seen (provider, sent);
        CREATE INDEX seen_by_end ON seen (provider, expires);
        CREATE INDEX seen_withdrawn ON seen (provider, message) WHERE state = 3;
        """

    let connection: SQLiteConnection

    /// Writes the initial content of a new guard.
    static func fill(_ connection: SQLiteConnection, floor: Timestamp) throws(KeyStoreError) {
        try connection.rows(
            """
            INSERT INTO providers (key, account, floor, floor_epoch, trust_floor, highest)
            VALUES (x'', x'', ?, 0, 0, 0)
            """, [time(floor)])
    }

    /// Rows are compared by time, so a time beyond SQLite's integers becomes the largest of them.
    private static func time(_ time: Timestamp) -> SQLiteValue { .integer(Int64(clamping: time.milliseconds)) }

    private static let number = "(SELECT id FROM providers WHERE key = ? AND account = ?)"

    private static func group(_ message: ReplayMessage) -> [SQLiteValue] {
        [.blob(message.provider.bytes), .blob(message.account)]
    }

    // MARK: Reading

    func row(of message: ReplayMessage) throws(KeyStoreError) -> ReplayRow? {
        let rows = try connection.rows(
            "SELECT request, state, epoch FROM seen WHERE provider = \(Self.number) AND message = ?",
            Self.group(message) + [.blob(message.id.bytes)])
        guard let row = rows.first else { return nil }
        guard case .blob(let request) = row[0], case .integer(let code) = row[1],
            let state = ReplayRow.State(rawValue: code), let epoch = Self.epoch(row[2])
        else { throw connection.damaged }
        return ReplayRow(request: request, state: state, epoch: epoch)
    }

    /// The floor for all groups: the time at which the guard was made.
    func guardFloor() throws(KeyStoreError) -> Timestamp {
        let floor = try connection.integer("SELECT floor FROM providers WHERE key = x'' AND account = x''")
        return Timestamp(milliseconds: UInt64(clamping: floor))
    }

    /// The floor of the message's group.
    func floor(of message: ReplayMessage) throws(KeyStoreError) -> ReplayFloor {
        let rows = try connection.rows(
            "SELECT floor, floor_epoch FROM providers WHERE key = ? AND account = ?", Self.group(message))
        guard let row = rows.first else { return .none }
        guard case .integer(let time) = row[0], let epoch = Self.epoch(row[1]) else { throw connection.damaged }
        return ReplayFloor(time: Timestamp(milliseconds: UInt64(clamping: time)), epoch: epoch)
    }

    /// The latest `sentAt` of the messages that found or made a row of the message's group.
    func highest(of message: ReplayMessage) throws(KeyStoreError) -> Timestamp {
        Timestamp(milliseconds: UInt64(clamping: try number("highest", of: message)))
    }

    /// The trust floor below which the rows of the message's group were deleted last.
    func trustFloor(of message: ReplayMessage) throws(KeyStoreError) -> UInt32 {
        UInt32(clamping: try number("trust_floor", of: message))
    }

    private func number(_ column: String, of message: ReplayMessage) throws(KeyStoreError) -> Int64 {
        try connection.integer(
            "SELECT coalesce(max(\(column)), 0) FROM providers WHERE key = ? AND account = ?", Self.group(message))
    }

    private static func epoch(_ value: SQLiteValue) -> UInt32? {
        guard case .integer(let number) = value else { return nil }
        return UInt32(exactly: number)
    }

    func count(of message: ReplayMessage) throws(KeyStoreError) -> Int {
        Int(
            clamping: try connection.integer(
                "SELECT count(*) FROM seen WHERE provider = \(Self.number)", Self.group(message)))
    }

    func withdrawn() throws(KeyStoreError) -> Set<MessageMark> {
        let rows = try connection.rows(
            """
            SELECT providers.key, providers.account, seen.message FROM seen JOIN providers ON providers.id = seen.provider
            WHERE seen.state = 3
            """)
        var marks: Set<MessageMark> = []
        for row in rows {
            guard case .blob(let provider) = row[0], case .blob(let account) = row[1], case .blob(let id) = row[2]
            else { throw connection.damaged }
            marks.insert(MessageMark(provider, account, id))
        }
        return marks
    }

    // MARK: Writing

    func removeGuardFloor() throws(KeyStoreError) {
        try connection.rows("UPDATE providers SET floor = 0 WHERE key = x'' AND account = x''")
    }

    func insert(_ message: ReplayMessage, _ state: ReplayRow.State) throws(KeyStoreError) {
        try connection.rows(
            """
            INSERT INTO providers (key, account, floor, floor_epoch, trust_floor, highest) VALUES (?, ?, 0, 0, ?, 0)
            ON CONFLICT DO NOTHING
            """,
            Self.group(message) + [.integer(Int64(message.trustFloor))])
        try connection.rows(
            """
            INSERT INTO seen (provider, message, request, state, epoch, sent, expires)
            VALUES (\(Self.number), ?, ?, ?, ?, ?, ?)
            """,
            Self.group(message) + [
                .blob(message.id.bytes), .blob(message.request), .integer(state.rawValue),
                .integer(Int64(message.epoch)), Self.time(message.sentAt), Self.time(message.expiresAt),
            ])
    }

    /// Raises the times and the epoch of the message's row to those of this copy.
    func extend(_ message: ReplayMessage) throws(KeyStoreError) {
        let raised: [SQLiteValue] = [
            Self.time(message.sentAt), Self.time(message.expiresAt), .integer(Int64(message.epoch)),
        ]
        try connection.rows(
            """
            UPDATE seen SET sent = max(sent, ?), expires = max(expires, ?), epoch = max(epoch, ?)
            WHERE provider = \(Self.number) AND message = ? AND (sent < ? OR expires < ? OR epoch < ?)
            """,
            raised + Self.group(message) + [.blob(message.id.bytes)] + raised)
    }

    func set(_ state: ReplayRow.State, of message: ReplayMessage) throws(KeyStoreError) {
        try changeOne(
            "UPDATE seen SET state = ? WHERE provider = \(Self.number) AND message = ?",
            [.integer(state.rawValue)] + Self.group(message) + [.blob(message.id.bytes)])
    }

    func raiseHighest(to message: ReplayMessage) throws(KeyStoreError) {
        let sent = Self.time(message.sentAt)
        try connection.rows(
            "UPDATE providers SET highest = ? WHERE key = ? AND account = ? AND highest < ?",
            [sent] + Self.group(message) + [sent])
    }

    func dropEnded(before time: Timestamp, of message: ReplayMessage) throws(KeyStoreError) {
        try connection.rows(
            "DELETE FROM seen WHERE provider = \(Self.number) AND expires < ?",
            Self.group(message) + [Self.time(time)])
    }

    /// Deletes the row of the message's group that was sent first; returns the floor that must follow.
    func dropEarliest(of message: ReplayMessage) throws(KeyStoreError) -> ReplayFloor {
        let rows = try connection.rows(
            "SELECT message, sent, epoch FROM seen WHERE provider = \(Self.number) ORDER BY sent LIMIT 1",
            Self.group(message))
        guard let row = rows.first, case .integer(let sent) = row[1], let epoch = Self.epoch(row[2]) else {
            throw connection.damaged
        }
        try changeOne(
            "DELETE FROM seen WHERE provider = \(Self.number) AND message = ?", Self.group(message) + [row[0]])
        return ReplayFloor(time: Timestamp(milliseconds: UInt64(clamping: sent)), epoch: epoch)
    }

    func setFloor(_ floor: ReplayFloor, of message: ReplayMessage) throws(KeyStoreError) {
        try changeOne(
            "UPDATE providers SET floor = ?, floor_epoch = ? WHERE key = ? AND account = ?",
            [Self.time(floor.time), .integer(Int64(floor.epoch))] + Self.group(message))
    }

    /// Deletes the rows of the message's group with an epoch below the message's trust floor, and remembers that.
    func dropDistrusted(of message: ReplayMessage) throws(KeyStoreError) {
        try connection.rows(
            "DELETE FROM seen WHERE provider = \(Self.number) AND epoch < ?",
            Self.group(message) + [.integer(Int64(message.trustFloor))])
        try connection.rows(
            "UPDATE providers SET trust_floor = ? WHERE key = ? AND account = ?",
            [.integer(Int64(message.trustFloor))] + Self.group(message))
    }

    /// Changes a row that was just read. If it is not there, an index and its table differ.
    private func changeOne(_ sql: String, _ values: [SQLiteValue]) throws(KeyStoreError) {
        try connection.rows(sql, values)
        guard connection.changes == 1 else { throw connection.damaged }
    }
}
