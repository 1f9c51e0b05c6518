package import Pushcrypt

/// The record of a store's push key; holds no secret.
package struct PushKeyRecord: Hashable, Sendable {
    /// What the key is called, of which a store has one.
    package static let name = "push"

    /// The public half, which replies name.
    package let publicKey: SigningPublicKey
    /// When the key was generated or imported.
    package let createdAt: Timestamp
}

/// The push key as stored. A store has one at most: relays know its server by it, whatever the app.
struct PushKeyRow: StoredRow {
    static let table = StoreTable("push_key", key: "id", "public_key", "created", "sealed")
    static let put = table.put
    static let id: Int64 = 1
    private static let place = StoreKeys.Place(table: table.name, row: id, generation: 0, state: 0)

    let record: PushKeyRecord
    private let sealed: Bytes

    init(_ key: PushKey, at now: Timestamp, _ keys: StoreKeys) {
        record = PushKeyRecord(publicKey: key.publicKey, createdAt: now)
        sealed = key.withSeed { keys.seal($0, at: Self.place) }
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        guard try columns.integer() == Self.id else { throw columns.damaged }
        let bytes = try columns.blob()
        guard bytes.count == ProviderPublicKey.length else { throw columns.damaged }
        // The tag proves that the key passed the import check before.
        record = PushKeyRecord(publicKey: SigningPublicKey(checked: bytes), createdAt: try columns.time())
        sealed = try columns.blob()
    }

    var values: [SQLiteValue] {
        [.integer(Self.id), .blob(record.publicKey.bytes), .time(record.createdAt), .blob(sealed)]
    }

    func key(_ keys: StoreKeys) throws(KeyStoreError) -> PushKey {
        guard
            let key = try? keys.open(sealed, at: Self.place).withSpan({ (seed) throws(KeyError) in
                try PushKey(seed: seed)
            }), key.publicKey == record.publicKey
        else { throw .damagedRow(.integer(Self.id), in: Self.table.name) }
        return key
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try key(keys) }
}

// MARK: The push key
extension SQLiteKeyStore {
    /// Stores the push key, with which a server signs its requests to relays.
    ///
    /// - Throws: `nameTaken` if the store has one.
    package func addPushKey(_ key: PushKey = PushKey(), at now: Timestamp) throws(KeyStoreError) -> PushKeyRecord {
        try write { (store) throws(KeyStoreError) in
            guard try store.pushKeyRow() == nil else {
                throw KeyStoreError(
                    .nameTaken, "the store has a push key: remove it first, and phones fetch grants for the new one")
            }
            let row = PushKeyRow(key, at: now, keys)
            try store.put(row)
            return row.record
        }
    }

    /// Returns the record of the push key; nil if the store has none.
    package func pushKey() throws(KeyStoreError) -> PushKeyRecord? {
        try readOnce { (store) throws(KeyStoreError) in try store.pushKeyRow()?.record }
    }

    /// Returns the push key.
    ///
    /// - Throws: `unknownName` if the store has none.
    package func pushSecret() throws(KeyStoreError) -> PushKey {
        try readOnce { (store) throws(KeyStoreError) in
            guard let row = try store.pushKeyRow() else { throw .noPushKey }
            return try row.key(keys)
        }
    }

    /// Destroys the push key: relays refuse every grant that names it.
    ///
    /// - Throws: `unknownName` if the store has none.
    package func removePushKey() throws(KeyStoreError) {
        try writeAndErase { (store) throws(KeyStoreError) in
            try store.write { (store) throws(KeyStoreError) in
                guard try store.delete(PushKeyRow.self, key: .integer(PushKeyRow.id)) else { throw .noPushKey }
            }
        }
    }
}

extension KeyStoreError {
    package static var noPushKey: KeyStoreError { KeyStoreError(.unknownName, "the store has no push key") }
}

extension StoreTransaction {
    func pushKeyRow() throws(KeyStoreError) -> PushKeyRow? { try row(key: .integer(PushKeyRow.id)) }
}
