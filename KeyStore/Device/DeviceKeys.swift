public import Pushcrypt

// A device's own keys, as `KeyStore` says.
extension SQLiteKeyStore {
    /// Makes the first key of a name.
    public func generateDeviceKey(
        name: String, topic: Topic?, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try StoreName.check(name, "the name of a device key")
        return try write { (store) throws(KeyStoreError) in
            try store.addDeviceKey(try newDeviceKey(store), name: name, topic: topic, now: now)
        }
    }

    /// Takes a key that was made elsewhere as the first of a name.
    public func importDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try StoreName.check(name, "the name of a device key")
        return try write { (store) throws(KeyStoreError) in
            try store.addDeviceKey(key, name: name, topic: topic, now: now)
        }
    }

    /// Every key of every name.
    public func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] {
        try read { (store) throws(KeyStoreError) in
            try store.records(try store.rows(DeviceKeyRow.self, "ORDER BY name, id"))
        }
    }

    /// The keys of one name.
    public func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try read { (store) throws(KeyStoreError) in
            try store.records(try store.deviceKeyRows(try NamedKeys.device.resolve(name, in: store)))
        }
    }

    /// The key that an envelope names, if it may open now.
    public func deviceKey(
        id: KeyID, now: Timestamp
    ) throws(KeyStoreError) -> (record: DeviceKeyRecord, key: DeviceKey)? {
        try read { (store) throws(KeyStoreError) in
            let row = try store.row(DeviceKeyRow.self, "WHERE key_id = ?", .integer(Int64(id.value)))
            guard let row, row.opens(at: now) else { return nil }
            // Opening needs no default: a damaged setting must not stop a push.
            return (row.record(defaultName: try? NamedKeys.device.defaultName(in: store)), try row.key(keys))
        }
    }

    /// The active key of a name, for an export; nil means the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func deviceSecret(named name: String?) throws(KeyStoreError) -> DeviceKey {
        try read { (store) throws(KeyStoreError) in
            let name = try NamedKeys.device.resolve(name, in: store)
            guard let row = try store.deviceKeyRows(name).last(where: { $0.state == .active }) else {
                throw KeyStoreError(.unknownName, "'\(name)' has no active key: confirm its rotation first")
            }
            return try row.key(keys)
        }
    }

    /// Makes a name the one that is meant when none is given.
    public func setDefaultDeviceKey(name: String) throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in try NamedKeys.device.setDefault(name, in: store) }
    }

    /// A fresh key whose id no key of this store has: there is one candidate for each id, and no trial decryption.
    func newDeviceKey(_ store: StoreTransaction) throws(KeyStoreError) -> DeviceKey {
        while true {
            let key = options.makeDeviceKey()
            if try !NamedKeys.device.hasKeyID(key.publicKey.id, in: store) { return key }
        }
    }
}

extension StoreTransaction {
    func deviceKeyRows(_ name: String) throws(KeyStoreError) -> [DeviceKeyRow] {
        try rows(DeviceKeyRow.self, "WHERE name = ? ORDER BY id", .text(name))
    }

    func records(_ rows: [DeviceKeyRow]) throws(KeyStoreError) -> [DeviceKeyRecord] {
        let defaultName = try NamedKeys.device.defaultName(in: self)
        return rows.map { $0.record(defaultName: defaultName) }
    }

    func record(_ row: DeviceKeyRow) throws(KeyStoreError) -> DeviceKeyRecord {
        row.record(defaultName: try NamedKeys.device.defaultName(in: self))
    }

    fileprivate func addDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try NamedKeys.device.checkIsNew(name: name, id: key.publicKey.id, in: self)
        let row = DeviceKeyRow(
            id: try newRowNumber(in: DeviceKeyRow.self), name: name, topic: topic, key: key, generation: 1,
            state: .active, createdAt: now, keys: keys)
        try put(row)
        try NamedKeys.device.keepDefault(in: self)
        return try record(row)
    }
}
