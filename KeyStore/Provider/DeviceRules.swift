internal import Pushcrypt

/// The content of a store under a device's id: the device, or the trace of its removal. [D-38]
enum Held: Hashable, Sendable {
    case device(DeviceRecord)
    case removed(RemovedDevice)
}

/// A registration, and how it has come.
struct Arrival {
    enum Way {
        /// From the operator, as it is now.
        case bare
        /// From a list of the operator's: it may be older than what is held.
        case list
        /// Posted in a session, signed.
        case session
        /// Posted without a session, signed.
        case open
        /// By a code, which no device had yet.
        case pairing
    }

    let id: String
    let registration: DeviceRegistration
    /// The user whose session, code or line it is.
    let owner: DeviceOwner
    let way: Way
    /// Whether the operator says that the device was set up again.
    var replaces = false
    /// Whether the phone has signed it under a key, for this app and way.
    var isSigned: (SigningPublicKey) -> Bool = { _ in false }
}

/// The rows that take the place of what is held.
struct Change: Hashable {
    enum Outcome: String { case added, updated, unchanged, removed, stale }

    var put: [Held] = []
    /// The key that the device had until now.
    var replacedKey: DevicePublicKey?
    /// Whether the device's earlier keys answer nothing more.
    var endsEarlierKeys = false
    let outcome: Outcome
}

/// The rules of providers (`Docs/FormatRecords.md`), without a store.
enum DeviceRules {
    /// Decides on a registration, by the first rule that refuses it.
    ///
    /// - Parameters:
    ///   - arrival: The registration.
    ///   - held: What is held under its id.
    ///   - holders: The other devices with its key, and those of its user with its token.
    ///   - epoch: That of the certificate that it reports, verified.
    ///   - now: The present time.
    /// - Throws: `userMismatch`, `unknownDevice`, `badRecordSignature`, `staleRecord`, `generationRollback`, `generationTooHigh`,
    ///   `suiteDowngrade`, `unsupportedSuite`, `topicMismatch`, `keyTaken`; `futureTime` for a line.
    static func accept(
        _ arrival: Arrival, held: Held?, holders: [DeviceRecord], epoch: UInt32?, at now: Timestamp
    ) throws(KeyStoreError) -> Change {
        let (id, registration) = (arrival.id, arrival.registration)
        if let stale = try arrival.older(than: held, at: now) { return stale }
        try arrival.checkUser(held)
        let isSignedAsHeld = try arrival.checkSignature(held)
        try arrival.checkSequence(held)
        // The holder of the update key was there before, whatever its keys are now.
        if !isSignedAsHeld, !arrival.replaces {
            try arrival.checkGeneration(held)
            try arrival.checkSuite(held)
        }
        let old = held?.device
        // A phone that is told otherwise retires the key that its pushes are sealed to, maybe by another server. [D-30]
        guard registration.publicKey.suite.isSupported || registration.publicKey == old?.publicKey else {
            throw .unsupportedSuite
        }
        if !arrival.replaces, let topic = registration.topic, let held = old?.topic, topic != held {
            throw KeyStoreError(.topicMismatch, "device '\(id)' is stored for \(held), not for \(topic)")
        }
        let user = arrival.owner.user(after: held?.user)
        guard let old, !arrival.replaces else {
            // Of a device that has ended nothing holds: only the operator brings the id back. [D-26]
            let isNew = arrival.replaces || held?.removed?.isEnd ?? false
            let record = DeviceRecord(
                registration, epoch: epoch, id: id, user: user, topic: registration.topic, updatedAt: now,
                signing: isNew ? RemovedDevice.Signing() : held?.signing ?? RemovedDevice.Signing())
            guard let moved = try arrival.displaced(holders, by: record, after: nil, at: now) else {
                return Change(outcome: .stale)
            }
            return Change(
                put: moved + [.device(record)], endsEarlierKeys: old != nil, outcome: old == nil ? .added : .updated)
        }
        let record = DeviceRecord(
            registration, epoch: epoch, id: id, user: user, topic: registration.topic ?? old.topic,
            updatedAt: max(now, old.updatedAt.plausible(at: now)), after: old)
        guard let moved = try arrival.displaced(holders, by: record, after: old, at: now) else {
            return Change(outcome: .stale)
        }
        guard record.differs(from: old) else {
            // A device that reports the same is still alive, and a late removal must not remove it. A line is not the device.
            let same = arrival.way == .list ? Held.device(old).raised(to: record.sequence) : .device(record)
            return Change(put: moved + [same].compactMap(\.self), outcome: .unchanged)
        }
        return Change(
            put: moved + [.device(record)], replacedKey: record.publicKey == old.publicKey ? nil : old.publicKey,
            outcome: .updated)
    }

