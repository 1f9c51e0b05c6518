public import Pushcrypt

/// What a provider says of one device, when it says so of many.
///
/// Whoever passes on what phones have sent says itself which device, and whose: a phone's own word for these would let it
/// take another's place.
public enum DeviceChange: Hashable, Sendable {
    /// The device with this id registered; `updatedAt` is when it did so last at a store that has exported this, and nil
    /// when the registration is not from there.
    case registered(
        id: String, DeviceRegistration, owner: DeviceOwner = .unchanged, updatedAt: Timestamp? = nil)
    /// The device was removed.
    case removed(RemovedDevice)
}

/// What became of a batch of changes.
public struct DeviceImportResult: Sendable {
    /// A change that was not taken.
    public struct Refusal: Sendable {
        /// Its place in the batch, from 0.
        public let index: Int
        /// Why.
        public let error: KeyStoreError
    }

    /// How many devices are new.
    public fileprivate(set) var added = 0
    /// How many records have changed.
    public fileprivate(set) var updated = 0
    /// How many said what was held already.
    public fileprivate(set) var unchanged = 0
    /// How many removals were taken.
    public fileprivate(set) var removed = 0
    /// How many were older than what is held, and changed nothing.
    public fileprivate(set) var stale = 0
    /// What was not taken, and why; the others were.
    public fileprivate(set) var refused: [Refusal] = []
}

extension SQLiteKeyStore {
    /// The most changes that one transaction takes.
    ///
    /// Random ids lie on pages all over the table: the more of them a transaction takes, the fewer pages are written
    /// twice. So many hold off other writers for half a second.
    package static let importChunk = 50_000

    /// Takes many changes, 50 000 to a transaction.
    ///
    /// A registration with `updatedAt` is what another store held then, and is taken as it is when that is later than what
    /// this one holds; so two stores that take each other's exports hold the same in the end. One without counts as
    /// `addDevice` would take it, unless the device was removed: then its key must say that it was made after that. A
    /// removal is taken unless the device registered after it. No time counts as later than `now`, and one that is later by
    /// more than a day decides nothing: it is refused. `replace` takes a change whatever is held.
    ///
    /// They are taken in the order of their ids, so a large batch costs less than many small ones; the changes of one
    /// device in the order in which they come.
    ///
    /// When it throws, whole chunks from the start of the batch have been taken; the same batch again does no harm.
    ///
    /// - Returns: also what was refused: `invalidName`, `futureTime`, `generationRollback`, `topicMismatch`, and
    ///   `corruptStore` where a row that is held is damaged.
    /// - Throws: what concerns the store and not one change: `storeBusy`, `diskFull`, `inputOutput`, `corruptStore`.
    public func importDevices(
        _ batch: [DeviceChange], replace: Bool = false, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceImportResult {
        // In the order of the table, so that a page is read and written once for all its rows; the index keeps several
        // changes of one device in the order in which they came.
        let order = batch.indices.map { (id: Bytes(batch[$0].id.utf8), index: $0) }
            .sorted { a, b in a.id == b.id ? a.index < b.index : a.id.lexicographicallyPrecedes(b.id) }
        var result = DeviceImportResult()
        for start in stride(from: 0, to: order.count, by: Self.importChunk) {
            let chunk = order[start..<min(start + Self.importChunk, order.count)]
            result = try write { (store) throws(KeyStoreError) in
                var result = result
                for (_, index) in chunk {
                    do throws(KeyStoreError) {
                        result.count(try store.apply(batch[index], replace: replace, at: now))
                    } catch {
                        guard error.concernsOneRow else { throw error }
                        result.refused.append(DeviceImportResult.Refusal(index: index, error: error))
                    }
                }
                return result
            }
        }
        result.refused.sort { $0.index < $1.index }
        return result
    }
}

private enum ChangeOutcome {
    case registered(RegistrationOutcome)
    case removed
    case unchanged
    case stale
}

extension DeviceChange {
    var id: String {
        switch self {
        case .registered(let id, _, _, _): id
        case .removed(let removal): removal.id
        }
    }

