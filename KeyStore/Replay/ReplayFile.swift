public import Pushcrypt

/// The verdict of the replay check on a message that has passed every other step. (`Docs/Format.md`, Replay)
public enum ReplayVerdict: Hashable, Sendable {
    /// Not seen before: shown as it was sealed.
    case new
    /// Seen under the same notification request: the same content again, passive and without sound if more than 60
    /// seconds after the first.
    case sameRequest(soundAllowed: Bool)
    /// Seen under another request, or too old to tell: shown without sound and without lighting the screen, or, under a
    /// strict policy, not at all.
    case duplicate
}

/// The judgement of a replay guard on one message.
public struct ReplayJudgement: Hashable, Sendable {
    /// The verdict.
    public let verdict: ReplayVerdict
    /// Why the guard could not be written; nil if the message is remembered. For the developer: it never stops a
    /// delivery.
    public let problem: KeyStoreError?
    /// Whether the guard was damaged and has been recreated, and knows nothing of earlier messages: those sent more
    /// than ten minutes ago count as seen. Reported once, by the next judgement; not reported for a missing guard, as
    /// at a phone's first push.
    public let wasDamaged: Bool

    init(verdict: ReplayVerdict, problem: KeyStoreError?, wasDamaged: Bool = false) {
        self.verdict = verdict
        self.problem = problem
        self.wasDamaged = wasDamaged
    }
}

/// Remembers the messages that were shown: the file `replay.db` in a store's directory.
///
/// Any number of threads and processes may use one file, and be killed at any moment. It holds no secret, and an
/// extension needs no key to use it. It does not protect against someone who can write the file. (`Docs/Format.md`,
/// Replay)
public final class ReplayFile: Sendable {
    private let session: Locked<ReplaySession>

    /// Creates the file, when a device is enrolled; messages sent at or before `floor` never count as new.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeExists`, `unsafeStoreFile`, `storeBusy`,
    ///   `diskFull`, `inputOutput`.
    public static func create(in directory: String, floor: Timestamp) throws(KeyStoreError) -> ReplayFile {
        let session = ReplaySession(in: directory, busyTimeout: busyTimeout)
        try session.create(floor: floor)
        return ReplayFile(session)
    }

    /// Opens the file; recreates a missing or damaged one with a floor ten minutes before `now`.
    ///
    /// Never fails: if the file cannot be used, each judgement says why.
    public static func open(in directory: String, at now: Timestamp) -> ReplayFile {
        open(in: directory, at: now, busyTimeout: busyTimeout)
    }

    package static func open(in directory: String, at now: Timestamp, busyTimeout: Int32) -> ReplayFile {
        let session = ReplaySession(in: directory, busyTimeout: busyTimeout)
        session.prepare(at: now)
        return ReplayFile(session)
    }

    private init(_ session: ReplaySession) { self.session = Locked(session) }

    /// Judges a message, and remembers it until two days after it expires, because clocks jump. Call this after every
    /// other step, before the content is shown.
    ///
    /// - Parameters:
    ///   - sender: The key that signed the message.
    ///   - messageID: The message's id, the same in all its copies.
    ///   - requestID: The identifier of the notification request; a caller without one passes the message id's
    ///     description.
    ///   - sentAt: When the message was sealed.
    ///   - expiresAt: When it expires.
    ///   - now: The receiver's time.
    public func judge(
        sender: SenderPublicKey, messageID: MessageID, requestID: String, sentAt: Timestamp, expiresAt: Timestamp,
        at now: Timestamp
    ) -> ReplayJudgement {
        let message = ReplayMessage(
            sender: sender, id: messageID, requestID: requestID, sentAt: sentAt, expiresAt: expiresAt)
        return session.withLock { $0.judge(message, at: now) }
    }

    /// How long a judgement waits for other processes, in milliseconds: a notification extension has 30 seconds for all
    /// its work.
    static let busyTimeout: Int32 = 2000
}

/// A connection to `replay.db`.
final class ReplaySession {
    private let file: RecoverableDatabase

    init(in path: String, busyTimeout: Int32) {
        file = RecoverableDatabase(ReplayTables.kind, in: path, busyTimeout: busyTimeout)
    }

    func judge(_ message: ReplayMessage, at now: Timestamp) -> ReplayJudgement {
        do throws(KeyStoreError) {
            let verdict = try remember(message, at: now)
            return ReplayJudgement(verdict: verdict, problem: nil, wasDamaged: file.takeDamaged())
        } catch {
            // A file that cannot be written may still be readable.
            return ReplayJudgement(
                verdict: (try? look(message, at: now)) ?? .new, problem: error, wasDamaged: file.takeDamaged())
        }
    }

    private func remember(_ message: ReplayMessage, at now: Timestamp) throws(KeyStoreError) -> ReplayVerdict {
        try file.write(filling: Self.recreated(at: now)) { (connection) throws(KeyStoreError) in
            var storage = ReplayTables(connection: connection)
            return try ReplayRules.judge(message, in: &storage, at: now)
        }
    }

    private func look(_ message: ReplayMessage, at now: Timestamp) throws(KeyStoreError) -> ReplayVerdict? {
        try file.readOpen { (connection) throws(KeyStoreError) in
            let storage = ReplayTables(connection: connection)
            return ReplayRules.verdict(
                of: message, row: try storage.row(of: message), floor: try storage.floor(of: message.sender), at: now)
        }
    }

    // MARK: The file

    /// Connects if possible; otherwise a judgement tries again and reports the problem.
    func prepare(at now: Timestamp) { file.prepare(filling: Self.recreated(at: now)) }

    func create(floor: Timestamp) throws(KeyStoreError) {
        try file.create { (connection) throws(KeyStoreError) in try ReplayTables.fill(connection, floor: floor) }
    }

    func recreate(replacing damaged: FileIdentity?, at now: Timestamp) throws(KeyStoreError) {
        try file.recreate(replacing: damaged, filling: Self.recreated(at: now))
    }

    private static func recreated(at now: Timestamp) -> RecoverableDatabase.Filling {
        { (connection) throws(KeyStoreError) in
            let floor = now.subtracting(milliseconds: ReplayRules.recreatedFloorAge)
            try ReplayTables.fill(connection, floor: floor)
        }
    }
}

/// The rows of `replay.db`, inside one transaction.
struct ReplayTables: ReplayStorage {
    /// Senders are numbered, because their keys would be in every row and in two indexes. The sender with the empty key
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
        // "PCRP". The user waits while a message is remembered. A power failure may lose the last seconds or damage the
        // file, which is then recreated.
        applicationID: 0x5043_5250, version: 1, isDurable: false, schema: schema)

    let connection: SQLiteConnection

    /// Writes the initial content of a new guard.
    static func fill(_ connection: SQLiteConnection, floor: Timestamp) throws(KeyStoreError) {
        try connection.rows("INSERT INTO senders (key, floor) VALUES (x'', ?)", [time(floor)])
    }

    /// Rows are compared by time, so a time beyond SQLite's integers becomes the largest of them.
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
