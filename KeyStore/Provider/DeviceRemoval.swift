public import Pushcrypt

/// A removed device; remembered so that older data cannot bring it back, nor another user take its id.
package struct RemovedDevice: Hashable, Sendable {
    /// The provider's name for the device.
    package let id: String
    /// When it was removed, or the system noticed that it was gone.
    package let removedAt: Timestamp
    /// The reason, for people and logs: 1 to 255 bytes without control characters, such as `unregistered`.
    package let reason: String?
    /// The user whose device it was; nil if unknown.
    package let user: String?
    /// The app that its key was for; nil if unknown.
    package let topic: Topic?
    /// The key that it had last; nil if unknown.
    package let lastKey: LastKey?
    /// The key under which the device signs its records, and the sequence above which its next one has to be.
    package private(set) var signing: Signing
    /// Whether the system noticed that it was gone: only then may its own record bring it back without a session.
    package let isLost: Bool

    /// What is remembered of a device's records.
    package struct Signing: Hashable, Sendable {
        package var updateKey: SigningPublicKey?
        package var sequence: UInt64

        /// Creates a value; of a device that has signed nothing, without arguments.
        package init(updateKey: SigningPublicKey? = nil, sequence: UInt64 = 0) {
            (self.updateKey, self.sequence) = (updateKey, sequence)
        }

        /// What is remembered when others than the phone remove the device: a record that is under way brings it back only if
        /// it is a day younger than the removal. An end outranks everything.
        func afterRemoval(at now: Timestamp) -> Signing {
            Signing(updateKey: updateKey, sequence: max(sequence, now.adding(.days(1)).milliseconds))
        }
    }

    /// What is remembered of a device's key.
    package struct LastKey: Hashable, Sendable {
        /// The number of the key among the device's keys.
        package let generation: UInt64
        /// The suite of the key.
        package let suite: CipherSuite
        /// The first 4 bytes of a hash of the key.
        package let id: KeyID

        /// Creates a value.
        package init(generation: UInt64, suite: CipherSuite, id: KeyID) {
            self.generation = generation
            self.suite = suite
            self.id = id
        }
    }

    /// Creates a record.
    package init(
        id: String, removedAt: Timestamp, reason: String? = nil, user: String? = nil, topic: Topic? = nil,
        lastKey: LastKey? = nil, signing: Signing = Signing(), isLost: Bool = false
    ) {
        self.id = id
        self.removedAt = removedAt
        self.reason = reason
        self.user = user
        self.topic = topic
        self.lastKey = lastKey
        self.signing = signing
        self.isLost = isLost
    }

    /// Whether the device has ended itself, for good.
    var isEnd: Bool { signing.sequence == DeviceEnd.sequence }

    /// Returns the removal with another sequence.
    func raised(to sequence: UInt64) -> RemovedDevice {
        var removal = self
        removal.signing.sequence = sequence
        return removal
    }

    /// Returns the removal at `time`, with what the store knows of the device where the removal does not say.
    func completed(by known: KnownDevice, at time: Timestamp) -> RemovedDevice {
        RemovedDevice(
            id: id, removedAt: time, reason: reason, user: user ?? known.user, topic: topic ?? known.topic,
            lastKey: lastKey ?? known.lastKey,
            signing: Signing(
                updateKey: signing.updateKey ?? known.signing.updateKey,
                sequence: max(signing.sequence, known.signing.sequence)),
            isLost: isLost)
    }
}

/// A device that APNs reports as gone.
package struct LostDevice: Hashable, Sendable {
    /// The removal, at the time when APNs noticed.
    package let removal: RemovedDevice
    /// The token that APNs knows no more; nil if the report does not say it.
    package let token: String?
    /// The relay's grant that was used; nil if the message went to APNs itself.
    package let grant: String?

    /// Creates a report.
    package init(id: String, at time: Timestamp, reason: String? = nil, token: String? = nil, grant: String? = nil) {
        removal = RemovedDevice(id: id, removedAt: time, reason: reason, isLost: true)
        (self.token, self.grant) = (token, grant)
    }
}

extension RemovedDevice {
    /// Throws `invalidName` for an invalid reason.
    func checkNames() throws(KeyStoreError) {
        if let reason { try StoreName.check(reason, "the reason of a removal") }
        if let user { try StoreName.check(user, "a user id") }
    }

    /// Checks what others say. Throws `invalidName` and `futureTime`.
    func check() throws(KeyStoreError) {
        try checkNames()
        try removedAt.checkUnit("the time of a removal")
    }
}

struct RemovedDeviceRow: StoredRow {
    static let table = StoreTable(
        "removed_devices", key: "id", "removed", "reason", "user", "topic", "generation", "suite", "key_id",
        "update_key", "sequence", "lost")
    static let put = table.put

    let record: RemovedDevice

