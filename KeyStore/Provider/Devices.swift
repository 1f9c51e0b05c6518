public import Pushcrypt

/// The effect of a registration on the stored record.
public enum RegistrationOutcome: Hashable, Sendable {
    /// There was no record under this name.
    case added
    /// The record has changed.
    case updated
    /// The record already said the same.
    case unchanged
}

// MARK: A provider's devices
extension SQLiteKeyStore {
    private static let pageLength = 1000

    /// Stores a device's registration, which arrived just now, from the device itself, over a channel that the caller
    /// authenticated.
    ///
    /// A registration without a topic keeps the stored topic. A removed device is added again, for the same user and not
    /// with an earlier key. A key belongs to one
    /// device: if another device of the same user holds it, that one is removed. `replace` accepts the registration
    /// whatever is stored for this device, which was set up again; the device itself must never decide this.
    ///
    /// - Throws: `invalidName`; `suiteDowngrade` for a key of suite 1 after one of suite 2; `unsupportedSuite` for a key
    ///   that this build cannot seal to, unless it is stored for this device; `userMismatch` for a user and a device of another or of none,
    ///   or another key of a user's device without that user; `generationRollback` for a lower generation than the last one, or the same with
    ///   another key; `generationTooHigh`; `topicMismatch` for a device stored for another app; `keyTaken` for a key that
    ///   another device holds, unless both are known to be the same user's.
    @discardableResult
    public func addDevice(
        _ registration: DeviceRegistration, id: String, owner: DeviceOwner = .unchanged, replace: Bool = false,
        at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try addDevice(registration, signed: nil, id: id, owner: owner, replace: replace, at: now)
    }

    /// Stores a registration that the device has signed for this session, if it is the device's latest; one without a signature
    /// as `addDevice` does.
    ///
    /// - Throws: As `addDevice`; `badRecordSignature`, `staleRecord`.
    package func addDevice(
        _ registration: DeviceRegistration, signed record: SignedRecord?, id: String, owner: DeviceOwner,
        replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try write { (store) throws(KeyStoreError) in
            try store.register(registration, record, id: id, owner: owner, replace: replace, at: now)
        }
    }

    /// Stores many devices' registrations in one transaction, in their order, each as by `addDevice`.
    ///
    /// - Returns: For each the error that refuses it, or nil if it is stored.
    /// - Throws: Errors that concern the whole store; nothing is stored then.
    package func addDevices(
        _ registrations: [(id: String, registration: DeviceRegistration, signed: SignedRecord?, owner: DeviceOwner)],
        at now: Timestamp
    ) throws(KeyStoreError) -> [KeyStoreError?] {
        guard !registrations.isEmpty else { return [] }
        return try write { (store) throws(KeyStoreError) in
            var refusals: [KeyStoreError?] = []
            for (id, registration, record, owner) in registrations {
                do throws(KeyStoreError) {
                    _ = try store.register(registration, record, id: id, owner: owner, replace: false, at: now)
                    refusals.append(nil)
                } catch {
                    guard error.concernsOneRow else { throw error }
                    refusals.append(error)
                }
            }
            return refusals
        }
    }

    /// Calls `body` with every device, by id, and with a failure (`corruptStore`) for each damaged row.
    ///
    /// The store is not locked while `body` runs: it may see some of the devices that others add or remove meanwhile. Rows are
    /// authenticated, not counted: one that somebody deleted or put back is not noticed.
    public func forEachDevice(_ body: (Result<DeviceRecord, KeyStoreError>) throws -> Void) throws {
        try forEachRow(of: DeviceRow.self) { try body($0.map(\.record)) }
    }

    /// Returns the number of devices.
    public func deviceCount() throws(KeyStoreError) -> Int {
        try readOnce { (store) throws(KeyStoreError) in
            Int(clamping: try store.connection.integer("SELECT count(*) FROM devices"))
        }
    }

    func forEachRow<Row: StoredRow>(
        of _: Row.Type, _ body: (Result<Row, KeyStoreError>) throws -> Void
    ) throws {
        var last: SQLiteValue?
        repeat {
            let page = try readOnce { (store) throws(KeyStoreError) in
                try store.page(of: Row.self, after: last, length: Self.pageLength) {
                    (row) -> Result<Row, KeyStoreError> in
                    Result { () throws(KeyStoreError) in try store.verified(row) }
                }
            }
            for row in page.entries { try body(row) }
            last = page.end
        } while last != nil
    }
}

