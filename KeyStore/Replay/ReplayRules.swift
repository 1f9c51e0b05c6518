internal import Pushcrypt

/// A message as the replay check sees it.
struct ReplayMessage: Sendable {
    let sender: SenderPublicKey
    let id: MessageID
    /// A hash of the request's identifier, which may have any length.
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

/// A guard's memory of a message: one row per sender and message id.
struct ReplayRow: Hashable, Sendable {
    let request: Bytes
    let firstSeen: Timestamp
}

/// The storage of a guard's rows; a conforming type runs each `ReplayRules.judge` in one transaction.
protocol ReplayStorage {
    associatedtype Failure: Error

    func row(of message: ReplayMessage) throws(Failure) -> ReplayRow?
    /// Messages sent at or before this moment, and without a row, count as seen.
    func floor(of sender: SenderPublicKey) throws(Failure) -> Timestamp
    func count(of sender: SenderPublicKey) throws(Failure) -> Int

    mutating func insert(_ message: ReplayMessage, firstSeen: Timestamp) throws(Failure)
    /// Keeps a row as long as this copy of its message lives, if that is longer than for earlier copies.
    mutating func extend(_ message: ReplayMessage) throws(Failure)
    /// Deletes every row whose message has expired.
    mutating func dropExpired(at now: Timestamp) throws(Failure)
    /// Deletes the row of a sender that was sent first; returns when it was sent.
    mutating func dropEarliest(of sender: SenderPublicKey) throws(Failure) -> Timestamp
    mutating func raiseFloor(of sender: SenderPublicKey, to floor: Timestamp) throws(Failure)
}

/// The rules by which a receiver recognises copies of a message. (`Docs/Format.md`, Replay)
enum ReplayRules {
    /// The number of messages remembered per sender.
    static let rowsPerSender = 4096
    /// How long after the first copy a copy with the same request identifier keeps its sound, in milliseconds.
    static let soundWindow: UInt64 = 60_000
    /// How far before now the floor of a recreated guard is, in milliseconds: the present message still counts as new.
    static let recreatedFloorAge: UInt64 = 600_000

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
    /// Expired rows are deleted first; they need no floor, because nothing expired is judged. While there is room, rows
    /// stay for twice the clock tolerance, so that a clock that jumps ahead and back loses nothing. If a live message
    /// must be deleted, the floor rises to it, and a copy of it counts as seen.
    static func judge<Storage: ReplayStorage>(
        _ message: ReplayMessage, in storage: inout Storage, at now: Timestamp
    ) throws(Storage.Failure) -> ReplayVerdict {
        let row = try storage.row(of: message)
        let verdict = verdict(of: message, row: row, floor: try storage.floor(of: message.sender), at: now)
        // A message may have been sealed again under its id, to live longer than the copy seen.
        if row != nil { try storage.extend(message) }
        guard verdict == .new else { return verdict }
        try storage.dropExpired(at: now.subtracting(milliseconds: 2 * Freshness.clockTolerance))
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