    init(_ record: RemovedDevice) { self.record = record }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        let id = try columns.text()
        let removedAt = try columns.time()
        let (reason, user) = (try columns.optionalText(), try columns.optionalText())
        let topic = try columns.topic()
        let key: RemovedDevice.LastKey?
        switch (try columns.optionalUnsigned(), try columns.optionalUnsigned(), try columns.optionalUnsigned()) {
        case (nil, nil, nil): key = nil
        case (let generation?, let suite?, let id?):
            guard let suite = UInt8(exactly: suite).flatMap(CipherSuite.init(rawValue:)),
                let id = UInt32(exactly: id)
            else { throw columns.damaged }
            key = RemovedDevice.LastKey(generation: generation, suite: suite, id: KeyID(value: id))
        default: throw columns.damaged
        }
        let signing = RemovedDevice.Signing(
            updateKey: try columns.optionalSigningPublicKey(), sequence: try columns.unsigned())
        record = RemovedDevice(
            id: id, removedAt: removedAt, reason: reason, user: user, topic: topic, lastKey: key, signing: signing,
            isLost: try columns.integer() != 0)
    }

    var values: [SQLiteValue] {
        let key = record.lastKey
        return [
            .text(record.id), .time(record.removedAt), .text(record.reason), .text(record.user),
            .text(record.topic?.bundleID),
            key.map { .unsigned($0.generation) } ?? .null, key.map { .integer(Int64($0.suite.rawValue)) } ?? .null,
            key.map { .integer(Int64($0.id.value)) } ?? .null, .blob(record.signing.updateKey?.bytes),
            .unsigned(record.signing.sequence), .integer(record.isLost ? 1 : 0),
        ]
    }
}

extension KeyStoreError {
    static func removed(_ device: RemovedDevice) -> KeyStoreError {
        let reason = device.reason.map { " (\($0))" } ?? ""
        return KeyStoreError(
            .removedDevice,
            "device '\(device.id)' was removed at \(device.removedAt)\(reason); it can be sealed to once it registers again"
        )
    }

    static func unknownDevice(_ id: String) -> KeyStoreError {
        // Nothing has checked this name, so it is quoted only if a terminal can show it.
        let name = StoreName.isAllowed(id) ? "'\(id)'" : Bytes(id.utf8.prefix(32)).hex
        return KeyStoreError(.unknownDevice, "no device \(name) in the store")
    }
}

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

// MARK: Removing devices
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
            try store.remove(removal, at: now, if: { _ in true }) == .removed
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
        var result = DeviceRemovalResult()
        for lost in batch { try lost.removal.check() }
        for start in stride(from: 0, to: batch.count, by: Self.importChunk) {
            let chunk = batch[start..<min(start + Self.importChunk, batch.count)]
            let part = try write { (store) throws(KeyStoreError) in
                var part = DeviceRemovalResult()
                for lost in chunk {
                    part.count(try store.remove(lost.removal, at: now, if: { lost.concerns($0, at: now) }))
                }
                return part
            }
            result.add(part)
        }
        return result
    }

    /// Forgets removals up to and including `time`; returns how many.
    package func forgetRemovedDevices(upTo time: Timestamp) throws(KeyStoreError) -> Int {
        var count = 0
        while true {
            // At most as many as an import, so that other writers are not blocked for longer.
            let deleted = try write { (store) throws(KeyStoreError) in
                let ids = try store.connection.rows(
                    "SELECT id FROM removed_devices WHERE removed <= ? LIMIT \(Self.importChunk)",
                    [.integer(Int64(clamping: time.milliseconds))])
                for id in ids { try store.delete(RemovedDeviceRow.self, key: id[0]) }
                return ids.count
            }
            count += deleted
            if deleted < Self.importChunk { return count }
        }
    }

    /// Calls `body` with every removed device, as `forEachDevice` does.
    package func forEachRemovedDevice(_ body: (Result<RemovedDevice, KeyStoreError>) throws -> Void) throws {
        try forEachRow(of: RemovedDeviceRow.self) { try body($0.map(\.record)) }
    }
}

private enum RemovalOutcome {
    case removed
    case kept
    case unknown
}

extension DeviceRemovalResult {
    fileprivate mutating func count(_ outcome: RemovalOutcome) {
        switch outcome {
        case .removed: removed += 1
        case .kept: kept += 1
        case .unknown: unknown += 1
        }
    }
}

extension LostDevice {
    /// Whether the report is about the device as it is now: a renewed token or grant, or a later registration, says that it is alive.
    fileprivate func concerns(_ device: DeviceRecord, at now: Timestamp) -> Bool {
        if let token, let held = device.token, token != held { return false }
        if let grant, let held = device.grant, grant != held { return false }
        return device.updatedAt.plausible(at: now) <= removal.removedAt
    }
}

extension StoreTransaction {
    /// Ends a device for good, because its phone says so: no record of it outranks that.
    func end(_ known: KnownDevice, id: String, at now: Timestamp) throws(KeyStoreError) {
        let time = max(now, known.device?.updatedAt.plausible(at: now) ?? now)
        try deleteDevice(id)
        let removal = RemovedDevice(
            id: id, removedAt: time, reason: "logged out", signing: RemovedDevice.Signing(sequence: DeviceEnd.sequence))
        try put(RemovedDeviceRow(removal.completed(by: known, at: time)))
    }

    /// Removes a device if it exists and the removal concerns it, and remembers that.
    fileprivate func remove(
        _ removal: RemovedDevice, at now: Timestamp, if concerns: (DeviceRecord) -> Bool
    ) throws(KeyStoreError) -> RemovalOutcome {
        var time = min(removal.removedAt, now)
        var known = KnownDevice()
        do throws(KeyStoreError) {
            guard let device = try device(id: removal.id)?.record else { return .unknown }
            known = KnownDevice(device: device)
            guard concerns(device) else { return .kept }
            // Even if the clock was set back, the removal must be the later of the two.
            time = max(time, device.updatedAt.plausible(at: now))
            known.signing = known.signing.afterRemoval(at: now)
        } catch {
            // A damaged row is useless, and is deleted.
            guard error.concernsOneRow else { throw error }
        }
        try deleteDevice(removal.id)
        try put(RemovedDeviceRow(removal.completed(by: known, at: time)))
        return .removed
    }
}
