internal import Pushcrypt

/// A message as the replay check sees it.
struct ReplayMessage: Sendable {
    let sender: SenderPublicKey
    let id: MessageID
    /// A hash of the request's id, which may have any length.
    let request: Bytes
    let sentAt: Timestamp
    let expiresAt: Timestamp

    init(
        sender: SenderPublicKey, id: MessageID, requestID: String, sentAt: Timestamp, expiresAt: Timestamp
    ) {
        self.sender = sender
        self.id = id
        request = SHA256.digest(Bytes(requestID.utf8).span)
        self.sentAt = sentAt
        self.expiresAt = expiresAt
    }
}

/// What a guard remembers of a message: one row for each sender and message id.
struct ReplayRow: Hashable, Sendable {
    let request: Bytes
    let firstSeen: Timestamp
}

/// Where a guard keeps its rows; whoever implements it makes one `ReplayRules.judge` one transaction.
protocol ReplayStorage {
    associatedtype Failure: Error

    func row(of message: ReplayMessage) throws(Failure) -> ReplayRow?
    /// What was sent at this moment or before it, and has no row, counts as seen.
    func floor(of sender: SenderPublicKey) throws(Failure) -> Timestamp
    func count(of sender: SenderPublicKey) throws(Failure) -> Int

    mutating func insert(_ message: ReplayMessage, firstSeen: Timestamp) throws(Failure)
    /// Keeps a row for as long as this copy of its message lives, if that is longer than the copies before.
    mutating func extend(_ message: ReplayMessage) throws(Failure)
    /// Drops every row whose message has expired.
    mutating func dropExpired(at now: Timestamp) throws(Failure)
    /// Drops the row of a sender that was sent first; the moment at which it was sent.
    mutating func dropEarliest(of sender: SenderPublicKey) throws(Failure) -> Timestamp
    mutating func raiseFloor(of sender: SenderPublicKey, to floor: Timestamp) throws(Failure)
}

/// How a receiver tells a message from its copies. (`Docs/Format.md`, Replay)
enum ReplayRules {
    /// How many messages of one sender are remembered.
    static let rowsPerSender = 4096
    /// How long after the first copy one with the same request id keeps its sound, in milliseconds.
    static let soundWindow: UInt64 = 60_000
    /// How far before now the floor of a guard lies that had to be made anew, in milliseconds: the message in hand still
    /// counts as new.
    static let remadeFloorAge: UInt64 = 600_000

    /// Judges without remembering.
    static func verdict(
        of message: ReplayMessage, row: ReplayRow?, floor: Timestamp, at now: Timestamp
    ) -> ReplayVerdict {
        guard let row else { return message.sentAt <= floor ? .duplicate : .new }
        guard row.request == message.request else { return .duplicate }
        return .sameRequest(soundAllowed: now.milliseconds(since: row.firstSeen) <= soundWindow)
    }

    /// Judges, and remembers a message that is new.
    ///
    /// What has expired goes first and needs no floor, because nothing expired is judged; while there is room it stays for
    /// twice as long as clocks may be wrong, so that a clock that jumps ahead and back forgets nothing. When a message
    /// that still lives has to go, the floor rises to it: a copy of it then counts as seen.
    static func judge<Storage: ReplayStorage>(
        _ message: ReplayMessage, in storage: inout Storage, at now: Timestamp
    ) throws(Storage.Failure) -> ReplayVerdict {
        let row = try storage.row(of: message)
        let verdict = verdict(of: message, row: row, floor: try storage.floor(of: message.sender), at: now)
        // A message may have been sealed again under its id, to live longer than the copy that was seen.
        if row != nil { try storage.extend(message) }
        guard verdict == .new else { return verdict }
        try storage.dropExpired(at: now.subtracting(Freshness.clockTolerance).subtracting(Freshness.clockTolerance))
        if try storage.count(of: message.sender) >= rowsPerSender { try storage.dropExpired(at: now) }
        while try storage.count(of: message.sender) >= rowsPerSender {
            let sentAt = try storage.dropEarliest(of: message.sender)
            if sentAt > (try storage.floor(of: message.sender)) {
                try storage.raiseFloor(of: message.sender, to: sentAt)
            }
        }
        try storage.insert(message, firstSeen: now)
        return .new
    }
}
