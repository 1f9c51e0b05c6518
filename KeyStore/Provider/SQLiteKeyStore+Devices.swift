public import Pushcrypt

// MARK: Registrations
extension SQLiteKeyStore {
    /// Stores a device's registration, which arrived just now, from the device itself, over a channel that the caller
    /// authenticated.
    ///
    /// A registration without a topic keeps the stored topic. A removed device is added again, for the same user and not
    /// with an earlier key. A key belongs to one device, and a push token to one device of a user: if another device of the same
    /// user holds it, that one is removed. `replace` accepts the registration
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
            try store.add(registration, record, id: id, owner: owner, replace: replace, at: now)
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
                    _ = try store.add(registration, record, id: id, owner: owner, replace: false, at: now)
                    refusals.append(nil)
                } catch {
                    guard error.concernsOneRow else { throw error }
                    refusals.append(error)
                }
            }
            return refusals
        }
    }
}

extension StoreTransaction {
    fileprivate func add(
        _ registration: DeviceRegistration, _ record: SignedRecord?, id: String, owner: DeviceOwner, replace: Bool,
        at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        var arrival = Arrival(id: id, registration: registration, owner: owner, way: .bare, replaces: replace)
        if let record {
            let held = replace ? try heldIfSound(id) : try held(id)
            arrival = Arrival(record, registration, session: owner, for: try context(of: record, held, ReplyTerms()))
            arrival.replaces = replace
        }
        return try accept(arrival, at: now).registration
    }

    /// Stores a registration, or throws why not: each that reaches a store comes here.
    func accept(_ arrival: Arrival, at now: Timestamp) throws(KeyStoreError) -> Change.Outcome {
        try StoreName.checkDeviceID(arrival.id)
        try arrival.owner.check()
        // Which also repairs a damaged row.
        let held = arrival.replaces ? try heldIfSound(arrival.id) : try held(arrival.id)
        // Damaged keys must not stop a registration: whatever uses them says so.
        var state = arrival.registration.certificate == nil ? nil : try providerIfSound()
        let epoch = state?.note(arrival.registration)
        let change = try DeviceRules.accept(
            arrival, held: held, holders: try holders(of: arrival, over: held), epoch: epoch ?? nil, at: now)
        try perform(change, at: now)
        if let state, change.outcome != .stale { try changeProvider { $0 = state } }
        return change.outcome
    }

    /// Returns the other devices with the key of a registration, and those of its user with its token.
    private func holders(of arrival: Arrival, over held: Held?) throws(KeyStoreError) -> [DeviceRecord] {
        let (key, old) = (arrival.registration.publicKey, held?.device)
        var found: [DeviceRecord] = []
        if old?.publicKey != key || arrival.replaces {
            found = try devices(withKey: key.id).filter { $0.publicKey == key }
        }
        if let user = arrival.owner.user(after: held?.user), let token = arrival.registration.token ?? old?.token {
            let bytes = Bytes(lowerCaseHex: token)
            found += try soundDevices("user = ? AND token = ?", [.text(user), .blob(bytes)]).filter { device in
                device.token == token && !found.contains { $0.id == device.id }
            }
        }
        return found.filter { !StoreName.areEqual($0.id, arrival.id) }
    }
}

extension Change.Outcome {
    var registration: RegistrationOutcome {
        switch self {
        case .added: .added
        case .updated: .updated
        case .unchanged, .removed, .stale: .unchanged
        }
    }
}

extension Arrival {
    /// A post of a phone, for the app of this context.
    init(_ record: SignedRecord, _ registration: DeviceRegistration, session: DeviceOwner?, for context: Topic?) {
        self.init(
            id: record.device, registration: registration, owner: session ?? .unchanged,
            way: session == nil ? .open : .session)
        let channel: SignedRecord.Channel = session == nil ? .open : .session
        isSigned = { key in context.map { record.isSigned(by: key, over: channel, for: $0) } ?? false }
    }
}

