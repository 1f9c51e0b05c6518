package import Pushcrypt

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
    package internal(set) var signing: Signing
    /// Whether the system noticed that it was gone: only then may its own record bring it back without a session.
    package let isLost: Bool

    /// The update key and the last sequence of a device's records.
    package struct Signing: Hashable, Sendable {
        package var updateKey: SigningPublicKey?
        package var sequence: UInt64

        /// Creates a value; of a device that has signed nothing, without arguments.
        package init(updateKey: SigningPublicKey? = nil, sequence: UInt64 = 0) {
            (self.updateKey, self.sequence) = (updateKey, sequence)
        }
    }

    /// A device's last key.
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

    /// Returns the removal at `time`, with what the store knows of the device where the removal does not say.
    func completed(by held: Held?, at time: Timestamp) -> RemovedDevice {
        RemovedDevice(
            id: id, removedAt: time, reason: reason, user: user ?? held?.user, topic: topic ?? held?.topic,
            lastKey: lastKey ?? held?.lastKey,
            signing: Signing(
                updateKey: signing.updateKey ?? held?.signing.updateKey,
                sequence: max(signing.sequence, held?.signing.sequence ?? 0)),
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

extension LostDevice {
    /// Whether the report is about the device as it is now: a renewed token or grant, or a later registration, says that it is alive.
    func concerns(_ device: DeviceRecord, at now: Timestamp) -> Bool {
        if let token, let held = device.token, token != held { return false }
        if let grant, let held = device.grant, grant != held { return false }
        return device.updatedAt.plausible(at: now) <= removal.removedAt
    }
}

/// A relay's grant that has ended, and the device that a message was sent to with it.
package struct EndedGrant: Hashable, Sendable {
    /// The provider's name for the device.
    package let id: String
    /// The grant that was used.
    package let grant: String

    /// Creates a report.
    package init(id: String, grant: String) {
        self.id = id
        self.grant = grant
    }
}
