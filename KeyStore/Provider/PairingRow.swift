internal import Pushcrypt

/// A code that pairs one phone, and what came of it. It is forgotten 10 minutes after it was made, or claimed.
/// (`Docs/FormatPairing.md`)
struct PairingRow: StoredRow {
    static let table = StoreTable(
        "pairings", key: "id", "pairing", "url", "topic", "provider", "user", "replaces", "created", "sealed",
        "claimed", "device", "device_key", "update_key")
    static let put = table.put
    /// In milliseconds. [P-3] [P-6]
    static let lifetime: UInt64 = 600_000

    /// The phone that has claimed the code.
    struct Claim {
        let time: Timestamp
        let device: String
        let key: DevicePublicKey
        let updateKey: SigningPublicKey?
    }

    let id: Int64
    let pairing: Bytes
    let url: String
    let topic: Topic
    let provider: ProviderPublicKey
    /// Whose the device will be; nil if the server has no users.
    let user: String?
    /// The device that the phone may replace.
    let replaces: String?
    let createdAt: Timestamp
    private let sealed: Bytes
    var claim: Claim?

    init(
        id: Int64, _ code: PairingCode, topic: Topic, provider: ProviderPublicKey, user: String?, replaces: String?,
        at now: Timestamp, _ keys: StoreKeys
    ) {
        self.id = id
        (self.topic, self.provider, self.user, self.replaces) = (topic, provider, user, replaces)
        pairing = code.secret.id
        url = code.url.text
        createdAt = now
        sealed = code.secret.withSpan { keys.seal($0, at: Self.place(id)) }
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        pairing = try columns.blob()
        url = try columns.text()
        guard let topic = try columns.topic() else { throw columns.damaged }
        self.topic = topic
        provider = try columns.providerPublicKey()
        user = try columns.optionalText()
        replaces = try columns.optionalText()
        createdAt = try columns.time()
        sealed = try columns.blob()
        if let time = try columns.optionalTime() {
            let (device, key) = (try columns.text(), try columns.devicePublicKey())
            claim = Claim(time: time, device: device, key: key, updateKey: try columns.optionalSigningPublicKey())
        }
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .blob(pairing), .text(url), .text(topic.bundleID), .blob(provider.bytes), .text(user),
            .text(replaces), .time(createdAt), .blob(sealed), .time(claim?.time), .text(claim?.device),
            .blob(claim?.key.bytes), .blob(claim?.updateKey?.bytes),
        ]
    }

    /// Whether the code has its meaning, by the server's clock alone.
    func isOpen(at now: Timestamp) -> Bool {
        let start = claim?.time ?? createdAt
        // A code of a clock that was ahead has ended, too.
        return start <= now.adding(milliseconds: Self.lifetime) && now < start.adding(milliseconds: Self.lifetime)
    }

    private static func place(_ id: Int64) -> StoreKeys.Place {
        StoreKeys.Place(table: table.name, row: id, generation: 0, state: 0)
    }

    func exchange(_ keys: StoreKeys) throws(KeyStoreError) -> PairingExchange {
        let secret = try? keys.open(sealed, at: Self.place(id)).withSpan { PairingSecret($0) }
        guard let secret, secret.id == pairing else { throw .damagedRow(.integer(id), in: Self.table.name) }
        return PairingExchange(secret, url: url, topic: topic, fingerprint: PairingCode.fingerprint(of: provider))
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try exchange(keys) }
}

extension StoreTransaction {
    func pairing(_ id: Bytes, at now: Timestamp) throws(KeyStoreError) -> PairingRow? {
        let row: PairingRow? = try row(PairingRow.self, "WHERE pairing = ?", .blob(id))
        guard let row, row.pairing == id, row.isOpen(at: now) else { return nil }
        return row
    }

    /// Forgets the codes that have ended.
    func forgetPairings(at now: Timestamp) throws(KeyStoreError) {
        let past = Int64(clamping: now.subtracting(milliseconds: PairingRow.lifetime).milliseconds)
        let future = Int64(clamping: now.adding(milliseconds: PairingRow.lifetime).milliseconds)
        try forgetPairings("coalesce(claimed, created) NOT BETWEEN ? + 1 AND ?", [.integer(past), .integer(future)])
    }

    /// Forgets all codes: of a backup it is not known which were used since.
    func forgetPairings() throws(KeyStoreError) { try forgetPairings("true", []) }

    private func forgetPairings(_ condition: String, _ values: [SQLiteValue]) throws(KeyStoreError) {
        for key in try connection.rows("SELECT id FROM pairings WHERE \(condition)", values) {
            try delete(PairingRow.self, key: key[0])
        }
    }
}