    /// Decides on an end, which a phone signs without a session. [D-26]
    ///
    /// - Throws: `unknownDevice`, `badRecordSignature`, `staleRecord`.
    static func end(
        _ id: String, held: Held?, at now: Timestamp, isSigned: (SigningPublicKey) -> Bool
    ) throws(KeyStoreError) -> Change {
        guard let held, held.acceptsOpenRecords else { throw .unknownDevice(id) }
        guard let key = held.signing.updateKey, isSigned(key) else { throw .badRecordSignature(id) }
        guard !held.isEnd else { throw .staleRecord(id, after: held.signing.sequence) }
        let end = RemovedDevice(
            id: id, removedAt: max(now, held.device?.updatedAt.plausible(at: now) ?? now), reason: "logged out",
            signing: RemovedDevice.Signing(sequence: DeviceEnd.sequence))
        return Change(put: [.removed(end.completed(by: held, at: end.removedAt))], outcome: .removed)
    }

    /// Decides on a removal by the operator, or because of APNs' answer: a record that is on its way does not undo it. [D-39]
    static func remove(_ removal: RemovedDevice, held: Held?, at now: Timestamp) -> Change {
        // Even if the clock was set back, the removal must be the later of the two.
        let time = max(
            min(removal.removedAt, now), held?.device?.updatedAt.plausible(at: now) ?? Timestamp(milliseconds: 0))
        var removed = removal.completed(by: held, at: time)
        removed.signing.sequence = max(removed.signing.sequence, now.adding(.days(1)).milliseconds)
        return Change(put: [.removed(removed)], outcome: .removed)
    }
}

// MARK: The rules, in their order

extension Arrival {
    /// Returns what becomes of a line whose key was not made after the removal of its device: a record kept from before says
    /// nothing about today.
    fileprivate func older(than held: Held?, at now: Timestamp) throws(KeyStoreError) -> Change? {
        guard way == .list, !replaces, let removed = held?.removed else { return nil }
        guard !removed.isEnd, let time = registration.createdAt else { return Change(outcome: .stale) }
        try time.checkUnit("the creation time of the device's key")
        guard min(time, now) <= removed.removedAt.plausible(at: now) else { return nil }
        return Change(put: [held?.raised(to: registration.sequence)].compactMap(\.self), outcome: .stale)
    }

    /// Refuses a user who does not own the device, and a session without a user that brings another key or update key for a
    /// user's device: either could take the device over. [D-22] [P-9]
    fileprivate func checkUser(_ held: Held?) throws(KeyStoreError) {
        guard !replaces, way != .open, let held else { return }
        if way == .pairing, held.device != nil {
            throw KeyStoreError(
                .userMismatch, "device '\(id)' is already stored, and the pairing code was not made to replace it")
        }
        guard held.user != nil || held.rank != nil else { return }
        let belongs = held.device == nil ? "belonged, before it was removed," : "belongs"
        switch (owner, held.user) {
        case (.user(let user), let owner?) where !StoreName.areEqual(user, owner):
            throw KeyStoreError(.userMismatch, "device '\(id)' \(belongs) to user '\(owner)', not to '\(user)'")
        case (.user(let user), nil):
            throw KeyStoreError(.userMismatch, "device '\(id)' \(belongs) to no user, so not to '\(user)'")
        case (.unchanged, let owner?), (.nobody, let owner?):
            // A code for nobody does not bring back a user's device, whatever its key.
            let isSameUpdateKey = [nil, held.signing.updateKey].contains(registration.updateKey)
            guard held.hasLast(registration.publicKey), isSameUpdateKey, way != .pairing else {
                throw KeyStoreError(
                    .userMismatch, "device '\(id)' \(belongs) to user '\(owner)', and nobody else may change its keys")
            }
        default: return
        }
    }

