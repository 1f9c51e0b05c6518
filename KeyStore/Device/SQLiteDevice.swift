public import Pushcrypt

// The device side of an SQLite store: each call applies the rules in one transaction.
extension SQLiteKeyStore {
    // MARK: Device keys

    /// Generates the first key of a name.
    public func generateDeviceKey(
        named name: String, topic: Topic?, suite: CipherSuite, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try write { (store) throws(KeyStoreError) in
            try store.generateDeviceKey(named: name, topic: topic, suite, making: options.makeDeviceKey, at: now)
        }
    }

    /// Imports a key generated elsewhere as the first of a name.
    public func importDeviceKey(
        _ key: DeviceKey, named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try write { (store) throws(KeyStoreError) in
            try store.importDeviceKey(key, named: name, topic: topic, at: now)
        }
    }

    /// Returns every key of every name.
    public func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] {
        try read { (store) throws(KeyStoreError) in try store.deviceKeyRecords() }
    }

    /// Returns the keys of one name.
    public func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try read { (store) throws(KeyStoreError) in try store.deviceKeyRecords(named: name) }
    }

    /// Returns the key that an envelope names, if it may open now.
    public func deviceKey(
        id: KeyID, at now: Timestamp
    ) throws(KeyStoreError) -> StoredDeviceKey? {
        try read { (store) throws(KeyStoreError) in try store.openingKey(id: id, at: now) }
    }

    /// Returns the active key of a name, for an export; nil means the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    package func deviceSecret(named name: String?) throws(KeyStoreError) -> DeviceKey {
        try read { (store) throws(KeyStoreError) in
            let name = try store.deviceNames.resolve(name)
            guard let row = try store.deviceKeyRows(name).last(where: { $0.state == .active }) else {
                throw KeyStoreError(.unknownName, "'\(name)' has no active key: confirm its rotation first")
            }
            return try row.key(keys)
        }
    }

    /// Returns the key under which the device signs an account's records, making one the first time.
    public func updateKey(of account: String) throws(KeyStoreError) -> SigningKey {
        if let key = try read({ (store) throws(KeyStoreError) in try store.updateKey(of: account) }) { return key }
        return try write { (store) throws(KeyStoreError) in try store.newUpdateKey(of: account) }
    }

    /// Sets the default name.
    public func setDefaultDeviceKey(named name: String) throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in try store.deviceNames.setDefault(name) }
    }

    /// Generates the next key of a name, or returns the pending one.
    public func rotateDeviceKey(
        named name: String?, suite: CipherSuite?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try write { (store) throws(KeyStoreError) in
            try store.rotateDeviceKey(named: name, suite, making: options.makeDeviceKey, at: now)
        }
    }

    /// Retires a pending key that its provider has refused.
    @discardableResult
    public func retirePendingDeviceKey(
        _ key: DevicePublicKey, named name: String?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> Bool {
        try write { (store) throws(KeyStoreError) in
            try store.retirePendingDeviceKey(key, named: name, grace: grace, at: now)
        }
    }

    /// Generates the key that follows one which the provider refuses.
    public func replaceRefusedDeviceKey(
        _ key: DevicePublicKey, named name: String, suite: CipherSuite, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try write { (store) throws(KeyStoreError) in
            try store.replaceRefusedDeviceKey(
                key, named: name, suite: suite, making: options.makeDeviceKey, grace: grace, at: now)
        }
    }

    /// Activates the pending key of a name.
    public func confirmDeviceKey(
        named name: String?, acknowledged: KeyID?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try write { (store) throws(KeyStoreError) in
            try store.confirmDeviceKey(named: name, acknowledged: acknowledged, grace: grace, at: now)
        }
    }

    /// Deletes the retired keys of a name whose end date has passed, as `purgeDeviceKeys(named:)` does.
    public func purgeRetiredDeviceKeys(
        named name: String?, at now: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try purgeRetiredDeviceKeys(named: name, at: now) { _ in }
    }

    /// Deletes the retired keys of every name that ended long ago, as `purgeDeviceKeys(named:)` does.
    @discardableResult
    public func purgeRetiredDeviceKeys(
        at now: Timestamp, accepted sentAt: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        let isNeeded = try read { (store) throws(KeyStoreError) in
            try !store.retiredKeys(at: now, accepted: sentAt).isEmpty
        }
        guard isNeeded else { return [] }
        let purged = try write { (store) throws(KeyStoreError) in
            try store.purgeDeviceKeys(at: now, accepted: sentAt)
        }
        try eraseDeleted()
        return purged
    }

    /// Deletes all keys of a name.
    ///
    /// When it returns, the secrets are in none of the store's files, not even sealed; what the disk keeps of
    /// overwritten blocks is out of reach. Throws `storeBusy` also if the keys are deleted but another process is still
    /// reading the previous state; a second call completes the deletion.
    public func purgeDeviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try purgeDeviceKeys(named: name) { _ in }
    }

    private func eraseDeleted() throws(KeyStoreError) {
        try withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
    }

    /// Deletes the keys and pins of an account, as `purgeDeviceKeys(named:)` does.
    @discardableResult
    public func removeAccount(_ account: String) throws(KeyStoreError) -> [DeviceKeyRecord] {
        let purged = try write { (store) throws(KeyStoreError) in try store.removeAccount(account) }
        try eraseDeleted()
        return purged
    }

    // MARK: Trust

    /// Returns the providers that an account trusts for an app.
    public func trust(for topic: Topic, account: String) throws(KeyStoreError) -> ProviderTrust {
        try read { (store) throws(KeyStoreError) in try store.trust(for: topic, account: account) }
    }

    /// Returns what is known of a provider, pinned or not.
    public func trust(in provider: ProviderPublicKey, for topic: Topic) throws(KeyStoreError) -> ProviderTrust {
        try read { (store) throws(KeyStoreError) in try store.trust(in: provider, for: topic) }
    }

    /// Pins a provider's key for an account.
    @discardableResult
    public func pinProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try write { (store) throws(KeyStoreError) in
            try store.pinProvider(pin, for: account, topic: topic, at: now)
        }
    }

    /// Pins the key in a provider's first reply.
    public func pinFirstProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in
            try store.pinFirstProvider(pin, for: account, topic: topic, at: now)
        }
    }

    /// Makes these the only pins of an account.
    public func setPins(
        _ pins: [ProviderPin], for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in
            try store.setPins(pins, for: account, topic: topic, at: now)
        }
    }

    /// Removes a pin of an account.
    @discardableResult
    public func unpinProvider(_ key: ProviderPublicKey, for account: String) throws(KeyStoreError) -> Bool {
        try write { (store) throws(KeyStoreError) in try store.unpinProvider(key, for: account) }
    }

    /// Returns the pins of every account.
    public func pinnedProviders() throws(KeyStoreError) -> [PinnedProviderRecord] {
        try read { (store) throws(KeyStoreError) in try store.pins().map(\.record) }
    }

    /// Verifies a certificate that reached the device outside a message, and learns it.
    @discardableResult
    public func acceptCertificate(
        _ certificate: Certificate, of provider: ProviderPublicKey, topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderTrust.Change {
        try write { (store) throws(KeyStoreError) in
            try store.accept(certificate, of: provider, topic: topic)
        }
    }

    // MARK: Both

    /// Stores what a message changed, in one transaction.
    public func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) {
        // Readers do not wait for each other; writers do.
        let isNeeded = try read { (store) throws(KeyStoreError) in
            try store.needsSettling(
                openedWith: publicKey, provider: provider, certificate: certificate, topic: topic)
        }
        guard isNeeded else { return }
        try write { (store) throws(KeyStoreError) in
            try store.settle(
                openedWith: publicKey, provider: provider, certificate: certificate, topic: topic, grace: grace, at: now
            )
        }
    }

    /// Deletes every device key and every pin, from the files too, as `purgeDeviceKeys(named:)` does.
    public func purgeEverything() throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in
            // This includes damaged rows.
            try store.deleteAll(DeviceKeyRow.self)
            try store.deleteAll(PinRow.self)
            try store.deleteAll(UpdateKeyRow.self)
            try store.deviceNames.setDefaultName(nil)
            do throws(KeyStoreError) {
                _ = try store.rows(LearnedTrustRow.self, "")
            } catch {
                guard error.code == .corruptStore else { throw error }
                try store.deleteAll(LearnedTrustRow.self)
            }
        }
        try eraseDeleted()
    }
}

