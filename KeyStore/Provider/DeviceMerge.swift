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
    /// Returns the row that this change asks for, with what is held where the change does not say.
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
    /// Whether this outranks what is held: an end everything; of two keys the one with the later suite or generation; otherwise what is
    /// later, and a removal that is as late.
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

// MARK: What is held

extension Held {
    var device: DeviceRecord? { if case .device(let device) = self { device } else { nil } }

    var removed: RemovedDevice? { if case .removed(let removed) = self { removed } else { nil } }

    var id: String {
        switch self {
        case .device(let device): device.id
        case .removed(let removed): removed.id
        }
    }

    var user: String? {
        switch self {
        case .device(let device): device.user
        case .removed(let removed): removed.user
        }
    }

    var topic: Topic? {
        switch self {
        case .device(let device): device.topic
        case .removed(let removed): removed.topic
        }
    }

    /// The key under which records are signed, and the last sequence.
    var signing: RemovedDevice.Signing {
        switch self {
        case .device(let device): RemovedDevice.Signing(updateKey: device.updateKey, sequence: device.sequence)
        case .removed(let removed): removed.signing
        }
    }

    var lastKey: RemovedDevice.LastKey? {
        switch self {
        case .device(let device):
            RemovedDevice.LastKey(
                generation: device.generation, suite: device.publicKey.suite, id: device.publicKey.id)
        case .removed(let removed): removed.lastKey
        }
    }

    /// The suite and the generation of a key, of which a later one counts.
    struct Rank: Comparable {
        var suite = CipherSuite.x25519
        var generation: UInt64 = 0

        static func < (a: Rank, b: Rank) -> Bool { (a.suite, a.generation) < (b.suite, b.generation) }
    }

    var rank: Rank? {
        switch self {
        case .device(let device): Rank(suite: device.publicKey.suite, generation: device.generation)
        case .removed(let removed): removed.lastKey.map { Rank(suite: $0.suite, generation: $0.generation) }
        }
    }

    /// Whether the device has ended itself, for good.
    var isEnd: Bool { removed?.isEnd ?? false }

    /// Whether a record without a session may change the device. [D-23]
    var acceptsOpenRecords: Bool { removed?.isLost ?? true }

    /// Whether the device's last key was this one; of a removed device's key only the id is known.
    func hasLast(_ key: DevicePublicKey) -> Bool {
        if let device { return device.publicKey == key }
        return lastKey?.id == key.id
    }

    /// Returns the row with a higher sequence: a record that another store has taken is no news here. Nil if it is none. [D-40]
    func raised(to sequence: UInt64?) -> Held? {
        guard let sequence, sequence > signing.sequence else { return nil }
        switch self {
        case .device(var device):
            device.sequence = sequence
            return .device(device)
        case .removed(var removed):
            removed.signing.sequence = sequence
            return .removed(removed)
        }
    }
}
