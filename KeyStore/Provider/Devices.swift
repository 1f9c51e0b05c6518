public import Pushcrypt

/// What a registration did to what was held.
public enum RegistrationOutcome: Hashable, Sendable {
    /// Nothing was held under this name.
    case added
    /// The record has changed.
    case updated
    /// The record said the same already.
    case unchanged
}

// A provider's devices, by an id of the provider's own.
extension SQLiteKeyStore {
    private static let pageLength = 1000

    /// Takes a device's registration, over an authenticated channel of the caller's: now, and from the device itself.
    ///
    /// A registration without a topic keeps the topic that is held. A device that was removed is taken again. `replace`
    /// takes the registration whatever is held, for a device that was set up anew; it never comes from the device itself.
    ///
    /// - Throws: `invalidName`; `generationRollback` for a lower generation than is held, or the same with another key;
    ///   `topicMismatch` for a device that is held for another app.
    @discardableResult
    public func addDevice(
        _ registration: DeviceRegistration, id: String, owner: DeviceOwner = .unchanged, replace: Bool = false,
        at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try write { (store) throws(KeyStoreError) in
            try store.delete(RemovedDeviceRow.self, key: .text(id))
            return try store.register(registration, id: id, owner: owner, replace: replace, at: now, isLive: true)
        }
    }

    /// Gives every device to `body`, by id, and a failure (`corruptStore`) for a row that is damaged. The store is not held
    /// while `body` runs: of devices that others add or remove meanwhile, some may be seen.
    public func forEachDevice(_ body: (Result<DeviceRecord, KeyStoreError>) throws -> Void) throws {
        try forEachRow(of: DeviceRow.self) { try body($0.map(\.record)) }
    }

    /// How many devices there are.
    public func deviceCount() throws(KeyStoreError) -> Int {
        try readOnce { (store) throws(KeyStoreError) in
            Int(clamping: try store.connection.integer("SELECT count(*) FROM devices"))
        }
    }

    func forEachRow<Row: StoredRow>(
        of _: Row.Type, _ body: (Result<Row, KeyStoreError>) throws -> Void
    ) throws {
        var last: SQLiteValue?
        while true {
            let page = try readOnce { (store) throws(KeyStoreError) in
                try store.page(of: Row.self, after: last, length: Self.pageLength) {
                    (row) -> Result<Row, KeyStoreError> in
                    Result { () throws(KeyStoreError) in try store.proved(row) }
                }
            }
            for row in page.entries { try body(row) }
            guard let end = page.end else { return }
            last = end
        }
    }
}

extension StoreTransaction {
    func register(
        _ registration: DeviceRegistration, id: String, owner: DeviceOwner, replace: Bool, at now: Timestamp,
        isLive: Bool
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try StoreName.checkDeviceID(id)
        try owner.check()
        if replace { return try take(registration, id: id, owner: owner, updatedAt: now) }
        guard let old = try device(id: id)?.record else {
            try put(
                DeviceRow(
                    DeviceRecord(
                        registration, id: id, user: owner.user(after: nil), topic: registration.topic, updatedAt: now)))
            return .added
        }
        guard registration.generation >= old.generation else {
            throw KeyStoreError(
                .generationRollback,
                "device '\(id)' registered generation \(old.generation) before, this is \(registration.generation): an old copy; --replace takes it if the device was set up anew"
            )
        }
        guard registration.generation > old.generation || registration.publicKey == old.publicKey else {
            throw KeyStoreError(
                .generationRollback,
                "device '\(id)' registered another key with generation \(old.generation) before; --replace takes this one if the device was set up anew"
            )
        }
        if let topic = registration.topic, let oldTopic = old.topic, topic != oldTopic {
            throw KeyStoreError(
                .topicMismatch, "device '\(id)' is held for \(oldTopic), not for \(topic); --replace takes it")
        }
        let record = DeviceRecord(
            registration, id: id, user: owner.user(after: old.user), topic: registration.topic ?? old.topic,
            updatedAt: max(now, old.updatedAt), after: old)
        guard record.says(somethingElseThan: old) else {
            // A device that says the same is alive all the same, which is what a late removal is held against.
            if isLive { try put(DeviceRow(record)) }
            return .unchanged
        }
        try put(DeviceRow(record))
        return .updated
    }

    /// Accepts a registration whatever is held, which also repairs a damaged row.
    func take(
        _ registration: DeviceRegistration, id: String, owner: DeviceOwner, updatedAt: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        var user: String?
        do throws(KeyStoreError) {
            user = try device(id: id)?.record.user
        } catch {
            guard error.code == .corruptStore else { throw error }
        }
        let isNew = try !delete(DeviceRow.self, key: .text(id))
        try put(
            DeviceRow(
                DeviceRecord(
                    registration, id: id, user: owner.user(after: user), topic: registration.topic,
                    updatedAt: updatedAt)))
        return isNew ? .added : .updated
    }
}
