internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The keys and devices of one thread, with the sealers made of them; not safe to share between threads.
final class SealingKeys {
    /// The sender's key, and the store's settings that go with it.
    struct Sender: Sendable {
        let signer: EnvelopeSigner
        /// The key's name, and the app it is bound to; nil without a store.
        var name: String?
        var topic: Topic?
        /// The store's own topic and placeholder, for messages that have none.
        var defaultTopic: Topic?
        var placeholder = PlaceholderChoice()
        fileprivate var chain: AnnouncementChain?
        /// What messages announce for a key outside a store; nil for what the store announces.
        private let announced: AnnouncedStatements?

        init(_ signer: EnvelopeSigner, announcing announced: AnnouncedStatements? = nil) {
            self.signer = signer
            self.announced = announced
        }

        /// Returns the statements for a device that last reported `pinned` as its sender's key.
        func statements(to pinned: ProviderPublicKey?, now: Timestamp) -> [RotationStatement] {
            announced?.accepted(at: now, pinned: pinned)
                ?? chain?.statements(endingAt: signer.publicKey, pinned: pinned, at: now) ?? []
        }
    }

    /// The key to sign with, if there is a store.
    enum SenderChoice: Sendable {
        /// The store's key of this name, or the default one.
        case named(String?)
        /// A key outside the store.
        case signer(EnvelopeSigner, announcing: AnnouncedStatements?)
    }

    /// A device to seal for.
    struct Device {
        /// Its id in the store; nil if only a key was given.
        var id: String?
        let key: DevicePublicKey
        var topic: Topic?
        var pinnedProvider: ProviderPublicKey?
    }

    /// The outcome of looking a device up.
    typealias Lookup = Result<Device, SealFailure>

    /// The most devices to look up together: as many as the signatures that a signer is asked to make at once.
    static let devicesAtOnce = Sealer.signaturesAtOnce

    private(set) var sender: Sender
    private var sealers = SealerCache()
    private var store: Store?

    private struct Store {
        var connection: SQLiteKeyStore
        let sender: SenderChoice
        /// The state that has been read; nil if changes are not followed.
        var version: StoreVersion?
    }

    /// Creates keys without devices.
    init(_ signer: EnvelopeSigner, announcing announced: AnnouncedStatements?) {
        sender = Sender(signer, announcing: announced)
    }

    /// Reads the keys of a store once.
    init(of store: SQLiteKeyStore, _ choice: SenderChoice) throws(KeyStoreError) {
        self.store = Store(connection: store, sender: choice)
        sender = try Sender(store, choice)
    }

    /// Reads the keys of a store over a separate connection, and follows its changes.
    init(following store: SQLiteKeyStore, _ choice: SenderChoice) throws(KeyStoreError) {
        let connection = try store.anotherConnection()
        // Before the keys are read, so that no later change is missed.
        let version = try connection.version()
        self.store = Store(connection: connection, sender: choice, version: version)
        sender = try Sender(connection, choice)
    }

    // MARK: Changes

    /// Reads the sender again if the store has changed: another process may have rotated the key, or restored the store.
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
        sender = try Sender(store.connection, store.sender)
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
            return try sealers.sealer(SealerCache.Key(topic: topic, placeholder: placeholder), sender)
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
        self.init(id: record.id, key: record.publicKey, topic: record.topic, pinnedProvider: record.pinnedProvider)
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

extension SealingKeys.Sender {
    fileprivate init(_ store: SQLiteKeyStore, _ choice: SealingKeys.SenderChoice) throws(KeyStoreError) {
        switch choice {
        case .signer(let signer, let announced): self.init(signer, announcing: announced)
        case .named(let name):
            let stored = try store.providerKey(named: name)
            self.init(EnvelopeSigner(stored.key))
            self.name = stored.record.name
            topic = stored.record.topic
        }
        defaultTopic = try store.defaultTopic()
        placeholder = try store.placeholder()
        chain = try store.announcements()
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

    fileprivate mutating func sealer(_ key: Key, _ sender: SealingKeys.Sender) throws(SealError) -> Sealer {
        if let found = sealers.first(where: { $0.key == key }) { return found.sealer }
        let placeholder = try key.placeholder.otherwise(sender.placeholder).placeholder()
        if sealers.count == Self.maximum { sealers.removeAll() }
        sealers.append((key, Sealer(signer: sender.signer, topic: key.topic, placeholder: placeholder)))
        return sealers[sealers.count - 1].sealer
    }
}
