public import Pushcrypt

/// All that a device keeps of its accounts: keys, the providers that each trusts, registrations, and what was learned of
/// providers. A value, which a ``DeviceStore`` stores as a whole.
///
/// A key is pending, active, retiring, then purged (`Docs/Keys.md`). Rules that throw have changed nothing. A name of
/// nil means the default account, which is the first that has keys.
public struct DeviceState: Sendable, Equatable {
    /// An account: a name with the keys, pins and registration of one user of the app.
    public struct Account: Sendable, Equatable {
        /// 1 to 255 bytes, without control and invisible characters; compared byte by byte.
        public let name: String
        /// The app that the account is for; nil for any.
        public internal(set) var topic: Topic?
        /// The device's keys, oldest generation first.
        public internal(set) var keys: [Key] = []
        /// The providers that it trusts, at most two, the oldest first.
        public internal(set) var pins: [Pin] = []
        package var registration: Registration?
        /// Signs the account's records.
        var updateKey: UpdateKey?

        init(_ name: String, _ topic: Topic?) {
            self.name = name
            self.topic = topic
        }

        /// The key to register: the pending one, otherwise the active one.
        package var currentKey: Key? { keys.last { $0.state == .pending } ?? keys.last { $0.state == .active } }

        /// The key that signs the account's records; nil before the first.
        package func signingKey() throws(KeyStoreError) -> SigningKey? { try updateKey?.signingKey() }
    }

    /// A device key.
    public struct Key: Sendable, Equatable {
        /// The stages in the life of a key.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// Durable, and opens already; as far as this device knows, the provider does not seal to it yet.
            case pending
            /// The provider seals to it.
            case active
            /// Replaced by another key; until its end it opens messages under way.
            case retiring
        }

        /// The key that a provider seals to.
        public let publicKey: DevicePublicKey
        /// The number of the key among those of the account, from 1.
        public let generation: UInt64
        /// The stage in the key's life.
        public internal(set) var state: State
        /// When the key was made or imported.
        public let createdAt: Timestamp
        /// The last moment at which a retiring key opens.
        package internal(set) var retiresAt: Timestamp?
        let secret: Secret

        /// The first 4 bytes of a hash of the public key.
        public var keyID: KeyID { publicKey.id }

        /// Returns the key with its secret.
        ///
        /// - Throws: `unsupportedSuite` if this build cannot compute with it; `corruptStore`.
        public func deviceKey() throws(KeyStoreError) -> DeviceKey {
            let suite = publicKey.suite
            guard suite.isSupported else { throw .unsupportedSuite }
            let key = try? secret.withSpan { (secret) throws(KeyError) in try DeviceKey(scalar: secret, suite) }
            guard let key, key.publicKey == publicKey else { throw .damagedState }
            return key
        }

        /// A retiring key opens until its end, the others always.
        func opens(at now: Timestamp) -> Bool { retiresAt.map { now <= $0 } ?? true }
    }

    /// A provider key that an account trusts.
    public struct Pin: Sendable, Hashable {
        /// Where a pin comes from.
        package enum Origin: String, Hashable, Sendable {
            /// The app or its user: no reply replaces it.
            case app
            /// The provider's first reply.
            case reply
        }

        /// The provider's key.
        public let key: ProviderPublicKey
        /// Where the pin comes from.
        package let origin: Origin
    }

    /// Knowledge of a provider key for an app, from any account; it outlives every pin. [T-6]
    struct Learned: Sendable, Equatable {
        let provider: ProviderPublicKey
        let topic: Topic
        var trust: LearnedTrust
        /// Whether a message has brought another certificate of an epoch that was known; until the app was told. [T-3]
        var isContradicted = false
    }

    /// An update key. It opens nothing. (`Docs/FormatRecords.md`, Posts)
    struct UpdateKey: Sendable, Equatable {
        let publicKey: SigningPublicKey
        let secret: Secret

        func signingKey() throws(KeyStoreError) -> SigningKey {
            let key = try? secret.withSpan { (seed) throws(KeyError) in try SigningKey(seed: seed) }
            guard let key, key.publicKey == publicKey else { throw .damagedState }
            return key
        }
    }

    /// The accounts; the first one with keys is the default.
    public internal(set) var accounts: [Account] = []
    var learned: [Learned] = []
    /// The installation of the app that the accounts are of; nil before the first.
    package var installation: String?
    /// The ends that providers have to be told of, oldest first.
    package var ends: [End] = []
    package var relay: Relay?

    /// Creates the state of a device without accounts.
    public init() {}
}

