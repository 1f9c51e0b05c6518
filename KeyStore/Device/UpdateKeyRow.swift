internal import Pushcrypt

/// The key under which a device signs the records of one account.
struct UpdateKeyRow: StoredRow {
    static let table = StoreTable("update_keys", key: "id", "account", "sealed")
    static let put = table.put

    let id: Int64
    let account: String
    private let sealed: Bytes

    init(id: Int64, account: String, _ key: SigningKey, _ keys: StoreKeys) {
        (self.id, self.account) = (id, account)
        sealed = key.withSeed { keys.seal($0, at: Self.place(id)) }
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        (id, account, sealed) = (try columns.integer(), try columns.text(), try columns.blob())
    }

    var values: [SQLiteValue] { [.integer(id), .text(account), .blob(sealed)] }

    private static func place(_ id: Int64) -> StoreKeys.Place {
        StoreKeys.Place(table: table.name, row: id, generation: 0, state: 0)
    }

    func key(_ keys: StoreKeys) throws(KeyStoreError) -> SigningKey {
        let key = try? keys.open(sealed, at: Self.place(id)).withSpan { (seed) throws(KeyError) in
            try SigningKey(seed: seed)
        }
        guard let key else { throw .damagedRow(.integer(id), in: Self.table.name) }
        return key
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try key(keys) }
}
