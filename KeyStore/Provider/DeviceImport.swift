package import Pushcrypt

/// A change to one of a provider's devices, for an import of many.
///
/// A caller that forwards what phones sent decides itself which device, and whose, it is: a phone that could say so
/// could take another phone's place.
package enum DeviceChange: Hashable, Sendable {
    /// The device with this id registered. `updatedAt` is when it last did so at the store that exported this change, and
    /// `epoch` that of the certificate that it reported there; nil if the registration does not come from an export.
    case registered(
        id: String, DeviceRegistration, owner: DeviceOwner = .unchanged, updatedAt: Timestamp? = nil,
        epoch: UInt32? = nil)
    /// The device was removed.
    case removed(RemovedDevice)
}

/// The result of importing changes.
package struct DeviceImportResult: Sendable {
    /// A change that was refused.
    package struct Refusal: Sendable {
        /// The index of the change in the batch.
        package let index: Int
        /// The reason.
        package let error: KeyStoreError
    }

    /// The number of new devices.
    package fileprivate(set) var added = 0
    /// The number of changed records.
    package fileprivate(set) var updated = 0
    /// The number of changes that match the stored records.
    package fileprivate(set) var unchanged = 0
    /// The number of devices removed.
    package fileprivate(set) var removed = 0
    /// The number of changes older than the stored records, which were ignored.
    package fileprivate(set) var stale = 0
    /// The changes that were refused; the others were applied.
    package fileprivate(set) var refused: [Refusal] = []
}

extension SQLiteKeyStore {
    /// The number of changes in one transaction.
    ///
    /// Random ids are spread over the pages of the table: the more of them share a transaction, the fewer pages are
    /// written twice. This many block other writers for half a second.
    package static let importChunk = 50_000

    /// Keys are in no order, so that every page of their index changes in each transaction: with 8 MiB, each of a million
    /// devices writes a page and reads another.
    private static let importCache = 64

    /// Imports many changes, 50 000 per transaction.
    ///
    /// A registration with `updatedAt` is what another store had at that time. It is accepted if its key has a later suite
    /// or generation than this store's, or the same and a later time; so two stores that import each other's exports end up
    /// equal, and a device that repeats an old record at one of them does not win. The other store has checked who may have
    /// the device and its key, and can seal to it. A registration without it is treated as by `addDevice`, unless the
    /// device was removed: then its key must be made after the removal. A removal is accepted unless the device
    /// registered after it. Times later than `now` count as `now`; a change whose time is more than a day ahead is
    /// refused. `replace` accepts a change whatever is stored, except a key that another device holds, and, without
    /// `updatedAt`, one that this build cannot seal to.
    ///
    /// Changes are applied in the order of their ids, so one large batch costs less than many small ones; changes of
    /// the same device are applied in the given order.
    ///
    /// If this throws, whole chunks from the start of the batch have been applied; importing the same batch again does
    /// no harm.
    ///
    /// - Returns: Counts, and the changes that were refused: `invalidName`, `futureTime`, `generationRollback`,
    ///   `generationTooHigh`, `suiteDowngrade`, `unsupportedSuite`, `topicMismatch`, `userMismatch`, `keyTaken`, and
    ///   `corruptStore` if the stored row is damaged.
    /// - Throws: Errors that concern the whole store: `storeBusy`, `diskFull`, `inputOutput`, `corruptStore`.
    package func importDevices(
        _ batch: [DeviceChange], replace: Bool = false, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceImportResult {
        // In the order of the table, so that a page is read and written once for all its rows; the index keeps changes
        // of the same device in the given order.
        let order = batch.indices.map { (id: Bytes(batch[$0].id.utf8), index: $0) }
            .sorted { a, b in a.id == b.id ? a.index < b.index : a.id.lexicographicallyPrecedes(b.id) }
        var result = DeviceImportResult()
        try setCache(megabytes: Self.importCache)
        defer { try? setCache(megabytes: SQLiteConnection.cache) }
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

    /// Keeps more pages in memory from now on.
    package func prepareForManyChanges() throws(KeyStoreError) { try setCache(megabytes: Self.importCache) }

    private func setCache(megabytes: Int) throws(KeyStoreError) {
        try withConnection { (connection) throws(KeyStoreError) in try connection.setCache(megabytes: megabytes) }
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
        case .registered(let id, _, _, _, _): id
        case .removed(let removal): removal.id
        }
    }

    /// Throws `invalidName` for a change no store accepts, and `futureTime` for a time after 2100.
    package func check() throws(KeyStoreError) {
        try StoreName.checkDeviceID(id)
        switch self {
        case .registered(_, _, let owner, let updatedAt, _):
            try owner.check()
            try updatedAt?.checkUnit("the time of a registration")
        case .removed(let removal): try removal.check()
        }
    }
}

extension Timestamp {
    /// Refuses a time after the year 2100, which is in another unit: it would win against all later changes. Any other time
    /// ahead counts as now.
    func checkUnit(_ what: StaticString) throws(KeyStoreError) {
        guard self <= .latestOfAClock else {
            throw KeyStoreError(.futureTime, "\(what), \(self), is after 2100: give milliseconds since 1970")
        }
    }

