public import Pushcrypt

/// What a store says about one of the provider's signing keys; holds no secret.
public struct SenderKeyRecord: Hashable, Sendable {
    /// What the key is called here: one name for each app.
    public let name: String
    /// The app that the key signs for; nil when it is not bound to one.
    public let topic: Topic?
    /// What devices trust.
    public let publicKey: SenderPublicKey
    /// The first 4 bytes of a hash of the public key.
    public let keyID: KeyID
    /// Counts the keys of this name from 1.
    public let generation: UInt64
    /// When the key was made or imported.
    public let createdAt: Timestamp
    /// Whether this name is meant when none is given.
    public let isDefault: Bool
}

/// A sender key with its record.
public struct StoredSenderKey: Sendable {
    /// The record.
    public let record: SenderKeyRecord
    /// The key.
    public let key: SenderKey
}

/// A sender key as it is stored: a name has one, and a rotation overwrites it.
struct SenderKeyRow: StoredRow {
    static let table = StoreTable(
        "sender_keys", key: "id", "name", "topic", "public_key", "key_id", "generation", "created", "sealed")

    let id: Int64
    let name: String
    let topic: Topic?
    let publicKey: SenderPublicKey
    let generation: UInt64
    let createdAt: Timestamp
    private let sealed: Bytes

    init(
        id: Int64, name: String, topic: Topic?, key: SenderKey, generation: UInt64, createdAt: Timestamp,
        keys: StoreKeys
    ) {
        self.id = id
        self.name = name
        self.topic = topic
        publicKey = key.publicKey
        self.generation = generation
        self.createdAt = createdAt
        sealed = key.withSeed { keys.seal($0, at: Self.place(id, generation)) }
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        name = try columns.text()
        topic = try columns.topic()
        publicKey = try columns.senderPublicKey()
        guard try columns.integer() == Int64(publicKey.id.value) else { throw columns.damaged }
        generation = try columns.unsigned()
        createdAt = try columns.time()
        sealed = try columns.blob()
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .text(name), .text(topic?.bundleID), .blob(publicKey.bytes),
            .integer(Int64(publicKey.id.value)), .unsigned(generation), .time(createdAt), .blob(sealed),
        ]
    }

    // A sender key has one state only.
    private static func place(_ id: Int64, _ generation: UInt64) -> StoreKeys.Place {
        StoreKeys.Place(table: table.name, row: id, generation: generation, state: 0)
    }

    func key(_ keys: StoreKeys) throws(KeyStoreError) -> SenderKey {
        let place = Self.place(id, generation)
        guard
            let key = try? keys.open(sealed, at: place).withSpan({ (seed) throws(KeyError) in
                try SenderKey(seed: seed)
            }), key.publicKey == publicKey
        else { throw .damagedRow(.integer(id), in: Self.table.name) }
        return key
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try key(keys) }

    func record(defaultName: String?) -> SenderKeyRecord {
        SenderKeyRecord(
            name: name, topic: topic, publicKey: publicKey, keyID: publicKey.id, generation: generation,
            createdAt: createdAt, isDefault: defaultName.map { StoreName.areEqual($0, name) } ?? false)
    }
}
