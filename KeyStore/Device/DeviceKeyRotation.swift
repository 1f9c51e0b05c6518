public import Pushcrypt

// The life of a device key: pending, active, retiring, purged. (`Docs/KeyRotation.md`)
extension SQLiteKeyStore {
    /// Makes the next key of a name, or gives the pending one again.
    public func rotateDeviceKey(name: String?, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try write { (store) throws(KeyStoreError) in
            let rows = try store.deviceKeyRows(try NamedKeys.device.resolve(name, in: store))
            guard let newest = rows.last else { preconditionFailure("a name without a key was resolved") }
            if newest.state == .pending { return try store.record(newest) }
            let row = DeviceKeyRow(
                id: try store.newRowNumber(in: DeviceKeyRow.self), name: newest.name, topic: newest.topic,
                key: try newDeviceKey(store), generation: try next(newest.generation), state: .pending,
                createdAt: now, keys: keys)
            try store.put(row)
            return try store.record(row)
        }
    }

    /// Makes the pending key of a name active.
    public func confirmDeviceKey(
        name: String?, acknowledged: KeyID?, graceSeconds: UInt64, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try write { (store) throws(KeyStoreError) in
            let rows = try store.deviceKeyRows(try NamedKeys.device.resolve(name, in: store))
            guard let pending = rows.last(where: { $0.state == .pending }) else { return nil }
            // The keys of one store have ids of their own, so the id names the key here.
            guard acknowledged == nil || acknowledged == pending.publicKey.id else { return nil }
            return try store.activate(pending, graceSeconds: graceSeconds, now: now)
        }
    }

    /// Deletes the keys of a name that have retired and passed their end date, or all of them.
    ///
    /// When it returns, the secrets are in none of the store's files, not even sealed; what the disk itself keeps of
    /// overwritten blocks is out of reach. Throws `storeBusy` also when the keys are deleted and another process is reading
    /// what was before: a second call finishes.
    public func purgeDeviceKeys(
        name: String?, now: Timestamp, everything: Bool
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        let purged = try write { (store) throws(KeyStoreError) -> [DeviceKeyRecord] in
            guard let name = try NamedKeys.device.resolveIfPresent(name, in: store) else { return [] }
            let rows = try store.deviceKeyRows(name).filter { everything || !$0.opens(at: now) }
            let records = try store.records(rows)
            for row in rows { try store.delete(DeviceKeyRow.self, key: .integer(row.id)) }
            try NamedKeys.device.keepDefault(in: store)
            return records
        }
        try withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        return purged
    }

    /// Deletes every device key and every trusted sender, from the files too, as `purgeDeviceKeys` does.
    public func purgeEverything() throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in
            try store.connection.rows("DELETE FROM \(DeviceKeyRow.table.name)")
            try store.connection.rows("DELETE FROM \(TrustedSenderRow.table.name)")
            try NamedKeys.device.keepDefault(in: store)
        }
        try withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
    }

    func next(_ generation: UInt64) throws(KeyStoreError) -> UInt64 {
        let (next, overflow) = generation.addingReportingOverflow(1)
        guard !overflow else {
            throw KeyStoreError(
                .rotationRefused, "this key has the last generation there is: make one under a new name")
        }
        return next
    }
}

extension StoreTransaction {
    /// Moves a pending key to active, and the one that was active to retiring.
    func activate(
        _ pending: DeviceKeyRow, graceSeconds: UInt64, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        for row in try deviceKeyRows(pending.name) where row.state == .active {
            try put(try row.moved(to: .retiring, retiresAt: now.adding(seconds: graceSeconds), keys))
        }
        let active = try pending.moved(to: .active, keys)
        try put(active)
        return try record(active)
    }
}