    /// Checks who has signed a post; returns whether it is under the held update key. [D-23] [D-24]
    fileprivate func checkSignature(_ held: Held?) throws(KeyStoreError) -> Bool {
        switch way {
        case .bare, .list, .pairing: return false
        case .session:
            guard let key = registration.updateKey, isSigned(key) else { throw .badRecordSignature(id) }
            return key == held?.signing.updateKey
        case .open:
            guard let held, held.acceptsOpenRecords else { throw .unknownDevice(id) }
            guard let key = held.signing.updateKey, registration.updateKey == key, isSigned(key) else {
                throw .badRecordSignature(id)
            }
            return true
        }
    }

    /// Of a pairing too: otherwise nothing that the device sends later would count. [D-25]
    fileprivate func checkSequence(_ held: Held?) throws(KeyStoreError) {
        guard way != .bare, way != .list, !replaces, let last = held?.signing.sequence else { return }
        guard registration.sequence ?? 0 > last else { throw .staleRecord(id, after: last) }
    }

    /// A phone that makes a key a day for three years stays below it; someone who could register the largest
    /// generation would lock the phone out. [D-28]
    private static let maximumGenerationStep: UInt64 = 1024

    fileprivate func checkGeneration(_ held: Held?) throws(KeyStoreError) {
        let (generation, last) = (registration.generation, held?.rank?.generation)
        if let last, let held {
            guard generation >= last else {
                throw KeyStoreError(
                    .generationRollback,
                    "device '\(id)' registered generation \(last) before, this is generation \(generation): an old copy"
                )
            }
            guard generation > last || held.hasLast(registration.publicKey) else {
                throw KeyStoreError(
                    .generationRollback, "device '\(id)' registered another key with generation \(generation) before")
            }
        }
        let (highest, overflow) = (last ?? 0).addingReportingOverflow(Self.maximumGenerationStep)
        guard overflow || generation <= highest else {
            throw KeyStoreError(
                .generationTooHigh,
                "device '\(id)' registered generation \(generation); after \(last ?? 0) at most \(highest) is accepted")
        }
    }

    /// A device that has changed over to suite 2 never goes back. [D-29]
    fileprivate func checkSuite(_ held: Held?) throws(KeyStoreError) {
        guard let suite = held?.rank?.suite, registration.publicKey.suite < suite else { return }
        throw KeyStoreError(
            .suiteDowngrade,
            "device '\(id)' has a post-quantum key, and the new key is not one: somebody may be trying to weaken its encryption"
        )
    }

    /// Returns the removals of the devices whose key or token this one has now; nil for a line of an earlier device than the one
    /// with its token.
    ///
    /// The phone with a device's key can read its messages, so a key is taken only from a device of the same user. Two users may
    /// share a phone, and its token; of one user's devices the newer has it, or each push would come twice. [D-32]
    fileprivate func displaced(
        _ holders: [DeviceRecord], by record: DeviceRecord, after old: DeviceRecord?, at now: Timestamp
    ) throws(KeyStoreError) -> [Held]? {
        var moved: [Held] = []
        for holder in holders {
            let hasKey = holder.publicKey == record.publicKey && record.publicKey != old?.publicKey
            let isSameUser = DeviceRecord.areSameUser(holder.user, record.user)
            if hasKey, !isSameUser {
                throw KeyStoreError(
                    .keyTaken, "device '\(holder.id)' already has this public key; a key belongs to one device")
            }
            guard hasKey || isSameUser && holder.hasAddress(of: record) else { continue }
            if !hasKey, way == .list, !replaces, holder.createdAt > record.createdAt { return nil }
            let time = max(now, holder.updatedAt.plausible(at: now))
            let removal = RemovedDevice(id: holder.id, removedAt: time, reason: hasKey ? "key-moved" : "token-moved")
            moved.append(.removed(removal.completed(by: .device(holder), at: time)))
        }
        return moved
    }
}
