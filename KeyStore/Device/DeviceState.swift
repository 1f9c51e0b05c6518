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
        public var currentKey: Key? { keys.last { $0.state == .pending } ?? keys.last { $0.state == .active } }

        /// The key that signs the account's records; nil before the first.
        package func signingKey() throws(KeyStoreError) -> SigningKey? { try updateKey?.signingKey() }
    }

    /// A device key.
    public struct Key: Sendable, Equatable {
        /// The stages in the life of a key.
        public enum State: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
            /// Durable, and opens already; as far as this device knows, the provider does not seal to it yet.
            case pending
            /// The provider seals to it.
            case active
            /// Replaced by another key; until its end it opens messages under way.
            case retiring

            /// The state as programs read it.
            public var description: String { rawValue }
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
        public internal(set) var retiresAt: Timestamp?
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
        public enum Origin: String, Hashable, Sendable, CustomStringConvertible {
            /// The app or its user: no reply replaces it.
            case app
            /// The provider's first reply.
            case reply

            /// The origin as programs read it.
            public var description: String { rawValue }
        }

        /// The provider's key.
        public let key: ProviderPublicKey
        /// Where the pin comes from.
        public let origin: Origin
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
