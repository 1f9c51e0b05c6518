internal import Pushcrypt

/// A key that a device had before its present one: it answers what was sealed to it.
struct ReplacedKeyRow: StoredRow {
    static let table = StoreTable("replaced_keys", key: "id", "device", "public_key", "key_id", "replaced")
    static let put = table.put

    let id: Int64
    let device: String
    let publicKey: DevicePublicKey
    let replacedAt: Timestamp

    init(id: Int64, device: String, _ publicKey: DevicePublicKey, replacedAt: Timestamp) {
        self.id = id
        self.device = device
        self.publicKey = publicKey
        self.replacedAt = replacedAt
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        device = try columns.text()
        publicKey = try columns.devicePublicKey()
        guard try columns.integer() == Int64(publicKey.id.value) else { throw columns.damaged }
        replacedAt = try columns.time()
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .text(device), .blob(publicKey.bytes), .integer(Int64(publicKey.id.value)),
            .time(replacedAt),
        ]
    }
}

extension StoreTransaction {
    /// The most rows that a change deletes because their time has passed.
    private static let purgedAtOnce = 100

    /// Notes that a device has another key now, if any message can be answered.
    func noteReplaced(_ key: DevicePublicKey, of device: String, at now: Timestamp) throws(KeyStoreError) {
        guard try hasAnswerSecrets else { return }
        try purge(
            ReplacedKeyRow.self, "replaced < ?", before: now.subtracting(AnswerSecretRow.grace))
        try put(
            ReplacedKeyRow(id: newRowNumber(in: ReplacedKeyRow.self), device: device, key, replacedAt: now))
    }

    /// Whether a device had a key before its present one.
    func hasHad(_ key: DevicePublicKey, _ device: String) throws(KeyStoreError) -> Bool {
        try rows(ReplacedKeyRow.self, "WHERE device = ?", .text(device)).contains { $0.publicKey == key }
    }

    /// Deletes a device, and the earlier keys of it, with which nobody may answer any more; returns whether there was one.
    @discardableResult
    func deleteDevice(_ id: String) throws(KeyStoreError) -> Bool {
        let earlier = try connection.rows("SELECT id FROM \(ReplacedKeyRow.table.name) WHERE device = ?", [.text(id)])
        for key in earlier { try delete(ReplacedKeyRow.self, key: key[0]) }
        return try delete(DeviceRow.self, key: .text(id))
    }

    /// Deletes some rows whose time has passed.
    func purge<Row: StoredRow>(
        _: Row.Type, _ condition: String, before time: Timestamp
    ) throws(KeyStoreError) {
        let ended = try connection.rows(
            "SELECT \(Row.table.key) FROM \(Row.table.name) WHERE \(condition) LIMIT \(Self.purgedAtOnce)",
            [.integer(Int64(clamping: time.milliseconds))])
        for key in ended { try delete(Row.self, key: key[0]) }
    }

    /// Returns the devices that have a key with this id, or had it within 32 days, each with the key.
    func devices(withKey id: KeyID, at now: Timestamp) throws(KeyStoreError) -> [(
        record: DeviceRecord, key: DevicePublicKey
    )] {
        var found = try devices(withKey: id).map { (record: $0, key: $0.publicKey) }
        let earlier = try rows(ReplacedKeyRow.self, "WHERE key_id = ? ORDER BY id", .integer(Int64(id.value)))
        for row in earlier where now <= row.replacedAt.adding(AnswerSecretRow.grace) {
            guard let device = try device(id: row.device) else { continue }
            found.append((device.record, row.publicKey))
        }
        return found
    }
}