// What only the command asks.
extension SQLiteKeyStore {
    /// Generates the next key of a name, or returns the pending one.
    ///
    /// - Parameter age: Do nothing if the newest key of the name is younger; checked in the same transaction, so that
    ///   only one of two processes generates a key.
    /// - Returns: nil if the newest key is younger.
    /// - Throws: `unknownName`, `ambiguousName`, `rotationRefused`, `suiteDowngrade`, `unsupportedSuite`.
    package func rotateDeviceKey(
        named name: String?, suite: CipherSuite? = nil, ifOlderThan age: Interval?,
        at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try write { (store) throws(KeyStoreError) in
            let newest = try store.deviceKeyRecords(named: name).map(\.createdAt).max()
            if let age, let newest, !newest.isOlder(than: age, at: now) { return nil }
            return try store.rotateDeviceKey(named: name, suite, making: options.makeDeviceKey, at: now)
        }
    }

    /// Deletes all keys of a name, as `purgeDeviceKeys(named:)` does.
    ///
    /// - Parameter willEnd: Called with the keys before they are deleted.
    package func purgeDeviceKeys(
        named name: String?, willEnd: ([DeviceKeyRecord]) -> Void
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        let purged = try write { (store) throws(KeyStoreError) in
            let keys = try store.purgeDeviceKeys(named: name)
            if !keys.isEmpty { willEnd(keys) }
            return keys
        }
        try eraseDeleted()
        return purged
    }