extension StoreTransaction {
    /// Stores a registration that arrived just now.
    fileprivate func register(
        _ registration: DeviceRegistration, _ record: SignedRecord?, id: String, owner: DeviceOwner, replace: Bool,
        at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try StoreName.checkDeviceID(id)
        try owner.check()
        if replace {
            if let record, let key = registration.updateKey {
                let context = try context(of: record, KnownDevice(), ReplyTerms())
                guard let context, record.isSigned(by: key, over: .session, for: context) else {
                    throw .badRecordSignature(id)
                }
            }
            return try take(registration, epoch: nil, id: id, owner: owner, updatedAt: now, isExported: false)
        }
        let known = try known(id)
        let isHeld = try record.map { (record) throws(KeyStoreError) in
            try known.check(
                record, session: owner, for: try context(of: record, known, ReplyTerms(topic: registration.topic)))
        }
        return try register(
            registration, id: id, known: known, owner: owner, at: now, isLive: true, isSignedAsHeld: isHeld ?? false)
    }

    func register(
        _ registration: DeviceRegistration, id: String, known: KnownDevice, owner: DeviceOwner, at now: Timestamp,
        isLive: Bool, isSignedAsHeld: Bool = false
    ) throws(KeyStoreError) -> RegistrationOutcome {
        let user = owner.user(after: known.user)
        try known.checkUser(owner, of: registration.publicKey, id: id)
        // The holder of the update key was there before, whatever its keys are now.
        if !isSignedAsHeld {
            try known.checkGeneration(of: registration, id: id)
            try known.checkSuite(of: registration.publicKey, id: id)
        }
        try checkCanSeal(to: registration.publicKey, after: known.device)
        if let topic = registration.topic, let oldTopic = known.device?.topic, topic != oldTopic {
            throw KeyStoreError(
                .topicMismatch, "device '\(id)' is stored for \(oldTopic), not for \(topic)")
        }
        guard let old = known.device else {
            // Of a device that has ended only the operator can bring the id back, and then nothing of it holds. [D-26]
            try claimKey(registration.publicKey, for: id, of: user, at: now)
            try insert(
                DeviceRow(
                    DeviceRecord(
                        registration, epoch: try reportedEpoch(registration), id: id, user: user,
                        topic: registration.topic, updatedAt: now,
                        signing: known.removed?.isEnd == true ? RemovedDevice.Signing() : known.signing)))
            // Last: a registration that is refused leaves everything as it was.
            if known.removed != nil { try delete(RemovedDeviceRow.self, key: .text(id)) }
            return .added
        }
        if registration.publicKey != old.publicKey {
            try claimKey(registration.publicKey, for: id, of: user, at: now)
            try noteReplaced(old.publicKey, of: id, at: now)
        }
        let record = DeviceRecord(
            registration, epoch: try reportedEpoch(registration), id: id, user: user,
            topic: registration.topic ?? old.topic, updatedAt: max(now, old.updatedAt.plausible(at: now)), after: old)
        guard record.differs(from: old) else {
            // A device that reports the same is still alive, and a late removal must not remove it.
            if isLive { try put(DeviceRow(record)) }
            return .unchanged
        }
        try put(DeviceRow(record))
        return .updated
    }

    /// A key that cannot be sealed to is not stored. One that another server of the provider has stored stays: a phone
    /// that is told otherwise retires the key that its pushes are sealed to. [D-30]
    private func checkCanSeal(to key: DevicePublicKey, after old: DeviceRecord?) throws(KeyStoreError) {
        guard key.suite.isSupported || key == old?.publicKey else { throw .unsupportedSuite }
    }

    /// Removes the other devices that hold this key; changes nothing if it throws.
    ///
    /// The phone with a device's key can read its messages, so a key is taken only from a device of the same user.
    /// [D-32]
    private func claimKey(
        _ key: DevicePublicKey, for id: String, of user: String?, at now: Timestamp
    ) throws(KeyStoreError) {
        let holders = try devices(withKey: key.id).filter { $0.publicKey == key && !StoreName.areEqual($0.id, id) }
        if let other = holders.first(where: { !DeviceRecord.areSameUser($0.user, user) }) {
            throw KeyStoreError(
                .keyTaken, "device '\(other.id)' already has this public key; a key belongs to one device")
        }
        for holder in holders {
            try deleteDevice(holder.id)
            let time = max(now, holder.updatedAt.plausible(at: now))
            let removal = RemovedDevice(id: holder.id, removedAt: time, reason: "key-moved")
            try put(RemovedDeviceRow(removal.completed(by: KnownDevice(device: holder), at: time)))
        }
    }

    /// Returns the devices that have a key with this id.
    func devices(withKey id: KeyID) throws(KeyStoreError) -> [DeviceRecord] {
        try connection.rows("\(DeviceRow.table.select) WHERE key_id = ?", [.integer(Int64(id.value))]) {
            (row) -> DeviceRecord? in
            // A damaged row, or one that a forged index lists, has no key.
            do throws(KeyStoreError) { return (try verified(row) as DeviceRow).record } catch { return nil }
        }.compactMap(\.self)
    }

