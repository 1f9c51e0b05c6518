public import Pushcrypt

/// What the replay check says of a message that has passed every other step. (`Docs/Format.md`, Replay)
public enum ReplayVerdict: Hashable, Sendable {
    /// Not seen before: it is shown as it was sealed.
    case new
    /// Seen under the same notification request: the same content again, passively and without its sound from 60 seconds
    /// after the first.
    case sameRequest(soundAllowed: Bool)
    /// Seen under another request, or too old to tell: shown without sound and without lighting the screen, or, under a
    /// strict policy, not at all.
    case duplicate
}

/// What a guard says, and what kept it from remembering.
public struct ReplayJudgement: Hashable, Sendable {
    /// What to do with the message.
    public let verdict: ReplayVerdict
    /// Why the guard could not be written; nil when the message is remembered. For the developer: a delivery never fails
    /// for this.
    public let problem: KeyStoreError?
    /// Whether the guard was damaged and had to be made anew, and knows nothing of what was shown before: what was sent more
    /// than ten minutes ago counts as seen. Said once, by the first judgement after it. Not said of one that was missing,
    /// as it is at a phone's first push.
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
/// extension needs no key to use it. It does not protect against somebody who may write the file.
/// (`Docs/Format.md`, Replay)
public final class ReplayFile: Sendable {
    private let session: Locked<ReplaySession>

    /// Makes the file, when a device is enrolled; nothing sent at `floor` or before it is new.
    ///
    /// - Throws: `storeMissing` when the directory is not there, `storeExists`, `unsafeStoreFile`, `storeBusy`,
    ///   `diskFull`, `inputOutput`.
    public static func create(in directory: String, floor: Timestamp) throws(KeyStoreError) -> ReplayFile {
        let session = ReplaySession(in: directory, busyTimeout: busyTimeout)
        try session.create(floor: floor)
        return ReplayFile(session)
    }

    /// Opens the file. One that is missing or damaged is made anew, with a floor ten minutes before `now`.
    ///
    /// Never fails: what keeps the file from being used is in each judgement.
    public static func open(in directory: String, at now: Timestamp) -> ReplayFile {
        open(in: directory, at: now, busyTimeout: busyTimeout)
    }

    package static func open(in directory: String, at now: Timestamp, busyTimeout: Int32) -> ReplayFile {
        let session = ReplaySession(in: directory, busyTimeout: busyTimeout)
        session.prepare(at: now)
        return ReplayFile(session)
    }

    private init(_ session: ReplaySession) { self.session = Locked(session) }

    /// Says whether a message was seen, and remembers it until two days after it expires, because clocks jump; call it
    /// after every other step, before the content is shown.
    ///
    /// - Parameters:
    ///   - sender: the key that signed the message.
    ///   - messageID: the message's id, the same in all its copies.
    ///   - requestID: the id of the notification request; a caller without one passes the message id's description.
    ///   - sentAt: when the message was sealed.
    ///   - expiresAt: when it ends.
    ///   - now: the receiver's clock.
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

/// One user of `replay.db`.
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
            // What cannot be written may still be read.
            return ReplayJudgement(
                verdict: (try? look(message, at: now)) ?? .new, problem: error, wasDamaged: file.takeDamaged())
        }
    }

    private func remember(_ message: ReplayMessage, at now: Timestamp) throws(KeyStoreError) -> ReplayVerdict {
        try file.write(filling: Self.remade(at: now)) { (connection) throws(KeyStoreError) in
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

    /// Connects, if it can; a judgement tries again and says what is wrong.
    func prepare(at now: Timestamp) { file.prepare(filling: Self.remade(at: now)) }

    func create(floor: Timestamp) throws(KeyStoreError) {
        try file.create { (connection) throws(KeyStoreError) in try ReplayTables.fill(connection, floor: floor) }
    }

    func remake(instead damaged: FileIdentity?, at now: Timestamp) throws(KeyStoreError) {
        try file.remake(instead: damaged, filling: Self.remade(at: now))
    }

    private static func remade(at now: Timestamp) -> RecoverableDatabase.Filling {
        { (connection) throws(KeyStoreError) in
            let floor = now.subtracting(milliseconds: ReplayRules.remadeFloorAge)
            try ReplayTables.fill(connection, floor: floor)
        }
    }
}

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
