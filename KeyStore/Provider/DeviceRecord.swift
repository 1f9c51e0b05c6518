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
    /// The sender key that the device reported as trusted.
    public let pinnedProvider: ProviderPublicKey?
    /// The suites that the device reported it can open, in ascending order.
    public let suites: [UInt8]
    /// The version of the app that the device reported.
    public let appVersion: AppVersion?
    /// The recovery keys that the device reported as trusted.
    public let recoveryKeys: [RecoveryPublicKey]
}

extension DeviceRecord {
    init(
        _ registration: DeviceRegistration, id: String, user: String?, topic: Topic?, updatedAt: Timestamp,
        after old: DeviceRecord? = nil
    ) {
        self.id = id
        self.user = user
        publicKey = registration.publicKey
        self.topic = topic
        generation = registration.generation
        // A registration without a creation time keeps the known one of the same key.
        let known = old?.publicKey == registration.publicKey ? old?.createdAt : nil
        createdAt = registration.createdAt ?? known ?? updatedAt
        self.updatedAt = updatedAt
        pinnedProvider = registration.pinnedProvider
        suites = registration.suites
        appVersion = registration.appVersion
        recoveryKeys = registration.recoveryKeys
    }

    func differs(from other: DeviceRecord) -> Bool {
        publicKey != other.publicKey || topic != other.topic || generation != other.generation
            || createdAt != other.createdAt || pinnedProvider != other.pinnedProvider || suites != other.suites
            || appVersion != other.appVersion || recoveryKeys != other.recoveryKeys || !Self.areEqual(user, other.user)
    }

    /// Returns whether two devices are known to be of one user.
    static func areSameUser(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return false }
        return StoreName.areEqual(a, b)
    }

    private static func areEqual(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return StoreName.areEqual(a, b)
    }
}

struct DeviceRow: StoredRow {
    static let table = StoreTable(
        "devices", key: "id", "public_key", "topic", "generation", "created", "updated", "pinned_sender",
        "suites", "app_version", "user", "recovery")
    static let put = table.put
    static let insert = table.insert
    static let counted: CountedTable? = .devices
    /// The value stored as NULL: nearly every device reports it.
    private static let usualSuites = RegistrationReply.standardSuites

    let record: DeviceRecord

    init(_ record: DeviceRecord) { self.record = record }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        let id = try columns.text()
        let publicKey = try columns.devicePublicKey()
        let topic = try columns.topic()
        let generation = try columns.unsigned()
        let createdAt = try columns.time()
        let updatedAt = try columns.time()
        let pinnedProvider = try columns.optionalProviderPublicKey()
        let suites = try columns.optionalBlob().map(Array.init) ?? Self.usualSuites
        let appVersion = try columns.appVersion()
        let user = try columns.optionalText()
        record = DeviceRecord(
            id: id, user: user, publicKey: publicKey, topic: topic, generation: generation,
            createdAt: createdAt, updatedAt: updatedAt, pinnedProvider: pinnedProvider, suites: suites,
            appVersion: appVersion, recoveryKeys: try columns.optionalRecoveryKeys())
    }

    var values: [SQLiteValue] {
        [
            .text(record.id), .blob(record.publicKey.bytes), .text(record.topic?.bundleID),
            .unsigned(record.generation), .time(record.createdAt), .time(record.updatedAt),
            .blob(record.pinnedProvider?.bytes),
            record.suites == Self.usualSuites ? .null : .blob(Bytes(record.suites)),
            .text(record.appVersion?.description), .text(record.user),
            record.recoveryKeys.isEmpty ? .null : .blob(SenderRecoveryRow.bytes(of: record.recoveryKeys)),
        ]
    }
}

/// The owner to record for a device that registers.
public enum DeviceOwner: Hashable, Sendable {
    /// The previous owner.
    case unchanged
    /// No owner.
    case nobody
    /// The user with this name, 1 to 255 bytes without control characters.
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
