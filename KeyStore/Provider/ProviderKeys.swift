public import Pushcrypt

/// The record of one of the provider's signing keys; holds no secret.
public struct ProviderKeyRecord: Hashable, Sendable {
    /// The name of the key: one name per app.
    public let name: String
    /// The app that the key signs for; nil if it is not bound to one.
    public let topic: Topic?
    /// The key that devices trust.
    public let publicKey: ProviderPublicKey
    /// The first 4 bytes of a hash of the public key.
    public let keyID: KeyID
    /// The number of the key among the keys of this name, from 1.
    public let generation: UInt64
    /// When the key was generated or imported.
    public let createdAt: Timestamp
    /// Whether this name is the default.
    public let isDefault: Bool
}

/// A sender key with its record.
public struct StoredProviderKey: Sendable {
    /// The record.
    public let record: ProviderKeyRecord
    /// The key.
    public let key: ProviderKey
}

/// A sender key as stored: each name has one, and a rotation overwrites it.
struct ProviderKeyRow: StoredRow {
    static let table = StoreTable(
        "sender_keys", key: "id", "name", "topic", "public_key", "key_id", "generation", "created", "sealed")
    static let put = table.put
    static let counted: CountedTable? = .providerKeys

    let id: Int64
    let name: String
    let topic: Topic?
    let publicKey: ProviderPublicKey
    let generation: UInt64
    let createdAt: Timestamp
    private let sealed: Bytes

    init(
        id: Int64, name: String, topic: Topic?, key: ProviderKey, generation: UInt64, createdAt: Timestamp,
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
        publicKey = try columns.providerPublicKey()
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

    // A sender key has only one state.
    private static func place(_ id: Int64, _ generation: UInt64) -> StoreKeys.Place {
        StoreKeys.Place(table: table.name, row: id, generation: generation, state: 0)
    }

    func key(_ keys: StoreKeys) throws(KeyStoreError) -> ProviderKey {
        let place = Self.place(id, generation)
        guard
            let key = try? keys.open(sealed, at: place).withSpan({ (seed) throws(KeyError) in
                try ProviderKey(seed: seed)
            }), key.publicKey == publicKey
        else { throw .damagedRow(.integer(id), in: Self.table.name) }
        return key
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try key(keys) }

    func record(defaultName: String?) -> ProviderKeyRecord {
        ProviderKeyRecord(
            name: name, topic: topic, publicKey: publicKey, keyID: publicKey.id, generation: generation,
            createdAt: createdAt, isDefault: defaultName.map { StoreName.areEqual($0, name) } ?? false)
    }
}

/// A key that a rotation has replaced; remembered so that a device that trusts a key of somebody else is noticed.
struct PastSenderKeyRow: StoredRow {
    static let table = StoreTable("past_sender_keys", key: "public_key", "ended")
    static let put = table.put
    static let counted: CountedTable? = .pastSenderKeys

    let publicKey: ProviderPublicKey
    let endedAt: Timestamp

    init(_ publicKey: ProviderPublicKey, endedAt: Timestamp) {
        self.publicKey = publicKey
        self.endedAt = endedAt
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        publicKey = try columns.providerPublicKey()
        endedAt = try columns.time()
    }

    var values: [SQLiteValue] { [.blob(publicKey.bytes), .time(endedAt)] }
}

// MARK: A provider's signing keys, one name per app
extension SQLiteKeyStore {
    /// Generates the first key of a name: generation 1.
    ///
    /// - Throws: `nameTaken`, `invalidName`, `implausibleClock`.
    public func generateProviderKey(
        named name: String = defaultName, topic: Topic? = nil, clock: ClockAssurance = .unknown, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try StoreName.check(name, "the name of a sender key")
        return try write(at: now, clock) { (store, _) throws(KeyStoreError) in
            try store.addProviderKey(try store.newSenderKey(), name: name, topic: topic, at: now)
        }
    }

