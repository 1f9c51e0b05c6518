public import Pushcrypt

// The life of a device key: pending, active, retiring, purged. (`Docs/KeyRotation.md`)
extension SQLiteKeyStore {
    /// How long a key that was replaced goes on opening unless the caller says otherwise: 31 days, in seconds; Apple keeps
    /// a push for 30.
    public static let standardGrace: UInt64 = 2_678_400

    /// Makes the next key of a name, durable and pending: it opens from now on, before the provider hears of it.
    ///
    /// A pending key that is there already is given again, so a lost reply is answered by asking again. nil means the
    /// default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`; `rotationRefused` after the last generation there is.
    public func rotateDeviceKey(name: String? = nil, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
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

    /// Makes the pending key of a name active, because the provider has acknowledged it; the active one retires, and
    /// opens for `graceSeconds` more.
    ///
    /// Gives nil, and changes nothing, when no key is pending, or another one than was acknowledged: a reply that comes
    /// twice must not confirm a key that the provider has never heard of. A grace shorter than the time to live of what is
    /// under way loses messages.
    ///
    /// - Parameters:
    ///   - acknowledged: the key that the provider's reply names; nil for whichever is pending, when the caller knows that
    ///     the reply is to that one.
    /// - Throws: `unknownName`, `ambiguousName`.
    public func confirmDeviceKey(
        name: String? = nil, acknowledged: KeyID? = nil, graceSeconds: UInt64 = standardGrace, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try write { (store) throws(KeyStoreError) in
            let rows = try store.deviceKeyRows(try NamedKeys.device.resolve(name, in: store))
            guard let pending = rows.last(where: { $0.state == .pending }) else { return nil }
            // The keys of one store have ids of their own, so the id names the key here.
            guard acknowledged == nil || acknowledged == pending.publicKey.id else { return nil }
            return try store.activate(pending, graceSeconds: graceSeconds, now: now)
        }
    }

    /// Deletes the keys of a name that have retired and passed their end date, or, at log-out, all of them.
    ///
    /// When it returns, the secrets are in none of the store's files, not even sealed; what the disk itself keeps of
    /// overwritten blocks is out of reach. nil means the default name.
    ///
    /// - Returns: what was deleted; nothing for a name that has no keys, so that a log-out can be repeated.
    /// - Throws: `ambiguousName`; `storeBusy` when the keys are deleted and another process is reading
    ///   what was before: a second call finishes.
    public func purgeDeviceKeys(
        name: String? = nil, now: Timestamp, everything: Bool = false
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
