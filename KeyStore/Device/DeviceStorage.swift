internal import Pushcrypt

/// The device side of a key store inside one transaction: SQLite tables, or the contents of a Keychain item.
///
/// A conforming type provides rows. The rules for keys and trust are extensions of this protocol, the same for every
/// store.
protocol DeviceStorage {
    associatedtype KeyRow: DeviceKeyEntry
    associatedtype Names: KeyNames

    var deviceNames: Names { get }

    // MARK: Device keys

    /// Returns every row, by the bytes of its name, oldest generation first.
    func deviceKeyRows() throws(KeyStoreError) -> [KeyRow]
    /// Returns the rows of a name, oldest generation first.
    func deviceKeyRows(_ name: String) throws(KeyStoreError) -> [KeyRow]
    func deviceKeyRow(id: KeyID) throws(KeyStoreError) -> KeyRow?
    func secret(of row: KeyRow) throws(KeyStoreError) -> DeviceKey

    /// Adds a key whose name, generation and id the caller has checked.
    func addDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, generation: UInt64, state: DeviceKeyRecord.State,
        at now: Timestamp
    ) throws(KeyStoreError) -> KeyRow
    func move(
        _ row: KeyRow, to state: DeviceKeyRecord.State, retiresAt: Timestamp?
    ) throws(KeyStoreError) -> KeyRow
    func delete(_ row: KeyRow) throws(KeyStoreError)

    // MARK: Update keys

    func updateKey(of account: String) throws(KeyStoreError) -> SigningKey?
    func addUpdateKey(_ key: SigningKey, of account: String) throws(KeyStoreError)
    func deleteUpdateKey(of account: String) throws(KeyStoreError)

    // MARK: Trust

    /// Returns every pin, oldest first.
    func pins() throws(KeyStoreError) -> [PinRow]
    /// Returns a number higher than that of any pin.
    func newPinNumber() throws(KeyStoreError) -> Int64
    /// Writes a row, replacing the one with its number.
    func put(_ row: PinRow) throws(KeyStoreError)
    func delete(_ row: PinRow) throws(KeyStoreError)
    /// Returns what was learned of a provider key for an app.
    func learnedTrust(of provider: ProviderPublicKey, _ topic: Topic) throws(KeyStoreError) -> LearnedTrustRow?
    /// Returns a number higher than that of any row of learned trust.
    func newLearnedNumber() throws(KeyStoreError) -> Int64
    /// Writes a row, replacing the one with its number.
    func put(_ row: LearnedTrustRow) throws(KeyStoreError)
}

/// A device key as the rules see it: without its secret.
protocol DeviceKeyEntry {
    var name: String { get }
    var topic: Topic? { get }
    var publicKey: DevicePublicKey { get }
    var generation: UInt64 { get }
    var state: DeviceKeyRecord.State { get }
    var createdAt: Timestamp { get }
    /// Only set for a retiring key.
    var retiresAt: Timestamp? { get }
}

extension DeviceKeyEntry {
    /// A retiring key opens until its end date; the others always open.
    func opens(at now: Timestamp) -> Bool { retiresAt.map { now <= $0 } ?? true }

    func record(defaultName: String?) -> DeviceKeyRecord {
        DeviceKeyRecord(
            name: name, topic: topic, publicKey: publicKey, keyID: publicKey.id, generation: generation, state: state,
            createdAt: createdAt, retiresAt: retiresAt,
            isDefault: defaultName.map { StoreName.areEqual($0, name) } ?? false)
    }
}

// The rules for a device's keys, the same in every store; `DeviceKeyStore` documents their guarantees.
extension DeviceStorage {
    func newUpdateKey(of account: String) throws(KeyStoreError) -> SigningKey {
        if let key = try updateKey(of: account) { return key }
        try StoreName.check(account, "the name of an account")
        let key = SigningKey()
        try addUpdateKey(key, of: account)
        return key
    }

    // MARK: Generating