// The state as JSON. Its secrets stand before it in the order of the keys: for each account the device keys, then the
// update key. Public keys and certificates are base64url.
//
//     {"accounts":[{"name","topic","keys":[{"public_key","generation","state","created","retires"}],
//                   "pins":[{"key","origin"}],"update_key","registration":{…}}],
//      "learned":[{"provider","topic","certificate","floor","contradicted"}],
//      "installation","ends":[{"account","post","address"}],"relay":{"origin","ends_all","ended":[GRANT]}}
extension DeviceState {
    /// Reads a state completely or not at all; throws `newerVersion` or `corruptStore`.
    init(parsing data: Span<UInt8>) throws(KeyStoreError) {
        let form = try SecretForm(parsing: data)
        guard let root = try? JSONDocument(parsing: form.json, maximumBytes: .max).root else { throw .damagedState }
        let value = StateReader(root)
        var secrets = form.secrets[...]
        accounts = try value.list("accounts") { (value) throws(KeyStoreError) in try Account(value, &secrets) }
        learned = try value.list("learned", Learned.init)
        installation = try value.text("installation")
        ends = try value.list("ends", End.init)
        relay = try value.object("relay", Relay.init)
        guard secrets.isEmpty, isConsistent else { throw .damagedState }
    }

    var form: SecretForm {
        var json = JSONWriter()
        json.object { json in
            json.list(accounts, for: "accounts") { $0.write(to: &$1) }
            json.list(learned, for: "learned") { $0.write(to: &$1) }
            json.text(installation, for: "installation")
            json.list(ends, for: "ends") { $0.write(to: &$1) }
            relay?.write(to: &json)
        }
        let secrets = accounts.flatMap { $0.keys.map(\.secret) + [$0.updateKey?.secret].compactMap(\.self) }
        return SecretForm(secrets: secrets, json: json.bytes)
    }

    private var isConsistent: Bool {
        let ids = accounts.flatMap { $0.keys.map(\.keyID) }
        return Set(accounts.map { Bytes($0.name.utf8) }).count == accounts.count && Set(ids).count == ids.count
            && accounts.allSatisfy(\.isConsistent)
            && Set(learned.map { $0.provider.bytes + Bytes($0.topic.bundleID.utf8) }).count == learned.count
    }
}

extension DeviceState.Account {
    fileprivate init(_ value: StateReader, _ secrets: inout ArraySlice<Secret>) throws(KeyStoreError) {
        self.init(try value.text("name"), try value.topic("topic"))
        keys = try value.list("keys") { (value) throws(KeyStoreError) in try DeviceState.Key(value, secrets.popFirst())
        }
        pins = try value.list("pins", DeviceState.Pin.init)
        registration = try value.object("registration", DeviceState.Registration.init)
        guard let publicKey = try value.signingKey("update_key") else { return }
        guard let secret = secrets.popFirst() else { throw .damagedState }
        updateKey = DeviceState.UpdateKey(publicKey: publicKey, secret: secret)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(name, for: "name")
            json.text(topic?.bundleID, for: "topic")
            json.list(keys, for: "keys") { $0.write(to: &$1) }
            json.list(pins, for: "pins") { $0.write(to: &$1) }
            json.text(updateKey?.publicKey.text, for: "update_key")
            registration?.write(to: &json)
        }
    }

    fileprivate var isConsistent: Bool {
        StoreName.isAllowed(name) && zip(keys, keys.dropFirst()).allSatisfy { $0.generation < $1.generation }
            && pins.count <= ProviderTrust.maximumPins && Set(pins.map(\.key)).count == pins.count
            && keys.allSatisfy { ($0.state == .retiring) == ($0.retiresAt != nil) }
            // Otherwise one key is active, and only the newest may be pending.
            && (keys.isEmpty || keys.count { $0.state == .active } == 1)
            && keys.dropLast().allSatisfy { $0.state != .pending }
    }
}

extension DeviceState.Key {
    fileprivate init(_ value: StateReader, _ secret: Secret?) throws(KeyStoreError) {
        guard let secret, let state = try value.optional("state", State.init(rawValue:)) else { throw .damagedState }
        self.init(
            publicKey: try value.deviceKey("public_key"), generation: try value.number("generation"), state: state,
            createdAt: try value.time("created"), retiresAt: try value.time("retires"),
            secret: secret)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.bytes(publicKey.bytes, for: "public_key")
            json.integer(generation, for: "generation")
            json.string(state.rawValue, for: "state")
            json.integer(createdAt.milliseconds, for: "created")
            json.time(retiresAt, for: "retires")
        }
    }
}

extension DeviceState.Pin {
    fileprivate init(_ value: StateReader) throws(KeyStoreError) {
        guard let origin = try value.optional("origin", Origin.init(rawValue:)) else { throw .damagedState }
        self.init(key: try value.providerKey("key"), origin: origin)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.bytes(key.bytes, for: "key")
            json.string(origin.rawValue, for: "origin")
        }
    }
}

extension DeviceState.Learned {
    fileprivate init(_ value: StateReader) throws(KeyStoreError) {
        guard let topic = try value.topic("topic"), let floor = UInt32(exactly: try value.number("floor")) else {
            throw .damagedState
        }
        self.init(
            provider: try value.providerKey("provider"), topic: topic,
            trust: LearnedTrust(try value.certificate("certificate"), floor: floor),
            isContradicted: try value.flag("contradicted"))
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.bytes(provider.bytes, for: "provider")
            json.string(topic.bundleID, for: "topic")
            json.bytes(trust.certificate?.bytes, for: "certificate")
            json.integer(trust.floor, for: "floor")
            json.flag(isContradicted, for: "contradicted")
        }
    }
}