    /// The year 2100.
    package static let latestOfAClock = Timestamp(milliseconds: 4_102_444_800_000)
}

extension Timestamp {
    /// This time, or the earliest one if it lies more than a day ahead: a wrong clock stored it, and it would win
    /// against everything until then.
    func plausible(at now: Timestamp) -> Timestamp {
        self <= now.adding(Freshness.clockTolerance) ? self : Timestamp(milliseconds: 0)
    }

    /// Whether what was made at this time has reached an age. Something from the future has: it was made while a clock was
    /// ahead, and would stay young until then.
    package func isOlder(than age: Interval, at now: Timestamp) -> Bool { now >= plausible(at: now).adding(age) }
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
        try change.check()
        switch change {
        case .registered(let id, let registration, let owner, let updatedAt, let epoch):
            if replace {
                let time = min(updatedAt ?? now, now)
                return .registered(
                    try take(
                        registration, epoch: epoch, id: id, owner: owner, updatedAt: time, isExported: updatedAt != nil)
                )
            }
            let known = try known(id)
            if let removed = known.removed {
                // A record kept from before says nothing about today, and a registration without a time may be such a
                // record.
                guard !removed.isEnd, let time = updatedAt ?? registration.createdAt else { return .stale }
                try time.checkUnit("the creation time of the device's key")
                guard min(time, now) > removed.removedAt.plausible(at: now) else {
                    try raise(known, to: registration.sequence)
                    return .stale
                }
            }
            guard let updatedAt else {
                return .registered(
                    try register(registration, id: id, known: known, owner: owner, at: now, isLive: false))
            }
            return try merge(
                registration, epoch, id: id, known: known, owner: owner, updatedAt: min(updatedAt, now), at: now)
        case .removed(let removal): return try merge(removal, replace: replace, at: now)
        }
    }

    /// Accepts another store's record, unless this store's is later. [D-27] and [D-29] hold between stores too: an old
    /// record that was repeated at the other one has a late time.
    private func merge(
        _ registration: DeviceRegistration, _ epoch: UInt32?, id: String, known: KnownDevice, owner: DeviceOwner,
        updatedAt: Timestamp, at now: Timestamp
    ) throws(KeyStoreError) -> ChangeOutcome {
        let new = DeviceRecord(
            registration, epoch: try reportedEpoch(registration, exported: epoch), id: id,
            user: owner.user(after: known.user), topic: registration.topic, updatedAt: updatedAt,
            signing: RemovedDevice.Signing(sequence: known.signing.sequence))
        guard let old = known.device else {
            if let last = known.removed?.lastKey {
                guard (new.publicKey.suite, new.generation) >= (last.suite, last.generation) else {
                    try raise(known, to: new.sequence)
                    return .stale
                }
            }
            try insert(DeviceRow(new))
            if known.removed != nil { try delete(RemovedDeviceRow.self, key: .text(id)) }
            return .registered(.added)
        }
        let isSame = !new.differs(from: old)
        let held = (old.publicKey.suite.rawValue, old.generation, old.updatedAt.plausible(at: now))
        guard (new.publicKey.suite.rawValue, new.generation, new.updatedAt) > held else {
            try raise(known, to: new.sequence)
            return isSame && new.updatedAt == old.updatedAt ? .unchanged : .stale
        }
        if new.user != old.user {
            // What was another user's answers nothing more.
            try deleteDevice(id)
            try insert(DeviceRow(new))
        } else {
            if new.publicKey != old.publicKey { try noteReplaced(old.publicKey, of: id, at: now) }
            try put(DeviceRow(new))
        }
        return .registered(isSame ? .unchanged : .updated)
    }

    private func merge(
        _ removal: RemovedDevice, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> ChangeOutcome {
        let time = min(removal.removedAt, now)
        let known = replace ? try knownIfSound(removal.id) : try known(removal.id)
        if !replace {
            // An end outranks what the device has said elsewhere. [D-26]
            if let device = known.device, device.updatedAt.plausible(at: now) > time, !removal.isEnd {
                try raise(known, to: removal.signing.sequence)
                return .stale
            }
            if let held = known.removed, held.removedAt.plausible(at: now) >= time {
                try raise(known, to: removal.signing.sequence)
                return held.removedAt == time ? .unchanged : .stale
            }
        }
        try deleteDevice(removal.id)
        try put(RemovedDeviceRow(removal.completed(by: known, at: time)))
        return .removed
    }

    /// Keeps the higher sequence: a record that the other store has taken is no news here. [D-40]
    private func raise(_ known: KnownDevice, to sequence: UInt64?) throws(KeyStoreError) {
        guard let sequence, sequence > known.signing.sequence else { return }
        if var device = known.device {
            device.sequence = sequence
            try put(DeviceRow(device))
        } else if let removed = known.removed {
            try put(RemovedDeviceRow(removed.raised(to: sequence)))
        }
    }
}
