public import Pushcrypt

/// What a store says about one sender that the device believes, or believed.
public struct TrustedSenderRecord: Hashable, Sendable {
    /// How far a sender is believed.
    public enum State: UInt8, Hashable, Sendable, CustomStringConvertible {
        /// Believed without an end.
        case pinned = 1
        /// Another key has taken its place; it is believed until `verifiesUntil`, and never pinned again.
        case superseded = 2

        /// The state as programs read it.
        public var description: String { self == .pinned ? "pinned" : "superseded" }
    }

    /// What the sender is called here.
    public let name: String
    /// The app whose messages it signs; nil when it is believed for every app.
    public let topic: Topic?
    /// The sender's key.
    public let key: SenderPublicKey
    /// How far it is believed.
    public let state: State
    /// The last moment at which a superseded key verifies messages; nil when nothing of it is believed.
    public let verifiesUntil: Timestamp?
    /// When the key was pinned.
    public let createdAt: Timestamp
}

/// A trusted sender as it is stored.
struct TrustedSenderRow: StoredRow {
    static let table = StoreTable(
        "trusted_senders", key: "id", "name", "topic", "public_key", "state", "verifies_until", "statement", "created")

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