    /// Deletes the retired keys of a name whose end date has passed, as `purgeDeviceKeys(named:)` does.
    ///
    /// - Parameter willEnd: Called with the keys before they are deleted.
    /// - Throws: `ambiguousName`.
    package func purgeRetiredDeviceKeys(
        named name: String?, at now: Timestamp, willEnd: ([DeviceKeyRecord]) -> Void
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        let purged = try write { (store) throws(KeyStoreError) in
            let keys = try store.purgeDeviceKeys(named: name, at: now)
            if !keys.isEmpty { willEnd(keys) }
            return keys
        }
        try eraseDeleted()
        return purged
    }
}

extension StoreTransaction: DeviceStorage {
    func deviceKeyRows() throws(KeyStoreError) -> [DeviceKeyRow] { try rows(DeviceKeyRow.self, "ORDER BY name, id") }

    func deviceKeyRows(_ name: String) throws(KeyStoreError) -> [DeviceKeyRow] {
        try rows(DeviceKeyRow.self, "WHERE name = ? ORDER BY id", .text(name))
    }

    func deviceKeyRow(id: KeyID) throws(KeyStoreError) -> DeviceKeyRow? {
        try row(DeviceKeyRow.self, "WHERE key_id = ?", .integer(Int64(id.value)))
    }

    func secret(of row: DeviceKeyRow) throws(KeyStoreError) -> DeviceKey { try row.key(keys) }

    func addDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, generation: UInt64, state: DeviceKeyRecord.State,
        at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRow {
        let row = DeviceKeyRow(
            id: try newRowNumber(in: DeviceKeyRow.self), name: name, topic: topic, key: key, generation: generation,
            state: state, createdAt: now, keys: keys)
        try put(row)
        return row
    }

    func move(
        _ row: DeviceKeyRow, to state: DeviceKeyRecord.State, retiresAt: Timestamp?
    ) throws(KeyStoreError) -> DeviceKeyRow {
        let row = try row.moved(to: state, retiresAt: retiresAt, keys)
        try put(row)
        return row
    }

    func delete(_ row: DeviceKeyRow) throws(KeyStoreError) { try delete(DeviceKeyRow.self, key: .integer(row.id)) }

    private func updateKeyRow(of account: String) throws(KeyStoreError) -> UpdateKeyRow? {
        try row(UpdateKeyRow.self, "WHERE account = ?", .text(account))
    }

    func updateKey(of account: String) throws(KeyStoreError) -> SigningKey? {
        try updateKeyRow(of: account)?.key(keys)
    }

    func addUpdateKey(_ key: SigningKey, of account: String) throws(KeyStoreError) {
        try put(UpdateKeyRow(id: try newRowNumber(in: UpdateKeyRow.self), account: account, key, keys))
    }

    func deleteUpdateKey(of account: String) throws(KeyStoreError) {
        guard let row = try updateKeyRow(of: account) else { return }
        try delete(UpdateKeyRow.self, key: .integer(row.id))
    }

    func pins() throws(KeyStoreError) -> [PinRow] { try rows(PinRow.self, "ORDER BY id") }

    func newPinNumber() throws(KeyStoreError) -> Int64 { try newRowNumber(in: PinRow.self) }

    func delete(_ row: PinRow) throws(KeyStoreError) { try delete(PinRow.self, key: .integer(row.id)) }

    func learnedTrust(
        of provider: ProviderPublicKey, _ topic: Topic
    ) throws(KeyStoreError) -> LearnedTrustRow? {
        // All of them, because a row changed so as to be ignored must be noticed.
        try rows(LearnedTrustRow.self, "ORDER BY id").first { $0.provider == provider && $0.topic == topic }
    }

    func newLearnedNumber() throws(KeyStoreError) -> Int64 { try newRowNumber(in: LearnedTrustRow.self) }
}