    /// Imports a key generated elsewhere as the first of a name.
    ///
    /// - Throws: `nameTaken`, `invalidName`, `implausibleClock`; `keyIDTaken` if the store holds this key, or one with
    ///   its id; `senderSuperseded` if it is a recovery key.
    public func importProviderKey(
        _ key: ProviderKey, named name: String = defaultName, topic: Topic? = nil, clock: ClockAssurance = .unknown,
        at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try StoreName.check(name, "the name of a sender key")
        return try write(at: now, clock) { (store, _) throws(KeyStoreError) in
            if try store.knownRecoveryKeys().contains(where: { $0.bytes == key.publicKey.bytes }) {
                throw KeyStoreError(
                    .senderSuperseded, "key \(key.id) is a recovery key, and no key is both: make another sender key")
            }
            return try store.addProviderKey(key, name: name, topic: topic, at: now)
        }
    }

    /// Returns the current key of every name.
    public func providerKeys() throws(KeyStoreError) -> [ProviderKeyRecord] {
        try read { (store) throws(KeyStoreError) in
            let defaultName = try store.providerNames.defaultName()
            return try store.rows(ProviderKeyRow.self, "ORDER BY name").map { $0.record(defaultName: defaultName) }
        }
    }

    /// Returns the current key of a name; nil means the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func providerKey(named name: String?) throws(KeyStoreError) -> StoredProviderKey {
        try read { (store) throws(KeyStoreError) in
            let row = try store.providerKeyRow(name)
            return StoredProviderKey(record: try store.record(row), key: try row.key(keys))
        }
    }

    /// Returns a test for the keys that a device reports as trusted: the members of its record that name a key which
    /// this store never had.
    ///
    /// Such a key is evidence of a theft, or of a false enrolment. A store that never had a sender key finds nothing
    /// foreign, and neither does one with a damaged row.
    public func foreignMemberTest() throws(KeyStoreError)
        -> @Sendable (ProviderPublicKey?, [RecoveryPublicKey]) -> [RegistrationReply.ForeignMember]
    {
        let senders: Set<ProviderPublicKey>
        let recoveryKeys: Set<RecoveryPublicKey>
        do throws(KeyStoreError) {
            (senders, recoveryKeys) = try read { (store) throws(KeyStoreError) in
                (try store.knownProviders(), try store.knownRecoveryKeys())
            }
        } catch {
            guard error.concernsOneRow else { throw error }
            (senders, recoveryKeys) = ([], [])
        }
        return { sender, recovery in
            guard !senders.isEmpty else { return [] }
            let isForeign = sender.map { !senders.contains($0) } ?? false
            return (isForeign ? [.sender] : []) + (recoveryKeys.isSuperset(of: recovery) ? [] : [.recovery])
        }
    }

    /// Sets the default name; throws `unknownName`.
    public func setDefaultProviderKey(named name: String) throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in try store.providerNames.setDefault(name) }
    }
}

extension StoreTransaction {
    /// Returns the sender keys that the store has or had.
    func knownProviders() throws(KeyStoreError) -> Set<ProviderPublicKey> {
        Set(try rows(ProviderKeyRow.self, "").map(\.publicKey) + rows(PastSenderKeyRow.self, "").map(\.publicKey))
    }

    func providerKeyRow(_ name: String?) throws(KeyStoreError) -> ProviderKeyRow {
        let name = try providerNames.resolve(name)
        guard let row = try row(ProviderKeyRow.self, "WHERE name = ?", .text(name)) else {
            // Only reached if a setting outlived its key.
            throw KeyStoreError(.unknownName, "no sender key is named '\(name)'")
        }
        return row
    }

    func record(_ row: ProviderKeyRow) throws(KeyStoreError) -> ProviderKeyRecord {
        row.record(defaultName: try providerNames.defaultName())
    }

    func newSenderKey() throws(KeyStoreError) -> ProviderKey {
        while true {
            let key = ProviderKey()
            if try !providerNames.hasKeyID(key.id) { return key }
        }
    }

    fileprivate func addProviderKey(
        _ key: ProviderKey, name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try providerNames.checkIsNew(name, id: key.id)
        let row = ProviderKeyRow(
            id: try newRowNumber(in: ProviderKeyRow.self), name: name, topic: topic, key: key, generation: 1,
            createdAt: now, keys: keys)
        try put(row)
        try providerNames.keepDefault()
        return try record(row)
    }
}
