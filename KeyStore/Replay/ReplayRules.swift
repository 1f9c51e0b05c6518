package import Pushcrypt

/// Names a message, of its provider and for its account, where a receiver shows it: a hash, which reveals nothing.
package struct MessageMark: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits.
    package let text: String

    /// Creates a mark from what a notification has; another text marks no message.
    package init(text: String) { self.text = text }

    init(_ provider: Bytes, _ account: Bytes, _ id: Bytes) {
        // Provider key and id have fixed lengths.
        let named = provider + id + account
        text = Bytes(SHA256.digest(named.span).prefix(16)).hex
    }
}

/// A message as the replay guard sees it.
package struct ReplayMessage: Hashable, Sendable {
    let provider: ProviderPublicKey
    let account: Bytes
    let id: MessageID
    let epoch: UInt32
    let trustFloor: UInt32
    /// A hash of the request's identifier, which may have any length.
    let request: Bytes
    let sentAt: Timestamp
    let expiresAt: Timestamp
    /// The messages that this one withdraws.
    let withdrawals: [MessageID]

    /// Creates a value from a message that has passed every other step.
    ///
    /// - Parameters:
    ///   - messageID: The message's id, the same in all its copies.
    ///   - provider: The pinned key under which the message verified.
    ///   - epoch: The message's epoch.
    ///   - trustFloor: The provider's floor after the message's certificate: what the guard has of lower epochs counts
    ///     as absent.
    ///   - account: The name of the device key that opened it; it stays when the key rotates.
    ///   - requestID: The identifier of the notification request; a caller without one passes the message id's
    ///     description.
    ///   - sentAt: When the message was sealed.
    ///   - expiresAt: When it expires.
    ///   - withdrawals: The messages that it withdraws.
    package init(
        _ messageID: MessageID, from provider: ProviderPublicKey, epoch: UInt32, trustFloor: UInt32, to account: String,
        requestID: String, sentAt: Timestamp, expiresAt: Timestamp, withdrawing withdrawals: [MessageID] = []
    ) {
        self.provider = provider
        self.account = Bytes(account.utf8)
        id = messageID
        self.epoch = epoch
        self.trustFloor = trustFloor
        request = SHA256.digest(Bytes(requestID.utf8).span)
        self.sentAt = sentAt
        self.expiresAt = expiresAt
        self.withdrawals = withdrawals
    }

    /// The mark of what shows the message on the screen.
    package var mark: MessageMark { MessageMark(provider.bytes, account, id.bytes) }

    /// Creates what stands for a message that another one withdraws: it may have been sent as late as that one, to live
    /// as long as any message.
    private init(_ id: MessageID, withdrawnBy other: ReplayMessage) {
        provider = other.provider
        account = other.account
        self.id = id
        (epoch, trustFloor) = (other.epoch, other.trustFloor)
        request = []
        sentAt = other.sentAt
        expiresAt = max(other.expiresAt, other.sentAt.adding(Freshness.maximumTimeToLive))
        withdrawals = []
    }

    var withdrawn: [ReplayMessage] { withdrawals.map { ReplayMessage($0, withdrawnBy: self) } }
}

/// A guard's memory of a message: one row per provider, account and message id.
struct ReplayRow: Hashable, Sendable {
    enum State: Int64 {
        /// A process has the message, and may have ended before showing it.
        case taken = 1
        /// The message has rung.
        case handedOver = 2
        /// The message was withdrawn, perhaps before it came.
        case withdrawn = 3
    }

    /// The request of the copy that made the row.
    let request: Bytes
    let state: State
    /// The highest epoch of the messages that made or found it.
    let epoch: UInt32
}

/// The floor of a provider and account: where rows were deleted for room.
struct ReplayFloor: Hashable, Sendable {
    static let none = ReplayFloor(time: Timestamp(milliseconds: 0), epoch: 0)

    let time: Timestamp
    /// The epoch of the row that raised it.
    let epoch: UInt32
}

