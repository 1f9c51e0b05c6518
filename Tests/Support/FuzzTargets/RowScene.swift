import Pushcrypt

@testable import PushcryptKeyStore

/// Two rows of every table of a store, and how rows of each are read.
struct RowScene {
    /// How rows of one table are read.
    struct Reader {
        let table: String
        /// Checks the tag of a row, and gives what would be written for it.
        let read: (SQLiteRow, StoreTransaction) throws(KeyStoreError) -> [SQLiteValue]
        let tag: ([SQLiteValue], StoreKeys) -> Bytes

        init<Row: StoredRow>(_: Row.Type) {
            table = "\(Row.table.name)"
            read = { (row, store) throws(KeyStoreError) in
                let row: Row = try store.verified(row)
                return row.values
            }
            tag = { values, keys in keys.tag(of: values, in: Row.table.name) }
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
        let keys = StoreKeys(storeKey: storeKey)
        let connection = KnownKeys.known { () throws(KeyStoreError) in
            try SQLiteConnection(path: SQLiteConnection.memory, busyTimeout: 0)
        }
        store = StoreTransaction(connection: connection, keys: keys)
        addDevices(TrustScene().entries[0].certificate)
        addAnswers()
    }

    private mutating func add<Row: StoredRow>(_ rows: Row...) {
        let reader = Reader(Row.self)
        for row in rows { self.rows.append(StoredValues(reader: reader, values: tagged(row.values, as: reader))) }
    }

    private mutating func addDevices(_ certificate: Certificate) {
        let (now, topic) = (KnownKeys.now, KnownKeys.topic)
        let (phone, plain) = (KnownKeys.device.publicKey, KnownKeys.otherDevice.publicKey)
        var full = DeviceRegistration(
            publicKey: phone, suites: [1, 2], topic: topic, createdAt: now,
            pinnedProvider: KnownKeys.provider(1).publicKey, appVersion: AppVersion("2.3.1"))
        (full.token, full.environment, full.grant) = ("0a1b", .development, "Gr-4_nt")
        (full.updateKey, full.sequence) = (certificate.signingKey, 9_007_199_254_740_990)
        func device(_ registration: DeviceRegistration, _ id: String, user: String? = nil) -> HeldRow {
            HeldRow(
                .device(
                    DeviceRecord(
                        registration, epoch: user == nil ? nil : certificate.epoch, id: id, user: user,
                        topic: registration.topic, updatedAt: now)))
        }
        // Of suite 2, which every build stores.
        let bytes = Bytes(repeating: 0, count: 1184) + [9] + Bytes(repeating: 0, count: 31)
        let key = KnownKeys.known { () throws(KeyError) in try DevicePublicKey(bytes: bytes.span) }
        add(
            device(full, "phone1", user: "alice"),
            device(DeviceRegistration(publicKey: plain, generation: 2, createdAt: now), "phone2"),
            device(DeviceRegistration(publicKey: key, suites: [1, 2], topic: topic, createdAt: now), "phone4"))
        let last = RemovedDevice.LastKey(generation: 3, suite: .x25519, id: phone.id)
        add(
            HeldRow(
                .removed(
                    RemovedDevice(
                        id: "phone1", removedAt: now, reason: "unregistered", user: "alice", topic: topic,
                        lastKey: last,
                        signing: RemovedDevice.Signing(updateKey: certificate.signingKey, sequence: 7), isLost: true))),
            HeldRow(.removed(RemovedDevice(id: "phone3", removedAt: now))))
    }

    private mutating func addAnswers() {
        let now = KnownKeys.now
        add(
            EarlierKeyRow(device: "phone1", KnownKeys.device.publicKey, replacedAt: now),
            EarlierKeyRow(device: "phone2", KnownKeys.otherDevice.publicKey, replacedAt: now))
    }

    // MARK: Reading

    /// The values and the tag that belongs to them.
    func tagged(_ values: [SQLiteValue], as reader: Reader) -> [SQLiteValue] {
        values + [.blob(reader.tag(values, store.keys))]
    }

    /// Reads values as if a table had given them, through SQLite itself.
    func read(_ values: [SQLiteValue], as reader: Reader) throws(KeyStoreError) -> [SQLiteValue]? {
        let sql = "SELECT " + repeatElement("?", count: values.count).joined(separator: ", ")
        return try store.connection.rows(sql, values) { (row) throws(KeyStoreError) in
            try reader.read(row, store)
        }.first
    }
}
