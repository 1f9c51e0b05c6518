public import Pushcrypt

/// The record of one sender that the device trusts or trusted.
public struct PinnedProviderRecord: Hashable, Sendable {
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
    public let key: ProviderPublicKey
    /// How far it is trusted.
    public let state: State
    /// The last moment at which a superseded key verifies messages; nil if it verifies none.
    public let verifiesUntil: Timestamp?
    /// When the key was pinned.
    public let createdAt: Timestamp
    /// Whether the key was revoked, under this name or another one: it verifies nothing, even if it is pinned.
    public let isRevoked: Bool
}

struct PinnedProviderRow: StoredRow {
    static let table = StoreTable(
        "trusted_senders", key: "id", "name", "topic", "public_key", "state", "verifies_until", "statement", "created")
    static let put = table.put
    static let counted: CountedTable? = .pinnedProviders

    let id: Int64
    let name: String
    let topic: Topic?
    let key: ProviderPublicKey
    private(set) var state: PinnedProviderRecord.State
    private(set) var verifiesUntil: Timestamp?
    private(set) var statement: RotationStatement?
    let createdAt: Timestamp

    init(id: Int64, name: String, topic: Topic?, key: ProviderPublicKey, createdAt: Timestamp) {
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
        key = try columns.providerPublicKey()
        guard let code = UInt8(exactly: try columns.integer()),
            let state = PinnedProviderRecord.State(rawValue: code)
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

    func superseded(by statement: RotationStatement?, until verifiesUntil: Timestamp?) -> PinnedProviderRow {
        var row = self
        row.state = .superseded
        row.statement = statement
        row.verifiesUntil = verifiesUntil
        return row
    }

    /// Whether the key verifies messages.
    func verifies(at now: Timestamp) -> Bool { state == .pinned || verifiesUntil.map { now <= $0 } ?? false }

    /// Whether the key never verifies anything.
    var isRevoked: Bool { state == .superseded && verifiesUntil == nil }

    func record(isRevoked: Bool) -> PinnedProviderRecord {
        PinnedProviderRecord(
            name: name, topic: topic, key: key, state: state, verifiesUntil: verifiesUntil, createdAt: createdAt,
            isRevoked: isRevoked)
    }
}

/// What a device keeps of a sender beside its keys: the recovery keys, and the last recovery with the key that signed it.
///
/// It outlives the pin, so that an old recovery never returns.
struct SenderRecoveryRow: StoredRow, Equatable {
    static let table = StoreTable("sender_recoveries", key: "name", "recovery_keys", "serial", "claim")
    static let put = table.put
    static let counted: CountedTable? = .senderRecoveries

    let name: String
    let recoveryKeys: [RecoveryPublicKey]
    let last: ProviderTrust.LastRecovery?

    init(name: String, recoveryKeys: [RecoveryPublicKey], last: ProviderTrust.LastRecovery?) {
        self.name = name
        self.recoveryKeys = recoveryKeys
        self.last = last
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        name = try columns.text()
        let keys = try columns.blob()
        guard let recoveryKeys = Self.keys(of: keys) else { throw columns.damaged }
        self.recoveryKeys = recoveryKeys
        let serial = try columns.integer()
        guard let claim = try columns.optionalBlob() else {
            guard serial == 0 else { throw columns.damaged }
            last = nil
            return
        }
        let signer = Self.keys(of: Bytes(claim.dropFirst(ProviderTrust.LastRecovery.claimLength)), atMost: 1)
        guard let serial = UInt32(exactly: serial), let signer = signer?.first,
            let last = ProviderTrust.LastRecovery(
                serial: serial, claim: Bytes(claim.prefix(ProviderTrust.LastRecovery.claimLength)), by: signer)
        else { throw columns.damaged }
        self.last = last
    }

    var values: [SQLiteValue] {
        [
            .text(name), .blob(Self.bytes(of: recoveryKeys)), .integer(Int64(last?.serial ?? 0)),
            .blob(last.map { $0.claim + $0.recoveryKey.bytes }),
        ]
    }

    /// Returns the keys' bytes, concatenated.
    static func bytes(of keys: [RecoveryPublicKey]) -> Bytes { keys.reduce(into: Bytes()) { $0 += $1.bytes } }

    /// Returns the keys of such bytes, which are authenticated, or as trustworthy as the secret keys beside them.
    static func keys(of bytes: Bytes, atMost maximum: Int = RecoveryPublicKey.maximumPerSender) -> [RecoveryPublicKey]?
    {
        let length = RecoveryPublicKey.length
        guard bytes.count % length == 0, bytes.count / length <= maximum else { return nil }
        return stride(from: 0, to: bytes.count, by: length).map { start in
            RecoveryPublicKey(checked: Bytes(bytes[start..<start + length]))
        }
    }
}
