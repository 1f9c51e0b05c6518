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
        /// For each secret that a row has, the columns that it is bound to, and last the secret.
        let secrets: ([SQLiteValue]) -> [[SQLiteValue]]

        init<Row: StoredRow>(_: Row.Type, secretColumns: [[Int]] = []) {
            table = "\(Row.table.name)"
            read = { (row, store) throws(KeyStoreError) in
                let row: Row = try store.verified(row)
                try row.checkSecret(store.keys)
                return row.values
            }
            tag = { values, keys in keys.tag(of: values[...], in: Row.table.name) }
            secrets = { values in
                secretColumns.map { $0.map { values[$0] } }.filter { $0.last != .null }
            }
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
        addAnswers(keys)
    }

    private mutating func add<Row: StoredRow>(_ rows: Row..., secretColumns: [[Int]] = []) {
        let reader = Reader(Row.self, secretColumns: secretColumns)
        for row in rows { self.rows.append(StoredValues(reader: reader, values: tagged(row.values, as: reader))) }
    }

    private mutating func addKeys(_ keys: StoreKeys) {
        let (now, topic) = (KnownKeys.now, KnownKeys.topic)
        let trust = TrustScene()
        let certificate = trust.entries[0].certificate
        let rows = (1...3 as ClosedRange<UInt8>).map { number in
            var row = ProviderKeyRow(
                id: Int64(number), name: "provider \(number)", topic: number == 1 ? topic : nil,
                publicKey: trust.providers[Int(number) - 1].publicKey, createdAt: now)
            if number != 3 { row.keep(trust.providers[Int(number) - 1], keys) }
            if number != 2 { row.sign(with: trust.signing[0], certificate, topic: topic, since: now, keys) }
            if number == 3 { row.notice(trust.entries[1].certificate) }
            return row
        }
        // The primary key, the public key, generation and the provider key; the primary key and the signing key.
        add(rows[0], rows[1], rows[2], secretColumns: [[0, 3, 5, 7], [0, 10]])
        let request = CertificateRequest(
            topic: topic, provider: trust.providers[0].publicKey, signingKey: trust.signing[1].publicKey,
            current: certificate)
        // The primary key; what else the request says is not bound to the secret.
        add(CertificateRequestRow(provider: 1, request, trust.signing[1], keys), secretColumns: [[0, 2]])
    }

    private mutating func addOthers(_ keys: StoreKeys) {
        let now = KnownKeys.now
        let certificates = TrustScene().entries.map(\.certificate)
        add(
            StoreHeader(keys: keys, derivation: nil, createdAt: now),
            StoreHeader(
                keys: keys,
                derivation: StoreHeader.Derivation(
                    salt: Bytes(repeating: 1, count: StoreKDF.saltLength), cost: .standard),
                createdAt: now))
        add(SettingRow(name: "topic", value: "com.example.app"), SettingRow(name: "title", value: ""))
        add(
            PastEpochRow(id: 1, provider: 1, CertificatePlan.PastEpoch(nil, replacedAt: now)),
            PastEpochRow(id: 2, provider: 1, CertificatePlan.PastEpoch(certificates[1], replacedAt: now)))
        addDevices(certificates[0])
    }

    private mutating func addDevices(_ certificate: Certificate) {
        let (now, topic) = (KnownKeys.now, KnownKeys.topic)
        let (phone, plain) = (KnownKeys.device.publicKey, KnownKeys.otherDevice.publicKey)
        var full = DeviceRegistration(
            publicKey: phone, suites: [1, 2], topic: topic, createdAt: now,
            pinnedProvider: KnownKeys.provider(1).publicKey, appVersion: AppVersion("2.3.1"))
        (full.token, full.environment, full.grant) = ("0a1b", .development, "Gr-4_nt")
        (full.updateKey, full.sequence) = (certificate.signingKey, 9_007_199_254_740_990)
        func device(_ registration: DeviceRegistration, _ id: String, user: String? = nil) -> DeviceRow {
            DeviceRow(
                DeviceRecord(
                    registration, epoch: user == nil ? nil : certificate.epoch, id: id, user: user,
                    topic: registration.topic, updatedAt: now))
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
            RemovedDeviceRow(
                RemovedDevice(
                    id: "phone1", removedAt: now, reason: "unregistered", user: "alice", topic: topic, lastKey: last,
                    signing: RemovedDevice.Signing(updateKey: certificate.signingKey, sequence: 7), isLost: true)),
            RemovedDeviceRow(RemovedDevice(id: "phone3", removedAt: now)))
    }

    private mutating func addAnswers(_ keys: StoreKeys) {
        let now = KnownKeys.now
        let secret = KnownKeys.known { () throws(KeyError) in
            try AnswerSecret(bytes: Bytes(repeating: 0x5a, count: 32).span)
        }
        let present = AnswerSecretRow(id: 1, provider: 1, createdAt: now, secret, keys)
        var replaced = AnswerSecretRow(id: 2, provider: 2, createdAt: now, secret, keys)
        replaced.replacedAt = now
        // The primary key, the provider key's number and the sealed secret.
        add(present, replaced, secretColumns: [[0, 1, 4]])
        add(
            ReplacedKeyRow(id: 1, device: "phone1", KnownKeys.device.publicKey, replacedAt: now),
            ReplacedKeyRow(id: 2, device: "phone2", KnownKeys.otherDevice.publicKey, replacedAt: now))
        let hash = Bytes(repeating: 7, count: 32)
        add(
            AnswerRow(id: hash, digest: hash, openedAt: now, endsAt: now.adding(.days(31))),
            AnswerRow(id: [1], digest: [], openedAt: now, endsAt: now))
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
