import Pushcrypt

@testable import PushcryptKeyStore

/// Two rows of every table of a store, and how rows of each are read.
struct RowScene {
    /// How rows of one table are read.
    struct Reader {
        let table: String
        /// Checks the tag and the secret of a row, and gives what would be written for it.
        let read: (SQLiteRow, StoreTransaction) throws(KeyStoreError) -> [SQLiteValue]
        let tag: ([SQLiteValue], StoreKeys) -> Bytes
        /// The columns that a secret is bound to, and the secret.
        var secret: (([SQLiteValue]) -> [SQLiteValue])?

        init<Row: StoredRow>(_: Row.Type, secretColumns: [Int] = []) {
            table = "\(Row.table.name)"
            read = { (row, store) throws(KeyStoreError) in
                let row: Row = try store.verified(row)
                try row.checkSecret(store.keys)
                return row.values
            }
            tag = { values, keys in keys.tag(of: values[...], in: Row.table.name) }
            if !secretColumns.isEmpty { secret = { values in secretColumns.map { values[$0] } } }
        }
    }

    /// A row as it lies in a store, its tag included.
    struct StoredValues {
        let reader: Reader
        let values: [SQLiteValue]
    }

    private(set) var rows: [StoredValues] = []
    private let store: StoreTransaction

    init() {
        let storeKey = SecretBytes(copying: Bytes(repeating: 0x55, count: 32).span)
        let keys = StoreKeys(storeKey: storeKey, storeID: Bytes(repeating: 0x56, count: StoreKeys.storeIDLength))
        let connection = KnownKeys.known { () throws(KeyStoreError) in
            try SQLiteConnection(path: SQLiteConnection.memory, busyTimeout: 0)
        }
        store = StoreTransaction(connection: connection, keys: keys)
        addKeys(keys)
        addOthers(keys)
    }

    private mutating func add<Row: StoredRow>(_ rows: Row..., secretColumns: [Int] = []) {
        let reader = Reader(Row.self, secretColumns: secretColumns)
        for row in rows { self.rows.append(StoredValues(reader: reader, values: tagged(row.values, as: reader))) }
    }

    private mutating func addKeys(_ keys: StoreKeys) {
        let (now, topic) = (KnownKeys.now, KnownKeys.topic)
        let device = DeviceKeyRow(
            id: 1, name: "alice", topic: topic, key: KnownKeys.device, generation: 1, state: .active, createdAt: now,
            keys: keys)
        let retiring = KnownKeys.known { () throws(KeyStoreError) in
            try device.moved(to: .retiring, retiresAt: now, keys)
        }
        // The primary key, the public key, generation, state and the sealed secret.
        let columns = [0, 3, 5, 6, 9]
        add(
            device, retiring,
            DeviceKeyRow(
                id: 2, name: "bob", topic: nil, key: KnownKeys.otherDevice, generation: 7, state: .pending,
                createdAt: now, keys: keys), secretColumns: columns)
        if let key = KnownKeys.postQuantum {
            add(
                DeviceKeyRow(
                    id: 3, name: "alice", topic: topic, key: key, generation: 2, state: .pending, createdAt: now,
                    keys: keys), secretColumns: columns)
        }
        let senders = (1...2 as ClosedRange<UInt8>).map { number in
            ProviderKeyRow(
                id: Int64(number), name: "provider \(number)", topic: number == 1 ? topic : nil,
                key: KnownKeys.sender(number), generation: UInt64(number), createdAt: now, keys: keys)
        }
        add(senders[0], senders[1], secretColumns: [0, 3, 5, 7])
    }

    private mutating func addOthers(_ keys: StoreKeys) {
        let (now, topic) = (KnownKeys.now, KnownKeys.topic)
        let (old, new) = (KnownKeys.sender(1), KnownKeys.sender(2))
        let statement = KnownKeys.known { () throws(RotationError) in
            try RotationStatement(from: old, to: new, at: now)
        }
        add(
            StoreHeader(keys: keys, derivation: nil, createdAt: now),
            StoreHeader(
                keys: keys,
                derivation: StoreHeader.Derivation(
                    salt: Bytes(repeating: 1, count: StoreKDF.saltLength), cost: .standard),
                createdAt: now))
        add(SettingRow(name: "topic", value: "com.example.app"), SettingRow(name: "title", value: ""))
        let trusted = PinnedProviderRow(id: 1, name: "provider", topic: topic, key: old.publicKey, createdAt: now)
        add(
            trusted, trusted.superseded(by: statement, until: now),
            PinnedProviderRow(id: 2, name: "other", topic: nil, key: new.publicKey, createdAt: now))
        add(
            AnnouncementRow(
                id: 1, oldKey: old.publicKey, newKey: new.publicKey, statement: statement, announcedUntil: now))
        add(
            DeviceRow(
                DeviceRecord(
                    id: "phone1", user: "alice", publicKey: KnownKeys.device.publicKey, topic: topic, generation: 1,
                    createdAt: now, updatedAt: now, pinnedProvider: old.publicKey, suites: [1, 2],
                    appVersion: AppVersion("2.3.1"),
                    recoveryKeys: [RecoveryPublicKey(checked: old.publicKey.bytes)])),
            DeviceRow(
                DeviceRecord(
                    id: "phone2", user: nil, publicKey: KnownKeys.otherDevice.publicKey, topic: nil, generation: 2,
                    createdAt: now, updatedAt: now, pinnedProvider: nil, suites: [1], appVersion: nil,
                    recoveryKeys: [])))
        add(
            RemovedDeviceRow(RemovedDevice(id: "phone1", removedAt: now, reason: "unregistered")),
            RemovedDeviceRow(RemovedDevice(id: "phone3", removedAt: now)))
        // Of suite 2, which every build stores.
        let bytes = Bytes(repeating: 0, count: 1184) + [9] + Bytes(repeating: 0, count: 31)
        let key = KnownKeys.known { () throws(KeyError) in try DevicePublicKey(bytes: bytes.span) }
        add(
            DeviceRow(
                DeviceRecord(
                    id: "phone4", user: nil, publicKey: key, topic: topic, generation: 1, createdAt: now,
                    updatedAt: now,
                    pinnedProvider: nil, suites: [1, 2], appVersion: nil, recoveryKeys: [])))
    }

    // MARK: Reading

    /// The values and the tag that belongs to them.
    func tagged(_ values: [SQLiteValue], as reader: Reader) -> [SQLiteValue] {
        values + [.blob(reader.tag(values, store.keys))]
    }

    /// Reads values as if a table had given them, through SQLite itself.
    func read(_ values: [SQLiteValue], as reader: Reader) throws(KeyStoreError) -> [SQLiteValue]? {
        let sql = "SELECT " + repeatElement("?", count: values.count).joined(separator: ", ")
        return try store.connection.firstRow(sql, values) { (row) throws(KeyStoreError) in
            try reader.read(row, store)
        }
    }
}
