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
    public let generation: UInt64
    /// When the device generated its key; if it did not say, when the key first arrived.
    public let createdAt: Timestamp
    /// When the device last registered.
    public let updatedAt: Timestamp
    /// The provider key that the device reported as pinned.
    public let pinnedProvider: ProviderPublicKey?
    /// The epoch of the highest certificate that the device reported, verified; nil if it reported none.
    package let epoch: UInt32?
    /// The suites that the device reported it can open, in ascending order.
    public let suites: [UInt8]
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
        // What a registration lacks stays: a phone may register before APNs has given it a token. [D-33]
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