    /// Accepts a registration whatever is stored, which also repairs a damaged row. What another store exported it can
    /// seal to.
    func take(
        _ registration: DeviceRegistration, epoch: UInt32?, id: String, owner: DeviceOwner, updatedAt: Timestamp,
        isExported: Bool
    ) throws(KeyStoreError) -> RegistrationOutcome {
        let known = try knownIfSound(id)
        if !isExported { try checkCanSeal(to: registration.publicKey, after: known.device) }
        let user = owner.user(after: known.user)
        try claimKey(registration.publicKey, for: id, of: user, at: updatedAt)
        let isNew = try !deleteDevice(id)
        try put(
            DeviceRow(
                DeviceRecord(
                    registration, epoch: try reportedEpoch(registration, exported: epoch), id: id, user: user,
                    topic: registration.topic, updatedAt: updatedAt)))
        try delete(RemovedDeviceRow.self, key: .text(id))
        return isNew ? .added : .updated
    }
}

/// Looks up many of a provider's devices in one snapshot; valid during the call that provides it.
package struct DeviceReader {
    private let store: StoreTransaction

    fileprivate init(store: StoreTransaction) { self.store = store }

    /// Returns the device with this id. The row is authenticated: nobody without the store key can exchange its public
    /// key.
    ///
    /// Throws `unknownDevice`, `removedDevice`, and `corruptStore` for a damaged row; these concern only this device
    /// (`KeyStoreError.concernsOneDevice`).
    package func device(id: String) throws(KeyStoreError) -> DeviceRecord {
        if let device = try store.device(id: id) { return device.record }
        if let removed = try store.removedDevice(id) { throw .removed(removed) }
        throw .unknownDevice(id)
    }

    /// Returns the devices of a user, by id, and a failure for each damaged row; none if no device has this user.
    ///
    /// A row that somebody deleted, or hid from the index, is not noticed.
    package func devices(ofUser user: String) throws(KeyStoreError) -> [Result<DeviceRecord, KeyStoreError>] {
        var order = RowOrder(of: DeviceRow.table.name)
        return try store.connection.rows(DeviceRow.selectByUser, [.text(user)]) {
            (row) throws(KeyStoreError) in
            // A forged index may list a device repeatedly.
            try order.append(row[0])
            return try Self.ofOneRow { () throws(KeyStoreError) in
                let device: DeviceRow = try store.verified(row)
                // The database found the row by a text that its declarations may compare differently.
                guard let owner = device.record.user, StoreName.areEqual(owner, user) else {
                    throw .damagedRow(row[0], in: DeviceRow.table.name)
                }
                return device.record
            }
        }
    }

    private static func ofOneRow(
        _ body: () throws(KeyStoreError) -> DeviceRecord
    ) throws(KeyStoreError) -> Result<DeviceRecord, KeyStoreError> {
        do throws(KeyStoreError) {
            return .success(try body())
        } catch {
            guard error.concernsOneDevice else { throw error }
            return .failure(error)
        }
    }
}

extension KeyStoreError {
    /// Whether a failed lookup says nothing about other devices.
    package var concernsOneDevice: Bool {
        switch code {
        case .corruptStore, .removedDevice, .unknownDevice: true
        default: false
        }
    }
}

extension DeviceRow {
    fileprivate static let selectByUser = "\(table.select) WHERE user = ? ORDER BY id"
}

extension SQLiteKeyStore {
    /// Calls `body` with the devices as they are now, unaffected by concurrent writes; `body` must not use this store.
    package func readDevices<R>(_ body: (DeviceReader) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        try read { (store) throws(KeyStoreError) in try body(DeviceReader(store: store)) }
    }

    /// Returns the device with this id, or nil. The row is authenticated: nobody without the store key can exchange its
    /// public key.
    public func device(id: String) throws(KeyStoreError) -> DeviceRecord? {
        try readOnce { (store) throws(KeyStoreError) in try store.device(id: id)?.record }
    }

    /// Returns the devices of a user, by id, and a failure (`corruptStore`) for each damaged row; none if no device has
    /// this user.
    ///
    /// Someone who can write the database can hide a device here, as by deleting it, but cannot add one.
    public func devices(ofUser user: String) throws(KeyStoreError) -> [Result<DeviceRecord, KeyStoreError>] {
        try readDevices { (reader) throws(KeyStoreError) in try reader.devices(ofUser: user) }
    }
}

extension StoreTransaction {
    func device(id: String) throws(KeyStoreError) -> DeviceRow? { try row(key: .text(id)) }

    func removedDevice(_ id: String) throws(KeyStoreError) -> RemovedDevice? {
        let row: RemovedDeviceRow? = try row(key: .text(id))
        return row?.record
    }
}