    /// Refuses what no store takes, whatever it holds: `invalidName`, and `futureTime` for a time of another store's.
    package func check(at now: Timestamp) throws(KeyStoreError) {
        try StoreName.checkDeviceID(id)
        switch self {
        case .registered(_, _, let owner, let updatedAt):
            try owner.check()
            try updatedAt?.checkIsPast(now, "the time of a registration")
        case .removed(let removal): try removal.check(at: now)
        }
    }
}

extension Timestamp {
    /// Clocks differ, but not by a day: what is later decides nothing, or it would win against all that comes after it.
    func checkIsPast(_ now: Timestamp, _ what: StaticString) throws(KeyStoreError) {
        guard self <= now.adding(Freshness.clockTolerance) else {
            throw KeyStoreError(
                .futureTime,
                "\(what), \(self), lies more than a day ahead: check the clock that it is from, and that it is in milliseconds"
            )
        }
    }
}

extension DeviceImportResult {
    fileprivate mutating func count(_ outcome: ChangeOutcome) {
        switch outcome {
        case .registered(.added): added += 1
        case .registered(.updated): updated += 1
        case .registered(.unchanged), .unchanged: unchanged += 1
        case .removed: removed += 1
        case .stale: stale += 1
        }
    }
}

extension StoreTransaction {
    fileprivate func apply(
        _ change: DeviceChange, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> ChangeOutcome {
        try change.check(at: now)
        switch change {
        case .registered(let id, let registration, let owner, let updatedAt):
            if replace {
                try delete(RemovedDeviceRow.self, key: .text(id))
                let time = min(updatedAt ?? now, now)
                return .registered(try take(registration, id: id, owner: owner, updatedAt: time))
            }
            if let removed = try removedDevice(id) {
                // A record that was kept from before says nothing of today, and one without its time may be such.
                guard let time = updatedAt ?? registration.createdAt else { return .stale }
                try time.checkIsPast(now, "the time at which the device's key was made")
                guard min(time, now) > removed.removedAt else { return .stale }
                try delete(RemovedDeviceRow.self, key: .text(id))
            }
            guard let updatedAt else {
                return .registered(
                    try register(registration, id: id, owner: owner, replace: false, at: now, isLive: false))
            }
            return try merge(registration, id: id, owner: owner, updatedAt: min(updatedAt, now))
        case .removed(let removal):
            let time = min(removal.removedAt, now)
            return try merge(
                RemovedDevice(id: removal.id, removedAt: time, reason: removal.reason), replace: replace)
        }
    }

    /// Takes what another store held, unless this one holds something later.
    private func merge(
        _ registration: DeviceRegistration, id: String, owner: DeviceOwner, updatedAt: Timestamp
    ) throws(KeyStoreError) -> ChangeOutcome {
        let old = try device(id: id)?.record
        let new = DeviceRecord(
            registration, id: id, user: owner.user(after: old?.user), topic: registration.topic, updatedAt: updatedAt)
        guard let old else {
            try put(DeviceRow(new))
            return .registered(.added)
        }
        let isSame = !new.says(somethingElseThan: old)
        // Of two that registered in one millisecond the later key is the same one for both stores.
        guard (new.updatedAt, new.generation) > (old.updatedAt, old.generation) else {
            return isSame && new.updatedAt == old.updatedAt ? .unchanged : .stale
        }
        try put(DeviceRow(new))
        return .registered(isSame ? .unchanged : .updated)
    }

    private func merge(_ removal: RemovedDevice, replace: Bool) throws(KeyStoreError) -> ChangeOutcome {
        if !replace {
            if let device = try device(id: removal.id)?.record, device.updatedAt > removal.removedAt { return .stale }
            if let held = try removedDevice(removal.id), held.removedAt >= removal.removedAt {
                return held.removedAt == removal.removedAt ? .unchanged : .stale
            }
        }
        try delete(DeviceRow.self, key: .text(removal.id))
        try put(RemovedDeviceRow(removal))
        return .removed
    }
}
