public import Pushcrypt

/// A provider key to pin, with the certificate that came with it.
public struct ProviderPin: Hashable, Sendable {
    /// The provider's key.
    public let key: ProviderPublicKey
    /// The certificate of the provider's present signing key; nil if the provider has none, or it is not known.
    public let certificate: Certificate?

    /// Creates a value. An app that builds in a key builds in its certificate, too.
    public init(_ key: ProviderPublicKey, certificate: Certificate? = nil) {
        self.key = key
        self.certificate = certificate
    }
}

/// The record of a provider key that an account trusts.
public struct PinnedProviderRecord: Hashable, Sendable {
    /// Where a pin comes from.
    public enum Origin: UInt8, Hashable, Sendable, CustomStringConvertible {
        /// The app or its user: no reply replaces it.
        case app = 1
        /// The provider's first reply.
        case reply = 2

        /// The origin as programs read it.
        public var description: String { self == .app ? "app" : "reply" }
    }

    /// The account: the name of its device keys.
    public let account: String
    /// The app whose messages the provider signs; nil for whichever app the account's keys are for.
    public let topic: Topic?
    /// The provider's key.
    public let key: ProviderPublicKey
    /// Where the pin comes from.
    public let origin: Origin
    /// When the key was pinned.
    public let createdAt: Timestamp
}

struct PinRow: StoredRow, Equatable {
    static let table = StoreTable("pins", key: "id", "name", "topic", "public_key", "origin", "created")
    static let put = table.put
    /// The most provider keys that an account trusts: two, while a release of the app changes from one to the other.
    static let maximum = 2

    let id: Int64
    let account: String
    let topic: Topic?
    let key: ProviderPublicKey
    let origin: PinnedProviderRecord.Origin
    let createdAt: Timestamp

    init(
        id: Int64, account: String, topic: Topic?, key: ProviderPublicKey, origin: PinnedProviderRecord.Origin,
        createdAt: Timestamp
    ) {
        self.id = id
        self.account = account
        self.topic = topic
        self.key = key
        self.origin = origin
        self.createdAt = createdAt
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        account = try columns.text()
        topic = try columns.topic()
        key = try columns.providerPublicKey()
        guard let code = UInt8(exactly: try columns.integer()),
            let origin = PinnedProviderRecord.Origin(rawValue: code)
        else { throw columns.damaged }
        self.origin = origin
        createdAt = try columns.time()
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .text(account), .text(topic?.bundleID), .blob(key.bytes), .integer(Int64(origin.rawValue)),
            .time(createdAt),
        ]
    }

    var record: PinnedProviderRecord {
        PinnedProviderRecord(account: account, topic: topic, key: key, origin: origin, createdAt: createdAt)
    }
}

/// What a device has learned of a provider key and an app: the highest certificate, and the highest floor of any. It
/// belongs to no account, and outlives every pin.
struct LearnedTrustRow: StoredRow, Equatable {
    static let table = StoreTable("learned", key: "id", "public_key", "topic", "certificate", "floor")
    static let put = table.put

    let id: Int64
    let provider: ProviderPublicKey
    let topic: Topic
    let trust: LearnedTrust

    init(id: Int64, provider: ProviderPublicKey, topic: Topic, trust: LearnedTrust) {
        self.id = id
        self.provider = provider
        self.topic = topic
        self.trust = trust
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        provider = try columns.providerPublicKey()
        guard let topic = try columns.topic() else { throw columns.damaged }
        self.topic = topic
        let certificate = try columns.optionalCertificate()
        guard let floor = UInt32(exactly: try columns.unsigned()) else { throw columns.damaged }
        trust = LearnedTrust(certificate, floor: floor)
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .blob(provider.bytes), .text(topic.bundleID), .blob(trust.certificate?.bytes),
            .integer(Int64(trust.floor)),
        ]
    }
}
