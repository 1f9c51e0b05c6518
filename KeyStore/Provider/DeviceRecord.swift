public import Pushcrypt

/// A device that a provider seals to.
public struct DeviceRecord: Hashable, Sendable {
    /// The provider's name for the device, 1 to 255 bytes.
    public let id: String
    /// The user of the device, by the provider's name, 1 to 255 bytes; nil if unknown.
    public let user: String?
    /// The key to seal to.
    public let publicKey: DevicePublicKey
    /// The app that the key is for; nil if it is not bound to one.
    public let topic: Topic?
    /// The number of the key among the device's keys.
    package let generation: UInt64
    /// When the device generated its key; if it did not say, when the key first arrived.
    package let createdAt: Timestamp
    /// When the device last registered.
    public let updatedAt: Timestamp
    /// The provider key that the device reported as pinned.
    package let pinnedProvider: ProviderPublicKey?
    /// The epoch of the highest certificate that the device reported, verified; nil if it reported none.
    package let epoch: UInt32?
    /// The suites that the device reported it can open, in ascending order.
    package let suites: [UInt8]
    /// The version of the app that the device reported.
    public let appVersion: AppVersion?
    /// The push token, in lower-case hexadecimal digits; nil if neither the device nor the provider has said it.
    package let token: String?
    /// Where the token is valid.
    package let environment: PushEnvironment?
    /// The key under which the device signs its records; nil if it has sent none that is signed.
    package let updateKey: SigningPublicKey?
    /// The sequence of its last record; 0 if none had one.
    package internal(set) var sequence: UInt64
    /// The relay's grant for the device.
    package internal(set) var grant: String?
    /// The grant that the relay has ended, until the device brings another.
    package internal(set) var endedGrant: String?
}

/// The effect of a registration on the stored record.
public enum RegistrationOutcome: Hashable, Sendable {
    /// There was no record under this name.
    case added
    /// The record has changed.
    case updated
    /// The record already said the same.
    case unchanged
}

extension DeviceRecord {
    init(
        _ registration: DeviceRegistration, epoch: UInt32?, id: String, user: String?, topic: Topic?,
        updatedAt: Timestamp, after old: DeviceRecord? = nil,
        signing known: RemovedDevice.Signing = RemovedDevice.Signing()
    ) {
        self.id = id
        self.user = user
        publicKey = registration.publicKey
        self.topic = topic
        generation = registration.generation
        // A registration without a creation time keeps the known one of the same key.
        let time = old?.publicKey == registration.publicKey ? old?.createdAt : nil
        createdAt = registration.createdAt ?? time ?? updatedAt
        self.updatedAt = updatedAt
        pinnedProvider = registration.pinnedProvider
        self.epoch = epoch
        suites = registration.suites
        // A missing member keeps its value: a phone may register before APNs has given it a token. [D-33]
        appVersion = registration.appVersion ?? old?.appVersion
        token = registration.token ?? old?.token
        environment = registration.environment ?? (registration.token == nil ? old?.environment : nil)
        updateKey = registration.updateKey ?? old?.updateKey ?? known.updateKey
        sequence = max(registration.sequence ?? 0, old?.sequence ?? known.sequence)
        if let given = registration.grant, given != old?.endedGrant {
            grant = given
        } else {
            (grant, endedGrant) = (old?.grant, old?.endedGrant)
        }
    }

    func differs(from other: DeviceRecord) -> Bool {
        publicKey != other.publicKey || topic != other.topic || generation != other.generation
            || createdAt != other.createdAt || pinnedProvider != other.pinnedProvider || epoch != other.epoch
            || suites != other.suites || appVersion != other.appVersion || token != other.token
            || environment != other.environment || updateKey != other.updateKey || grant != other.grant
            || !Self.areEqual(user, other.user)
    }

    /// Whether a record's grant is the one that the relay has ended.
    package func hasEnded(_ grant: String?) -> Bool { grant != nil && grant == endedGrant }

    /// Whether a push to another device of this app would come to this one.
    func hasAddress(of other: DeviceRecord) -> Bool {
        token != nil && token == other.token && (topic == nil || other.topic == nil || topic == other.topic)
    }

    /// Returns whether two devices are known to be of one user.
    static func areSameUser(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return false }
        return StoreName.areEqual(a, b)
    }

    static func areEqual(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return StoreName.areEqual(a, b)
    }
}

/// The owner to record for a device that registers.
public enum DeviceOwner: Hashable, Sendable {
    /// The previous owner.
    case unchanged
    /// No owner.
    case nobody
    /// The user with this name, 1 to 255 bytes without control or invisible characters.
    case user(String)
}

extension DeviceOwner {
    func check() throws(KeyStoreError) {
        guard case .user(let name) = self else { return }
        try StoreName.check(name, "a user id")
    }

    func user(after old: String?) -> String? {
        switch self {
        case .unchanged: old
        case .nobody: nil
        case .user(let name): name
        }
    }
}

// MARK: Removed devices

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

        /// Creates a value; without arguments, that of a device that has signed nothing.
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

    /// Returns the removal at `time`; the store's facts of the device fill what the removal leaves out.
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
    /// The dead token; nil if the report has none.
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

    /// Checks a removal that somebody else reports. Throws `invalidName` and `futureTime`.
    func check() throws(KeyStoreError) {
        try checkNames()
        try removedAt.checkUnit("the time of a removal")
    }
}

extension LostDevice {
    /// Whether the report is about the device as it is now: a new token or grant, or a later registration, shows that it is alive.
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
