package import Pushcrypt

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
    /// registered after it; the end of a device always. Times later than `now` count as `now`; a change whose time is after 2100 is
    /// refused. `replace` accepts a change whatever is stored, except, without `updatedAt`, a key that another device holds, and
    /// one that this build cannot seal to.
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
        try setCache(megabytes: Self.importCache)
        defer { try? setCache(megabytes: SQLiteConnection.cache) }
        var result = try inChunks(order, DeviceImportResult()) { (store, item, result) throws(KeyStoreError) in
            do throws(KeyStoreError) {
                result.count(try store.apply(batch[item.index], replace: replace, at: now))
            } catch {
                guard error.concernsOneRow else { throw error }
                result.refused.append(DeviceImportResult.Refusal(index: item.index, error: error))
            }
        }
        result.refused.sort { $0.index < $1.index }
        return result
    }

    /// Writes many items, each chunk of them in one transaction, and lets others write in between.
    func inChunks<Item, Result>(
        _ items: [Item], _ start: Result,
        _ body: (StoreTransaction, Item, inout Result) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> Result {
        var result = start
        for first in stride(from: 0, to: items.count, by: Self.importChunk) {
            if first > 0 { SQLiteConnection.letOthersWrite() }
            result = try write { (store) throws(KeyStoreError) in
                var result = result
                for item in items[first..<min(first + Self.importChunk, items.count)] { try body(store, item, &result) }
                return result
            }
        }
        return result
    }

    /// Keeps more pages in memory from now on.
    package func prepareForManyChanges() throws(KeyStoreError) { try setCache(megabytes: Self.importCache) }

    private func setCache(megabytes: Int) throws(KeyStoreError) {
        try withConnection { (connection) throws(KeyStoreError) in try connection.setCache(megabytes: megabytes) }
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
    fileprivate mutating func count(_ outcome: Change.Outcome) {
        switch outcome {
        case .added: added += 1
        case .updated: updated += 1
        case .unchanged: unchanged += 1
        case .removed: removed += 1
        case .stale: stale += 1
        }
    }
}

extension StoreTransaction {
    fileprivate func apply(
        _ change: DeviceChange, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> Change.Outcome {
        if case .registered(let id, let registration, let owner, nil, _) = change {
            return try accept(
                Arrival(id: id, registration: registration, owner: owner, way: .list, replaces: replace), at: now)
        }
        try change.check()
        let held = replace ? try heldIfSound(change.id) : try held(change.id)
        let change = DeviceRules.merge(change, held: held, replace: replace, at: now)
        try perform(change, at: now)
        return change.outcome
    }
}

// MARK: Changes

/// A change to one of a provider's devices, for an import of many.
///
/// A caller that forwards data from phones decides itself which device it is, and whose. If a phone could say so, it could
/// take another phone's place.
package enum DeviceChange: Hashable, Sendable {
    /// The device with this id registered. `updatedAt` is when it last did so at the store that exported this change, and
    /// `epoch` that of the certificate that it reported there; nil if the registration does not come from an export.
    case registered(
        id: String, DeviceRegistration, owner: DeviceOwner = .unchanged, updatedAt: Timestamp? = nil,
        epoch: UInt32? = nil)
    /// The device was removed.
    case removed(RemovedDevice)

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

extension DeviceRules {
    /// Applies a change that another store exported, unless this store's state is later. The other store has already checked who
    /// may have the device and its key; but an old record replayed there has a late time. [D-27] [D-29] [D-40]
    static func merge(_ change: DeviceChange, held: Held?, replace: Bool = false, at now: Timestamp) -> Change {
        let new = change.row(over: held, isAlone: replace, at: now)
        let outcome: Change.Outcome =
            switch (held, new) {
            case (_, .removed): .removed
            case (.device, _): .updated
            case (_, _): .added
            }
        if !replace, let held {
            guard new.isLater(than: held, at: now) else {
                let outcome: Change.Outcome = held.saysTheSame(as: new) ? .unchanged : .stale
                return Change(put: [held.raised(to: new.signing.sequence)].compactMap(\.self), outcome: outcome)
            }
            if let device = new.device, let old = held.device, DeviceRecord.areEqual(device.user, old.user) {
                return Change(
                    put: [new], replacedKey: device.publicKey == old.publicKey ? nil : old.publicKey,
                    outcome: device.differs(from: old) ? .updated : .unchanged)
            }
        }
        // The keys of another user's device must no longer open answers.
        return Change(put: [new], endsEarlierKeys: held?.device != nil && new.device != nil, outcome: outcome)
    }
}

extension DeviceChange {
    /// Returns the row that this change asks for; the held row fills what the change leaves out.
    fileprivate func row(over held: Held?, isAlone: Bool, at now: Timestamp) -> Held {
        switch self {
        case .removed(let removal):
            return .removed(removal.completed(by: held, at: min(removal.removedAt, now)))
        case .registered(let id, let registration, let owner, let updatedAt, let epoch):
            let sequence = isAlone ? 0 : held?.signing.sequence ?? 0
            return .device(
                DeviceRecord(
                    registration, epoch: epoch, id: id, user: owner.user(after: held?.user), topic: registration.topic,
                    updatedAt: min(updatedAt ?? now, now), signing: RemovedDevice.Signing(sequence: sequence)))
        }
    }
}

extension Held {
    /// Whether this outranks the held row. An end outranks everything. Of two keys the later suite or generation wins; otherwise
    /// the later time, and at equal times a removal.
    fileprivate func isLater(than held: Held, at now: Timestamp) -> Bool {
        if held.isEnd { return false }
        if isEnd { return true }
        let rank = rank ?? held.rank ?? Rank()
        let heldRank = held.rank ?? rank
        let (time, heldTime) = (changedAt, held.changedAt.plausible(at: now))
        switch (self, held) {
        case (.device, .device): return rank != heldRank ? heldRank < rank : time > heldTime
        case (.device, .removed): return heldRank <= rank && time > heldTime
        case (.removed, .device): return heldRank < rank || time >= heldTime
        case (.removed, .removed): return time > heldTime
        }
    }

    fileprivate func saysTheSame(as other: Held) -> Bool {
        switch (self, other) {
        case (.device(let mine), .device(let other)): mine.updatedAt == other.updatedAt && !other.differs(from: mine)
        case (.removed(let mine), .removed(let other)): mine.removedAt == other.removedAt
        default: false
        }
    }

    private var changedAt: Timestamp {
        switch self {
        case .device(let device): device.updatedAt
        case .removed(let removed): removed.removedAt
        }
    }
}
