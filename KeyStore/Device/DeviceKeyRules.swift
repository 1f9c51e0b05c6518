internal import Pushcrypt

// What happens to a device's keys, in whatever store they lie: `DeviceKeyStore` says what each of these guarantees.
extension DeviceStorage {
    // MARK: Making

    func generateDeviceKey(
        named name: String, topic: Topic?, making make: () -> DeviceKey, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try importDeviceKey(try newDeviceKey(make), named: name, topic: topic, at: now)
    }

    func importDeviceKey(
        _ key: DeviceKey, named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try StoreName.check(name, "the name of a device key")
        try deviceNames.checkIsNew(name, id: key.publicKey.id)
        let row = try addDeviceKey(key, name: name, topic: topic, generation: 1, state: .active, at: now)
        try deviceNames.keepDefault()
        return try record(row)
    }

    /// A fresh key whose id no key of this store has: there is one candidate for each id, and no trial decryption.
    private func newDeviceKey(_ make: () -> DeviceKey) throws(KeyStoreError) -> DeviceKey {
        while true {
            let key = make()
            if try !deviceNames.hasKeyID(key.publicKey.id) { return key }
        }
    }

    // MARK: Reading

    func deviceKeyRecords() throws(KeyStoreError) -> [DeviceKeyRecord] { try records(try deviceKeyRows()) }

    func deviceKeyRecords(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try records(try deviceKeyRows(try deviceNames.resolve(name)))
    }

    func openingKey(
        id: KeyID, at now: Timestamp
    ) throws(KeyStoreError) -> StoredDeviceKey? {
        guard let row = try deviceKeyRow(id: id), row.opens(at: now) else { return nil }
        // Opening needs no default: a damaged setting must not stop a push.
        return StoredDeviceKey(
            record: row.record(defaultName: try? deviceNames.defaultName()), key: try secret(of: row))
    }

    private func records(_ rows: [KeyRow]) throws(KeyStoreError) -> [DeviceKeyRecord] {
        let defaultName = try deviceNames.defaultName()
        return rows.map { $0.record(defaultName: defaultName) }
    }

    private func record(_ row: KeyRow) throws(KeyStoreError) -> DeviceKeyRecord {
        row.record(defaultName: try deviceNames.defaultName())
    }

    // MARK: Rotation

    func rotateDeviceKey(
        named name: String?, making make: () -> DeviceKey, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        let name = try deviceNames.resolve(name)
        guard let newest = try deviceKeyRows(name).last else {
            // A default name outlives its keys when somebody else has deleted their rows.
            throw KeyStoreError(.unknownName, "no device key is called '\(name)' here: make it with 'keygen device'")
        }
        if newest.state == .pending { return try record(newest) }
        let generation = try deviceNames.generation(after: newest.generation)
        let row = try addDeviceKey(
            try newDeviceKey(make), name: newest.name, topic: newest.topic, generation: generation, state: .pending,
            at: now)
        return try record(row)
    }

    func confirmDeviceKey(
        named name: String?, acknowledged: KeyID?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        let rows = try deviceKeyRows(try deviceNames.resolve(name))
        guard let pending = rows.last(where: { $0.state == .pending }) else { return nil }
        // The keys of one store have ids of their own, so the id names the key here.
        guard acknowledged == nil || acknowledged == pending.publicKey.id else { return nil }
        return try record(try activate(pending, grace: grace, at: now))
    }

    /// Deletes the keys of a name that no longer open; without a time, all of them.
    func purgeDeviceKeys(named name: String?, at now: Timestamp? = nil) throws(KeyStoreError) -> [DeviceKeyRecord] {
        guard let name = try deviceNames.resolveIfPresent(name) else { return [] }
        let rows = try deviceKeyRows(name).filter { row in now.map { !row.opens(at: $0) } ?? true }
        let records = try records(rows)
        for row in rows { try delete(row) }
        try deviceNames.keepDefault()
        return records
    }

    /// The row of a key that waits for its provider, or for the first message that it opens.
    func pendingKey(_ publicKey: DevicePublicKey) throws(KeyStoreError) -> KeyRow? {
        let row = try deviceKeyRow(id: publicKey.id)
        return row.flatMap { $0.publicKey == publicKey && $0.state == .pending ? $0 : nil }
    }

    /// Moves a pending key to active, and the one that was active to retiring.
    @discardableResult
    func activate(_ pending: KeyRow, grace: Interval, at now: Timestamp) throws(KeyStoreError) -> KeyRow {
        for row in try deviceKeyRows(pending.name) where row.state == .active {
            _ = try move(row, to: .retiring, retiresAt: now.adding(grace))
        }
        return try move(pending, to: .active, retiresAt: nil)
    }
}
