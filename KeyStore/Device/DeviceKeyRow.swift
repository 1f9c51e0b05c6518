public import Pushcrypt

/// The record of one of the device's keys; holds no secret.
public struct DeviceKeyRecord: Hashable, Sendable {
    /// The stages in the life of a key.
    public enum State: UInt8, Hashable, Sendable, CustomStringConvertible {
        /// Durable, and opens already; as far as this device knows, the provider does not seal to it yet.
        case pending = 1
        /// The provider seals to it.
        case active = 2
        /// Replaced by another key; until its end date it opens messages still under way.
        case retiring = 3

        /// The state as programs read it.
        public var description: String {
            switch self {
            case .pending: "pending"
            case .active: "active"
            case .retiring: "retiring"
            }
        }
    }

    /// The account that the key is for.
    public let name: String
    /// The app that the key is for; nil if it is not bound to one.
    public let topic: Topic?
    /// The key that a provider seals to.
    public let publicKey: DevicePublicKey
    /// The first 4 bytes of a hash of the public key.
    public let keyID: KeyID
    /// The number of the key among the keys of this name, from 1.
    public let generation: UInt64
    /// The stage in the key's life.
    public let state: State
    /// When the key was generated or imported.
    public let createdAt: Timestamp
    /// The last moment at which a retiring key opens.
    public let retiresAt: Timestamp?
    /// Whether this name is the default.
    public let isDefault: Bool
}

/// A device key with its record.
public struct StoredDeviceKey: Sendable {
    /// The record.
    public let record: DeviceKeyRecord
    /// The key.
    public let key: DeviceKey

    /// Creates a value; for a key store of your own.
    public init(record: DeviceKeyRecord, key: DeviceKey) {
        self.record = record
        self.key = key
    }
}

/// Generates a key of a suite.
package typealias KeyMaker = @Sendable (CipherSuite) throws(KeyError) -> DeviceKey

struct DeviceKeyRow: StoredRow, DeviceKeyEntry {
    static let table = StoreTable(
        "device_keys", key: "id", "name", "topic", "public_key", "key_id", "generation", "state", "created", "retires",
        "sealed")
    static let put = table.put

    let id: Int64
    let name: String
    let topic: Topic?
    let publicKey: DevicePublicKey
    let generation: UInt64
    let createdAt: Timestamp
    private(set) var state: DeviceKeyRecord.State
    private(set) var retiresAt: Timestamp?
    private var sealed: Bytes

    init(
        id: Int64, name: String, topic: Topic?, key: DeviceKey, generation: UInt64, state: DeviceKeyRecord.State,
        createdAt: Timestamp, keys: StoreKeys
    ) {
        self.id = id
        self.name = name
        self.topic = topic
        publicKey = key.publicKey
        self.generation = generation
        self.createdAt = createdAt
        self.state = state
        sealed = []
        seal(key, keys)
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        name = try columns.text()
        topic = try columns.topic()
        publicKey = try columns.devicePublicKey()
        guard try columns.integer() == Int64(publicKey.id.value) else { throw columns.damaged }
        generation = try columns.unsigned()
        guard let code = UInt8(exactly: try columns.integer()), let state = DeviceKeyRecord.State(rawValue: code) else {
            throw columns.damaged
        }
        self.state = state
        createdAt = try columns.time()
        retiresAt = try columns.optionalTime()
        sealed = try columns.blob()
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .text(name), .text(topic?.bundleID), .blob(publicKey.bytes),
            .integer(Int64(publicKey.id.value)), .unsigned(generation), .integer(Int64(state.rawValue)),
            .time(createdAt), .time(retiresAt), .blob(sealed),
        ]
    }

    // MARK: The secret

    private var place: StoreKeys.Place {
        StoreKeys.Place(table: Self.table.name, row: id, generation: generation, state: state.rawValue)
    }

    func key(_ keys: StoreKeys) throws(KeyStoreError) -> DeviceKey {
        let suite = publicKey.suite
        guard suite.isSupported else { throw .unsupportedSuite }
        guard
            let key = try? keys.open(sealed, at: place).withSpan({ (scalar) throws(KeyError) in
                try DeviceKey(scalar: scalar, suite)
            }), key.publicKey == publicKey
        else { throw .damagedRow(.integer(id), in: Self.table.name) }
        return key
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try key(keys) }

    private mutating func seal(_ key: DeviceKey, _ keys: StoreKeys) {
        sealed = key.withScalar { keys.seal($0, at: place) }
    }

    /// Returns the row in another state, with its secret sealed again.
    func moved(
        to state: DeviceKeyRecord.State, retiresAt: Timestamp?, _ keys: StoreKeys
    ) throws(KeyStoreError) -> DeviceKeyRow {
        let key = try key(keys)
        var row = self
        row.state = state
        row.retiresAt = retiresAt
        row.seal(key, keys)
        return row
    }
}