    func generateDeviceKey(
        named name: String, topic: Topic?, _ suite: CipherSuite, making make: KeyMaker, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try importDeviceKey(try newDeviceKey(suite, make), named: name, topic: topic, at: now)
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

    /// Generates a key whose id no key of this store has: each id has one candidate, so nothing is decrypted on trial.
    private func newDeviceKey(_ suite: CipherSuite, _ make: KeyMaker) throws(KeyStoreError) -> DeviceKey {
        while true {
            guard let key = try? make(suite) else { throw .unsupportedSuite }
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
        named name: String?, _ suite: CipherSuite?, making make: KeyMaker, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        let name = try deviceNames.resolve(name)
        let rows = try deviceKeyRows(name)
        // A retiring key may be one that the provider refused.
        let suites = rows.filter { $0.state != .retiring }.map(\.publicKey.suite)
        guard let newest = rows.last, let strongest = suites.max() else {
            // A default name outlives its keys if someone else has deleted their rows.
            throw KeyStoreError(.unknownName, "no device key is named '\(name)'")
        }
        guard suite ?? strongest >= strongest else {
            throw KeyStoreError(.suiteDowngrade, "'\(name)' has a post-quantum key, and never goes back")
        }
        if newest.state == .pending {
            guard suite ?? .x25519 <= newest.publicKey.suite else {
                throw KeyStoreError(
                    .rotationRefused, "'\(name)' has a pending key of the earlier suite: have it confirmed first")
            }
            return try record(newest)
        }
        let generation = try deviceNames.generation(after: newest.generation)
        let row = try addDeviceKey(
            try newDeviceKey(suite ?? strongest, make), name: newest.name, topic: newest.topic, generation: generation,
            state: .pending,
            at: now)
        return try record(row)
    }

    func confirmDeviceKey(
        named name: String?, acknowledged: KeyID?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        let rows = try deviceKeyRows(try deviceNames.resolve(name))
        let active = rows.last { $0.state == .active }?.generation ?? 0
        // Ids are unique within a store, so the id identifies the key.
        let row = rows.last { row in
            switch row.state {
            case .pending: acknowledged == nil || acknowledged == row.publicKey.id
            case .active: false
            // Later than the active one: refused by one of the provider's servers, and known to another.
            case .retiring: acknowledged == row.publicKey.id && row.generation > active
            }
        }
        guard let row else { return nil }
        return try record(try activate(row, grace: grace, at: now))
    }

    /// Retires a pending key of a name, which its provider has refused.
    func retirePendingDeviceKey(
        _ key: DevicePublicKey, named name: String?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> Bool {
        guard let name = try deviceNames.resolveIfPresent(name) else { return false }
        let rows = try deviceKeyRows(name)
        guard rows.count > 1, let row = rows.last, row.state == .pending, row.publicKey == key else { return false }
        _ = try move(row, to: .retiring, retiresAt: now.adding(grace))
        return true
    }

    func replaceRefusedDeviceKey(
        _ key: DevicePublicKey, named name: String, suite: CipherSuite, making make: KeyMaker, grace: Interval,
        at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        let rows = try deviceKeyRows(name)
        guard let newest = rows.last else {
            throw KeyStoreError(.unknownName, "no device key is named '\(name)'")
        }
        if newest.state == .pending {
            guard newest.publicKey == key else { return try record(newest) }
            _ = try move(newest, to: .retiring, retiresAt: now.adding(grace))
        }
        let row = try addDeviceKey(
            try newDeviceKey(suite, make), name: newest.name, topic: newest.topic,
            generation: try deviceNames.generation(after: newest.generation), state: .pending, at: now)
        return try record(row)
    }

    /// Deletes the keys of a name that no longer open; without a time, all of them, and the update key.
    func purgeDeviceKeys(named name: String?, at now: Timestamp? = nil) throws(KeyStoreError) -> [DeviceKeyRecord] {
        guard let name = try deviceNames.resolveIfPresent(name) else { return [] }
        let rows = try deviceKeyRows(name).filter { row in now.map { !row.opens(at: $0) } ?? true }
        let records = try records(rows)
        for row in rows { try delete(row) }
        if now == nil { try deleteUpdateKey(of: name) }
        try deviceNames.keepDefault()
        return records
    }

    /// Returns the retired keys of every name that ended more than the clock tolerance before both times.
    func retiredKeys(at now: Timestamp, accepted sentAt: Timestamp) throws(KeyStoreError) -> [KeyRow] {
        let time = min(now, sentAt)
        return try deviceKeyRows().filter { row in
            row.retiresAt.map { $0.adding(Freshness.clockTolerance) < time } ?? false
        }
    }

    func purgeDeviceKeys(
        at now: Timestamp, accepted sentAt: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        let rows = try retiredKeys(at: now, accepted: sentAt)
        let records = try records(rows)
        for row in rows { try delete(row) }
        return records
    }

    /// Returns the row of a key that waits for its provider, or for the first message that it opens.
    func pendingKey(_ publicKey: DevicePublicKey) throws(KeyStoreError) -> KeyRow? {
        let row = try deviceKeyRow(id: publicKey.id)
        return row.flatMap { $0.publicKey == publicKey && $0.state == .pending ? $0 : nil }
    }

    /// Activates a pending key, and retires the active one.
    @discardableResult
    func activate(_ pending: KeyRow, grace: Interval, at now: Timestamp) throws(KeyStoreError) -> KeyRow {
        for row in try deviceKeyRows(pending.name) where row.state == .active {
            _ = try move(row, to: .retiring, retiresAt: now.adding(grace))
        }
        return try move(pending, to: .active, retiresAt: nil)
    }
}
