public import Pushcrypt

// A provider's signing keys: one name for each app.
extension SQLiteKeyStore {
    /// Makes the first key of a name: generation 1.
    ///
    /// - Throws: `nameTaken`, `invalidName`.
    public func generateSenderKey(
        named name: String = defaultName, topic: Topic? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> SenderKeyRecord {
        try StoreName.check(name, "the name of a sender key")
        return try write { (store) throws(KeyStoreError) in
            try store.addSenderKey(try store.newSenderKey(), name: name, topic: topic, at: now)
        }
    }

    /// Takes a key that was made elsewhere as the first of a name.
    ///
    /// - Throws: `nameTaken`, `invalidName`; `keyIDTaken` when the store holds this key, or one with its id.
    public func importSenderKey(
        _ key: SenderKey, named name: String = defaultName, topic: Topic? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> SenderKeyRecord {
        try StoreName.check(name, "the name of a sender key")
        return try write { (store) throws(KeyStoreError) in
            try store.addSenderKey(key, name: name, topic: topic, at: now)
        }
    }

    /// The current key of every name.
    public func senderKeys() throws(KeyStoreError) -> [SenderKeyRecord] {
        try read { (store) throws(KeyStoreError) in
            let defaultName = try store.senderNames.defaultName()
            return try store.rows(SenderKeyRow.self, "ORDER BY name").map { $0.record(defaultName: defaultName) }
        }
    }

    /// The current key of a name; nil means the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func senderKey(named name: String?) throws(KeyStoreError) -> StoredSenderKey {
        try read { (store) throws(KeyStoreError) in
            let row = try store.senderKeyRow(name)
            return StoredSenderKey(record: try store.record(row), key: try row.key(keys))
        }
    }

    /// Makes a name the one that is meant when none is given; throws `unknownName`.
    public func setDefaultSenderKey(named name: String) throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in try store.senderNames.setDefault(name) }
    }
}

extension StoreTransaction {
    func senderKeyRow(_ name: String?) throws(KeyStoreError) -> SenderKeyRow {
        let name = try senderNames.resolve(name)
        guard let row = try row(SenderKeyRow.self, "WHERE name = ?", .text(name)) else {
            // Only a setting that outlived its key leads here.
            throw KeyStoreError(.unknownName, "no sender key is called '\(name)' here: make it with 'keygen sender'")
        }
        return row
    }

    func record(_ row: SenderKeyRow) throws(KeyStoreError) -> SenderKeyRecord {
        row.record(defaultName: try senderNames.defaultName())
    }

    func newSenderKey() throws(KeyStoreError) -> SenderKey {
        while true {
            let key = SenderKey()
            if try !senderNames.hasKeyID(key.id) { return key }
        }
    }

    fileprivate func addSenderKey(
        _ key: SenderKey, name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> SenderKeyRecord {
        try senderNames.checkIsNew(name, id: key.id)
        let row = SenderKeyRow(
            id: try newRowNumber(in: SenderKeyRow.self), name: name, topic: topic, key: key, generation: 1,
            createdAt: now, keys: keys)
        try put(row)
        try senderNames.keepDefault()
        return try record(row)
    }
}
