public import Pushcrypt

/// The record of one sender that the device trusts or trusted.
public struct TrustedSenderRecord: Hashable, Sendable {
    /// How far a sender is trusted.
    public enum State: UInt8, Hashable, Sendable, CustomStringConvertible {
        /// Trusted without an end date.
        case pinned = 1
        /// Replaced by another key; trusted until `verifiesUntil`, and never pinned again.
        case superseded = 2

        /// The state as programs read it.
        public var description: String { self == .pinned ? "pinned" : "superseded" }
    }

    /// The name of the sender in this store.
    public let name: String
    /// The app whose messages it signs; nil if it is trusted for every app.
    public let topic: Topic?
    /// The sender's key.
    public let key: SenderPublicKey
    /// How far it is trusted.
    public let state: State
    /// The last moment at which a superseded key verifies messages; nil if it verifies none.
    public let verifiesUntil: Timestamp?
    /// When the key was pinned.
    public let createdAt: Timestamp
}

/// A trusted sender as stored.
struct TrustedSenderRow: StoredRow {
    static let table = StoreTable(
        "trusted_senders", key: "id", "name", "topic", "public_key", "state", "verifies_until", "statement", "created")
    static let put = table.put

    let id: Int64
    let name: String
    let topic: Topic?
    let key: SenderPublicKey
    private(set) var state: TrustedSenderRecord.State
    private(set) var verifiesUntil: Timestamp?
    private(set) var statement: RotationStatement?
    let createdAt: Timestamp

    init(id: Int64, name: String, topic: Topic?, key: SenderPublicKey, createdAt: Timestamp) {
        self.id = id
        self.name = name
        self.topic = topic
        self.key = key
        state = .pinned
        self.createdAt = createdAt
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        name = try columns.text()
        topic = try columns.topic()
        key = try columns.senderPublicKey()
        guard let code = UInt8(exactly: try columns.integer()),
            let state = TrustedSenderRecord.State(rawValue: code)
        else { throw columns.damaged }
        self.state = state
        verifiesUntil = try columns.optionalTime()
        if let bytes = try columns.optionalBlob() {
            guard let statement = try? RotationStatement(bytes: bytes.span) else { throw columns.damaged }
            self.statement = statement
        }
        createdAt = try columns.time()
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .text(name), .text(topic?.bundleID), .blob(key.bytes), .integer(Int64(state.rawValue)),
            .time(verifiesUntil), .blob(statement?.bytes), .time(createdAt),
        ]
    }

    func superseded(by statement: RotationStatement?, until verifiesUntil: Timestamp?) -> TrustedSenderRow {
        var row = self
        row.state = .superseded
        row.statement = statement
        row.verifiesUntil = verifiesUntil
        return row
    }

    var record: TrustedSenderRecord {
        TrustedSenderRecord(
            name: name, topic: topic, key: key, state: state, verifiesUntil: verifiesUntil, createdAt: createdAt)
    }
}

// The rules for trust, the same in every store. (`Docs/Format.md`, Rotation)
extension DeviceStorage {
    /// Reads every row, because a row changed so as to be ignored must be noticed too; a device knows few senders.
    private func trustedSenders(for topic: Topic) throws(KeyStoreError) -> [TrustedSenderRow] {
        try trustedSenders().filter { $0.topic == nil || $0.topic == topic }
    }

    func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust { SenderTrust(try trustedSenders(for: topic)) }

    private func pin(
        _ key: SenderPublicKey, name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try put(TrustedSenderRow(id: try newSenderNumber(), name: name, topic: topic, key: key, createdAt: now))
    }

    func trustSender(
        _ key: SenderPublicKey, named name: String, topic: Topic?, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try StoreName.check(name, "the name of a sender")
        let all = try trustedSenders()
        guard !all.contains(where: { $0.key == key && $0.state == .superseded }) else {
            throw KeyStoreError(
                .senderSuperseded,
                "key \(key.id) was superseded, and a superseded key is never trusted again: get the sender's current key"
            )
        }
        let rows = all.filter { StoreName.areEqual($0.name, name) }
        guard let pinned = rows.first(where: { $0.state == .pinned }) else {
            try pin(key, name: name, topic: topic, at: now)
            return .added
        }
        if pinned.key == key {
            if pinned.topic == topic { return .unchanged }
            guard replace else {
                throw KeyStoreError(
                    .topicMismatch,
                    "sender '\(name)' is already trusted for \(pinned.topic?.bundleID ?? "every app")"
                )
            }
            try delete(pinned)
        } else {
            guard replace else {
                throw KeyStoreError(
                    .senderAlreadyTrusted,
                    "another key is already trusted as '\(name)'"
                )
            }
            // A thief does not care under which name or for which app the key was trusted.
            let stolen = Set(rows.map(\.key)).subtracting([key])
            for row in all where stolen.contains(row.key) { try put(row.superseded(by: row.statement, until: nil)) }
        }
        try pin(key, name: name, topic: topic, at: now)
        return .updated
    }

    func accept(
        _ statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> [SenderTrust.Change] {
        var changes: [SenderTrust.Change] = []
        for statement in statements {
            let rows = try trustedSenders(for: topic)
            var trust = SenderTrust(rows)
            do throws(RotationError) {
                changes.append(try trust.accept(statement, at: now))
            } catch {
                throw .rotation(error)
            }
            guard case .rotated(let old, let new)? = changes.last else { continue }
            for row in rows where row.state == .pinned && row.key == old {
                try put(row.superseded(by: statement, until: statement.overlapEnd))
                try pin(new, name: row.name, topic: row.topic, at: now)
            }
        }
        return changes
    }

    func removeTrustedSender(named name: String) throws(KeyStoreError) -> Bool {
        let rows = try trustedSenders().filter { StoreName.areEqual($0.name, name) }
        for row in rows {
            if row.state == .pinned {
                try delete(row)
            } else {
                try put(row.superseded(by: row.statement, until: nil))
            }
        }
        return rows.contains { $0.state == .pinned }
    }

    // MARK: Changes made by a message

    /// Returns whether `settle` changes anything; nearly every message changes nothing.
    func needsSettling(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement]
    ) throws(KeyStoreError) -> Bool {
        if !statements.isEmpty { return true }
        return try pendingKey(publicKey) != nil
    }

    func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, grace: Interval,
        at now: Timestamp
    ) throws(KeyStoreError) {
        if let pending = try pendingKey(publicKey) {
            try activate(pending, grace: grace, at: now)
        }
        _ = try accept(statements, topic: topic, at: now)
    }
}

extension SenderTrust {
    fileprivate init(_ rows: [TrustedSenderRow]) {
        var pinned: [SenderPublicKey] = []
        // One key may be pinned under two names.
        for row in rows where row.state == .pinned && !pinned.contains(row.key) { pinned.append(row.key) }
        let superseded = rows.filter { $0.state == .superseded }.map {
            Superseded(key: $0.key, verifiesUntil: $0.verifiesUntil, statement: $0.statement)
        }
        self.init(pinned: pinned, superseded: superseded)
    }
}