// MARK: Removals
extension SQLiteKeyStore {
    /// Removes a device, and remembers that, so that older data does not bring it back.
    ///
    /// - Parameters:
    ///   - id: The provider's name for the device.
    ///   - reason: For people and logs, 1 to 255 bytes without control characters.
    ///   - now: The time of the removal. A later registration by the device itself brings it back, by the same user and not
    ///     with an earlier key; older data does not.
    /// - Returns: Whether the device existed.
    /// - Throws: `invalidName` for an invalid id or reason.
    @discardableResult
    public func removeDevice(id: String, reason: String? = nil, at now: Timestamp) throws(KeyStoreError) -> Bool {
        let removal = RemovedDevice(id: id, removedAt: now, reason: reason)
        try removal.checkNames()
        return try write { (store) throws(KeyStoreError) in
            try store.remove(removal, at: now, if: { _ in true }) == \.removed
        }
    }

    /// Removes devices that APNs reports as gone, 50 000 per transaction; keeps those that have registered since, and those
    /// with another token or grant than the reported one.
    ///
    /// If this throws one of the errors named here, nothing was removed; otherwise whole chunks from the start of the
    /// batch were. Repeating the same batch does no harm.
    ///
    /// - Throws: `invalidName` for a reason that is not 1 to 255 bytes without control characters; `futureTime` for a
    ///   time after 2100, which would remove live devices.
    package func removeDevices(
        _ batch: [LostDevice], at now: Timestamp
    ) throws(KeyStoreError) -> DeviceRemovalResult {
        for lost in batch { try lost.removal.check() }
        return try inChunks(batch, DeviceRemovalResult()) { (store, lost, result) throws(KeyStoreError) in
            result[keyPath: try store.remove(lost.removal, at: now, if: { lost.concerns($0, at: now) })] += 1
        }
    }

    /// Forgets removals up to and including `time`; returns how many.
    package func forgetRemovedDevices(upTo time: Timestamp) throws(KeyStoreError) -> Int {
        var count = 0
        while true {
            // At most as many as an import, so that other writers are not blocked for longer.
            let deleted = try write { (store) throws(KeyStoreError) in
                try store.connection.rows(
                    "DELETE FROM devices WHERE id IN (SELECT id FROM devices WHERE removed <= ? LIMIT \(Self.importChunk))",
                    [.integer(Int64(clamping: time.milliseconds))])
                return store.connection.changes
            }
            count += deleted
            if deleted < Self.importChunk { return count }
        }
    }

    /// Notes grants that have ended, and keeps those that phones have sent since; returns how many have ended.
    ///
    /// The reply to the phone's next record says so, and the phone fetches another. [D-52]
    package func endGrants(_ batch: [EndedGrant]) throws(KeyStoreError) -> Int {
        try inChunks(batch, 0) { (store, ended, count) throws(KeyStoreError) in
            // Every list reports a damaged row.
            guard var device = try store.heldIfSound(ended.id)?.device, device.grant == ended.grant else { return }
            (device.grant, device.endedGrant) = (nil, ended.grant)
            try store.put(HeldRow(.device(device)))
            count += 1
        }
    }
}

/// The counts of removals.
package struct DeviceRemovalResult: Hashable, Sendable {
    /// The number of devices removed.
    package fileprivate(set) var removed = 0
    /// The number of devices kept, because they have registered since, or have another token.
    package fileprivate(set) var kept = 0
    /// The number of devices not found.
    package fileprivate(set) var unknown = 0

    /// Creates a result that counts nothing.
    package init() {}

    /// Adds the counts of another result.
    package mutating func add(_ other: DeviceRemovalResult) {
        removed += other.removed
        kept += other.kept
        unknown += other.unknown
    }
}

extension StoreTransaction {
    /// Removes a device if it exists and the removal concerns it, and remembers that; returns what that counts as.
    fileprivate func remove(
        _ removal: RemovedDevice, at now: Timestamp, if concerns: (DeviceRecord) -> Bool
    ) throws(KeyStoreError) -> WritableKeyPath<DeviceRemovalResult, Int> {
        var held: Held?
        do throws(KeyStoreError) {
            held = try self.held(removal.id)
            guard let device = held?.device else { return \.unknown }
            guard concerns(device) else { return \.kept }
        } catch {
            // A damaged row is useless, and its place is taken.
            guard error.concernsOneRow else { throw error }
        }
        try perform(DeviceRules.remove(removal, held: held, at: now), at: now)
        return \.removed
    }
}