/// The rules by which a receiver recognises copies of a message. (`Docs/Format.md`, Replay)
package enum ReplayRules {
    /// The number of messages remembered per provider and account.
    package static let maximumRows = 4096
    /// How far before now the floor of a first guard is: on a phone whose clock is ahead, messages still count as new. [O-8.10]
    package static let firstFloorAge = Freshness.clockTolerance
    /// How far before now the floor is of a guard that replaces a damaged one: the present message still counts as new, and
    /// those of a day do not ring again. [O-8.10]
    static let recreatedFloorAge = Interval.minutes(10)

    /// The result of taking a message.
    struct Finding: Hashable, Sendable {
        let verdict: ReplayVerdict
        /// Whether the message can no longer ring.
        let isQuiet: Bool

        /// The row of a message that was withdrawn.
        static let withdrawn = Finding(verdict: .withdrawn, isQuiet: true)

        static let unknown = Finding(verdict: .new, isQuiet: false)
    }

    /// Looks up a message without writing.
    static func find(
        _ message: ReplayMessage, in storage: ReplayTables, at now: Timestamp
    ) throws(KeyStoreError) -> Finding {
        if let row = try row(of: message, in: storage) {
            if row.state == .withdrawn { return .withdrawn }
            return Finding(
                verdict: row.request == message.request ? .again : .copy, isQuiet: row.state == .handedOver)
        }
        let floorOfGroup = try storage.floor(of: message)
        let floors = [
            try storage.guardFloor(),
            floorOfGroup.epoch < message.trustFloor ? ReplayFloor.none.time : floorOfGroup.time,
        ]
        let isSeen = floors.contains { message.sentAt <= $0 && !isAhead($0, at: now) }
        return Finding(verdict: isSeen ? .seen : .new, isQuiet: isSeen)
    }

    /// Returns the row of a message; one whose epoch is no longer trusted counts as absent, or a thief could silence
    /// messages whose ids he knows.
    static func row(
        of message: ReplayMessage, in storage: ReplayTables
    ) throws(KeyStoreError) -> ReplayRow? {
        let row = try storage.row(of: message)
        return row.flatMap { $0.epoch < message.trustFloor ? nil : $0 }
    }

    /// Deletes what is no longer trusted, so that it takes no room either.
    private static func dropDistrusted(
        of message: ReplayMessage, in storage: ReplayTables
    ) throws(KeyStoreError) {
        guard try storage.trustFloor(of: message) != message.trustFloor else { return }
        try storage.dropDistrusted(of: message)
        let floor = try storage.floor(of: message)
        if floor != .none, floor.epoch < message.trustFloor { try storage.setFloor(.none, of: message) }
    }

    /// Returns whether a floor rose while a clock was ahead: it would make every message a duplicate. [O-8.10]
    static func isAhead(_ floor: Timestamp, at now: Timestamp) -> Bool {
        floor > now.adding(Freshness.clockTolerance)
    }

    /// Takes a message, and remembers one that is new.
    static func take(
        _ message: ReplayMessage, in storage: ReplayTables, room: Int = maximumRows, at now: Timestamp
    ) throws(KeyStoreError) -> Finding {
        // Otherwise it would count again when the time comes.
        if isAhead(try storage.guardFloor(), at: now) { try storage.removeGuardFloor() }
        try dropDistrusted(of: message, in: storage)
        if isAhead(try storage.floor(of: message).time, at: now) { try storage.setFloor(.none, of: message) }
        let finding = try find(message, in: storage, at: now)
        switch finding.verdict {
        case .new: try add(message, .taken, to: storage, room: room, at: now)
        case .again, .copy, .withdrawn:
            // A message may have been sealed again under its id, to live longer than the copy seen.
            try storage.extend(message)
            try storage.raiseHighest(to: message)
        case .seen: break
        }
        for withdrawn in message.withdrawn { try withdraw(withdrawn, in: storage, room: room, at: now) }
        return finding
    }

    /// Withdraws a message, whether it has come or not.
    private static func withdraw(
        _ message: ReplayMessage, in storage: ReplayTables, room: Int, at now: Timestamp
    ) throws(KeyStoreError) {
        if try storage.row(of: message) == nil {
            try add(message, .withdrawn, to: storage, room: room, at: now)
        } else {
            try storage.set(.withdrawn, of: message)
            try storage.extend(message)
        }
    }

    /// The result of handing over.
    enum Handover: Hashable, Sendable {
        case rings
        case quiet
        case withdrawn
    }

    /// Hands a message over that was taken with this verdict; returns how it is shown, if it is.
    static func handOver(
        _ message: ReplayMessage, _ verdict: ReplayVerdict, in storage: ReplayTables, room: Int = maximumRows,
        at now: Timestamp
    ) throws(KeyStoreError) -> Handover {
        guard verdict != .withdrawn else { return .withdrawn }
        try dropDistrusted(of: message, in: storage)
        switch try storage.row(of: message)?.state {
        case .taken where verdict == .seen: return .quiet
        case .taken:
            try storage.set(.handedOver, of: message)
            return .rings
        case .handedOver: return .quiet
        case .withdrawn: return .withdrawn
        case nil:
            // The guard was lost meanwhile, or could not be written before.
            guard verdict == .new else { return .quiet }
            try add(message, .handedOver, to: storage, room: room, at: now)
            return .rings
        }
    }

    /// Returns how a message is shown that cannot be handed over; `row` is what can be read.
    static func unwritten(_ verdict: ReplayVerdict, row: ReplayRow?) -> Handover {
        if verdict == .withdrawn || row?.state == .withdrawn { return .withdrawn }
        return verdict == .new && row?.state != .handedOver ? .rings : .quiet
    }

    /// Adds a row.
    ///
    /// Rows that ended two days ago are deleted, by this clock and by the provider's, so that a clock that jumps ahead
    /// and back loses nothing. If another row must be deleted for room, the floor rises to it, and a copy of it counts
    /// as seen.
    private static func add(
        _ message: ReplayMessage, _ state: ReplayRow.State, to storage: ReplayTables, room: Int, at now: Timestamp
    ) throws(KeyStoreError) {
        let highest = max(try storage.highest(of: message), message.sentAt)
        let time = min(now, highest)
        let tolerance = Freshness.clockTolerance
        try storage.dropEnded(before: time.subtracting(tolerance).subtracting(tolerance), of: message)
        let excess = try storage.count(of: message) + 1 - room
        if excess > 0 {
            for _ in 0..<excess {
                let floor = try storage.dropEarliest(of: message)
                if floor.time > (try storage.floor(of: message)).time { try storage.setFloor(floor, of: message) }
            }
        }
        try storage.insert(message, state)
        try storage.raiseHighest(to: message)
    }
}
