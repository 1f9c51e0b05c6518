public import Pushcrypt

/// What became of the removals of a batch.
public struct DeviceRemovalResult: Hashable, Sendable {
    /// How many devices were removed.
    public fileprivate(set) var removed = 0
    /// How many were not, because they have registered since.
    public fileprivate(set) var kept = 0
    /// How many are not there, or not any more.
    public fileprivate(set) var unknown = 0

    /// Counts nothing.
    package init() {}

    /// Adds what became of other removals.
    package mutating func add(_ other: DeviceRemovalResult) {
        removed += other.removed
        kept += other.kept
        unknown += other.unknown
    }
}

// Devices that are gone.
extension SQLiteKeyStore {
    /// Removes a device, and remembers that: older data does not bring it back. Tells whether there was one.
    ///
    /// - Parameters:
    ///   - id: the provider's own name for the device.
    ///   - reason: for people and logs, 1 to 255 bytes without control characters.
    ///   - now: when it was removed. What the device itself registers brings it back, older data does not.
    /// - Throws: `invalidName` for another id or reason.
    @discardableResult
    public func removeDevice(id: String, reason: String? = nil, at now: Timestamp) throws(KeyStoreError) -> Bool {
        let removal = RemovedDevice(id: id, removedAt: now, reason: reason)
        try removal.check(at: now)
        return try write { (store) throws(KeyStoreError) in
            try store.remove(removal, at: now, isChecked: false) == .removed
        }
    }

    /// Removes devices of which it is known since when they are gone, 50 000 to a transaction; one that has registered after
    /// that is kept. The same batch again does no harm.
    ///
    /// When it throws, whole chunks from the start of the batch have been taken; none for the errors that are named here.
    ///
    /// - Throws: `invalidName` for a reason that is not 1 to 255 bytes without control characters; `futureTime` for a time
    ///   more than a day later than `now`, which would remove devices that are alive.
    public func removeDevices(
        _ batch: [RemovedDevice], at now: Timestamp
    ) throws(KeyStoreError) -> DeviceRemovalResult {
        var result = DeviceRemovalResult()
        for removal in batch { try removal.check(at: now) }
        for start in stride(from: 0, to: batch.count, by: Self.importChunk) {
            let chunk = batch[start..<min(start + Self.importChunk, batch.count)]
            let part = try write { (store) throws(KeyStoreError) in
                var part = DeviceRemovalResult()
                for removal in chunk { part.count(try store.remove(removal, at: now, isChecked: true)) }
                return part
            }
            result.add(part)
        }
        return result
    }

    /// Forgets that devices were removed, if that was not after `time`; tells of how many.
    public func forgetRemovedDevices(upTo time: Timestamp) throws(KeyStoreError) -> Int {
        var count = 0
        while true {
            // No more than an import holds off other writers.
            let deleted = try write { (store) throws(KeyStoreError) in
                try store.connection.rows(
                    """
                    DELETE FROM removed_devices WHERE id IN (
                        SELECT id FROM removed_devices WHERE removed <= ? LIMIT \(Self.importChunk))
                    """, [.integer(Int64(clamping: time.milliseconds))])
                return store.connection.changes
            }
            count += deleted
            if deleted < Self.importChunk { return count }
        }
    }

    /// Gives every device that was removed to `body`, as `forEachDevice` does.
    public func forEachRemovedDevice(_ body: (Result<RemovedDevice, KeyStoreError>) throws -> Void) throws {
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

extension StoreTransaction {
    /// Removes a device, if there is one, and then remembers it; `isChecked` keeps one that has registered since.
    fileprivate func remove(
        _ removal: RemovedDevice, at now: Timestamp, isChecked: Bool
    ) throws(KeyStoreError) -> RemovalOutcome {
        var time = min(removal.removedAt, now)
        do throws(KeyStoreError) {
            guard let device = try device(id: removal.id)?.record else { return .unknown }
            guard !isChecked || device.updatedAt <= removal.removedAt else { return .kept }
            // A clock that was set back must not make the device the later of the two.
            time = max(time, device.updatedAt)
        } catch {
            // A row that is damaged is of no use, and goes.
            guard error.concernsOneRow else { throw error }
        }
        try delete(DeviceRow.self, key: .text(removal.id))
        try put(RemovedDeviceRow(RemovedDevice(id: removal.id, removedAt: time, reason: removal.reason)))
        return .removed
    }
}
