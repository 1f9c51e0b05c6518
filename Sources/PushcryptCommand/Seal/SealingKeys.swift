internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The keys and devices of one thread, with the sealers made of them; not safe to share between threads.
final class SealingKeys {
    /// The key that signs, and the store's settings that go with it.
    struct Signer: Sendable {
        let signer: EnvelopeSigner
        /// The key's name, and the app it is bound to; nil without a store.
        var name: String?
        var topic: Topic?
        /// The store's own topic and placeholder, for messages that have none.
        var defaultTopic: Topic?
        var placeholder = PlaceholderChoice()

        /// Why the store may be an old copy, for the person who seals; its code is `stale-store`.
        var warning: KeyStoreError?

        /// - Parameter topic: The app of the certificate, if there is one.
        init(_ signer: EnvelopeSigner, for topic: Topic?) {
            self.signer = signer
            self.topic = topic
        }
    }

    /// The key to sign with, if there is a store.
    enum SignerChoice: Sendable {
        /// The store's key of this name, or the default one.
        case named(String?)
        /// A key outside the store.
        case signer(EnvelopeSigner, for: Topic?)
    }

    /// A device to seal for.
    struct Device {
        /// Its id in the store; nil if only a key was given.
        var id: String?
        let key: DevicePublicKey
        var topic: Topic?
    }

    /// The outcome of looking a device up.
    typealias Lookup = Result<Device, SealFailure>

    /// The most devices to look up together: as many as the signatures that a signer is asked to make at once.
    static let devicesAtOnce = Sealer.signaturesAtOnce

    private(set) var signer: Signer
    private var sealers = SealerCache()
    private var store: Store?

    private struct Store {
        var connection: SQLiteKeyStore
        let choice: SignerChoice
        /// The state that has been read; nil if changes are not followed.
        var version: StoreVersion?
    }

    /// Creates keys without devices.
    init(_ signer: EnvelopeSigner, for topic: Topic?) { self.signer = Signer(signer, for: topic) }

    /// Reads the keys of a store once.
    init(of store: SQLiteKeyStore, _ choice: SignerChoice) throws(KeyStoreError) {
        self.store = Store(connection: store, choice: choice)
        signer = try Signer(store, choice)
    }

    /// Reads the keys of a store over a separate connection, and follows its changes.
    init(following store: SQLiteKeyStore, _ choice: SignerChoice) throws(KeyStoreError) {
        let connection = try store.anotherConnection()
        // Before the keys are read, so that no later change is missed.
        let version = try connection.version()
        self.store = Store(connection: connection, choice: choice, version: version)
        signer = try Signer(connection, choice)
    }

    // MARK: Changes

    /// Reads the key again if the store has changed: another process may have rotated the key, or restored the store.
    ///
    /// - Throws: the store cannot be read now. The keys read before must not be used then.
    func refresh() throws(KeyStoreError) {
        guard var store, let old = store.version else { return }
        var version = try store.connection.version()
        if version == old { return }
        if version.isReplaced {
            store.connection = try store.connection.anotherConnection()
            version = try store.connection.version()
        }
        signer = try Signer(store.connection, store.choice)
        sealers = SealerCache()
        store.version = version
        self.store = store
    }

    /// Closes the store. Only devices whose keys are given are found afterwards.
    func leaveStore() { store = nil }

    // MARK: Sealers

    /// Returns the sealer for an app and a placeholder, which the store's settings complete.
    func sealer(_ topic: Topic, _ placeholder: PlaceholderChoice) throws(SealFailure) -> Sealer {
        do throws(SealError) {
            return try sealers.sealer(SealerCache.Key(topic: topic, placeholder: placeholder), signer)
        } catch {
            throw .sealing(error)
        }
    }

    // MARK: Devices

    /// Finds the devices of the first recipients in one snapshot: of one recipient at least, and of no more than have
    /// `devicesAtOnce` devices together, or a little more.
    ///
    /// A user has one device or several, every other recipient has one. A failure concerns that device or recipient alone.
    func devices<Recipients: Collection<SealRequest.Recipient?>>(
        for recipients: Recipients
    ) throws(KeyStoreError) -> [[Lookup]] {
        guard recipients.contains(where: { $0?.isInStore ?? false }), let store else {
            return recipients.map { Self.device(given: $0) }
        }
        return try store.connection.readDevices { (reader) throws(KeyStoreError) in
            var found: [[Lookup]] = []
            var count = 0
            for recipient in recipients {
                if count >= Self.devicesAtOnce { break }
                switch recipient {
                case .device(let id): found.append([try Self.device(id, reader)])
                case .user(let user):
                    let devices = try reader.devices(ofUser: user).map {
                        $0.map(Device.init).mapError(SealFailure.store)
                    }
                    found.append(devices.isEmpty ? [.failure(.line(.noDevice(of: user)))] : devices)
                default: found.append(Self.device(given: recipient))
                }
                count += found.last?.count ?? 0
            }
            return found
        }
    }

    private static func device(_ id: String, _ reader: DeviceReader) throws(KeyStoreError) -> Lookup {
        do throws(KeyStoreError) {
            return .success(Device(try reader.device(id: id)))
        } catch {
            guard error.concernsOneDevice else { throw error }
            return .failure(.store(error))
        }
    }

    /// The device of a recipient that is not looked up; none for a refused line or a device without a key.
    private static func device(given recipient: SealRequest.Recipient?) -> [Lookup] {
        switch recipient {
        case .key(let key): [.success(Device(key: key))]
        case .device(let name), .user(let name): [.failure(.noStore(name))]
        case .keyless, nil: []
        }
    }
}

extension SealingKeys.Device {
    fileprivate init(_ record: DeviceRecord) {
        self.init(id: record.id, key: record.publicKey, topic: record.topic)
    }
}

extension SealRequest.Recipient {
    fileprivate var isInStore: Bool {
        switch self {
        case .device, .user: true
        case .key, .keyless: false
        }
    }
}

extension SealingKeys.Signer {
    fileprivate init(_ store: SQLiteKeyStore, _ choice: SealingKeys.SignerChoice) throws(KeyStoreError) {
        switch choice {
        case .signer(let signer, let topic): self.init(signer, for: topic)
        case .named(let name):
            let (record, credential) = try store.signingCredential(named: name)
            if let credential, let topic = record.topic {
                let signer = EnvelopeSigner(
                    verified: credential.certificate, credential.key, by: credential.provider, for: topic)
                self.init(signer, for: topic)
            } else {
                self.init(EnvelopeSigner(try store.providerSecret(named: record.name)), for: record.topic)
            }
            self.name = record.name
            warning = record.warning
        }
        defaultTopic = try store.defaultTopic()
        placeholder = try store.placeholder()
    }
}

/// The sealers of one thread, one for each app and placeholder.
struct SealerCache {
    /// More than providers use: placeholders that differ from line to line must not fill the memory.
    private static let maximum = 64

    struct Key: Equatable {
        let topic: Topic
        let placeholder: PlaceholderChoice
    }

    private var sealers: [(key: Key, sealer: Sealer)] = []

    fileprivate mutating func sealer(_ key: Key, _ signer: SealingKeys.Signer) throws(SealError) -> Sealer {
        if let found = sealers.first(where: { $0.key == key }) { return found.sealer }
        let placeholder = try key.placeholder.otherwise(signer.placeholder).placeholder()
        if sealers.count == Self.maximum { sealers.removeAll() }
        sealers.append((key, Sealer(signer: signer.signer, topic: key.topic, placeholder: placeholder)))
        return sealers[sealers.count - 1].sealer
    }
}
