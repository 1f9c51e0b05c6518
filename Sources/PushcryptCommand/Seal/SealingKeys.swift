internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The keys with which one thread seals; not for two threads at once.
///
/// With a store it has a connection of its own, and what it has read of the store is read again once the store has changed.
final class SealingKeys {
    /// What signs, and what goes with it for every message.
    struct Sender: Sendable {
        let signer: EnvelopeSigner
        /// What it is called, and the app it is bound to; nil without a store.
        var name: String?
        var topic: Topic?
        /// The store's own topic and placeholder, for who names none.
        var defaultTopic: Topic?
        var placeholder = PlaceholderChoice()
        fileprivate var chain: AnnouncementChain?

        init(_ signer: EnvelopeSigner) { self.signer = signer }

        /// The statements that a device needs which last reported `pinned`.
        func statements(to pinned: SenderPublicKey?, now: Timestamp) -> [RotationStatement] {
            chain?.statements(endingAt: signer.publicKey, pinned: pinned, at: now) ?? []
        }
    }

    /// Which key signs where there is a store.
    enum SenderChoice: Sendable {
        /// The store's of this name; nil means the default one.
        case named(String?)
        /// One from elsewhere.
        case signer(EnvelopeSigner)
    }

    /// A device that can be sealed to.
    struct Device {
        /// Its id in the store; nil for a key that was given.
        var id: String?
        let key: DevicePublicKey
        var topic: Topic?
        var pinnedSender: SenderPublicKey?
    }

    /// How many devices are looked up together: as many as a signer is asked for at once.
    static let devicesAtOnce = Sealer.signaturesAtOnce

    private(set) var sender: Sender
    /// Counts how often the sender was read.
    private(set) var generation = 0

    private var store: Store?

    /// Where the keys are read from, and which state of it has been read.
    private struct Store {
        var connection: SQLiteKeyStore
        let sender: SenderChoice
        var version: StoreVersion
    }

    /// Signs with a key, wherever it is, and knows no devices.
    init(_ signer: EnvelopeSigner) { sender = Sender(signer) }

    /// Knows the devices of a store.
    init(_ store: SQLiteKeyStore, _ choice: SenderChoice) throws(KeyStoreError) {
        let connection = try store.anotherConnection()
        // Before anything is read, so that no change after it is missed.
        let version = try connection.version()
        self.store = Store(connection: connection, sender: choice, version: version)
        sender = try Sender(connection, choice)
    }

    // MARK: Changes

    /// Reads again what has changed: another process may have rotated the key, or restored the store.
    ///
    /// - Throws: the store cannot be read now. What was read before is still there, and is not to be used.
    func refresh() throws(KeyStoreError) {
        guard var store else { return }
        var version = try store.connection.version()
        if version == store.version { return }
        if version.isReplaced {
            store.connection = try store.connection.anotherConnection()
            version = try store.connection.version()
        }
        sender = try Sender(store.connection, store.sender)
        generation += 1
        store.version = version
        self.store = store
    }

    // MARK: Devices

    /// Finds whom the first recipients mean, all in one snapshot: at least the first one, and no more than have
    /// `devicesAtOnce` devices together, or a little more.
    ///
    /// A user has one device or more, any other recipient has one; a failure is about that device or that recipient alone.
    func devices<Recipients: Collection<SealRequest.Recipient?>>(
        for recipients: Recipients
    ) throws(KeyStoreError) -> [[Result<Device, LineFailure>]] {
        guard recipients.contains(where: { $0?.isInStore ?? false }), let store else {
            return recipients.map { Self.device(given: $0) }
        }
        return try store.connection.readDevices { (reader) throws(KeyStoreError) in
            var found: [[Result<Device, LineFailure>]] = []
            var count = 0
            for recipient in recipients {
                if count >= Self.devicesAtOnce { break }
                switch recipient {
                case .device(let id): found.append([Self.device(try reader.device(id: id))])
                case .user(let user):
                    let devices = try reader.devices(ofUser: user).map(Self.device)
                    found.append(devices.isEmpty ? [.failure(.noDevice(of: user))] : devices)
                default: found.append(Self.device(given: recipient))
                }
                count += found.last?.count ?? 0
            }
            return found
        }
    }

    private static func device(_ result: Result<DeviceRecord, KeyStoreError>) -> Result<Device, LineFailure> {
        result.map {
            Device(id: $0.id, key: $0.publicKey, topic: $0.topic, pinnedSender: $0.pinnedSender)
        }.mapError(LineFailure.init)
    }

    /// Whom a recipient means that is looked up nowhere; nobody for none.
    private static func device(given recipient: SealRequest.Recipient?) -> [Result<Device, LineFailure>] {
        switch recipient {
        case .key(let key): [.success(Device(key: key))]
        case .device(let id): [.failure(.noStore(for: id))]
        case .user(let user): [.failure(.noStore(for: user))]
        case .keyless, nil: []
        }
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
    init(_ store: SQLiteKeyStore, _ choice: SealingKeys.SenderChoice) throws(KeyStoreError) {
        switch choice {
        case .signer(let signer): self.init(signer)
        case .named(let name):
            let stored = try store.senderKey(named: name)
            self.init(EnvelopeSigner(stored.key))
            self.name = stored.record.name
            topic = stored.record.topic
        }
        defaultTopic = try store.defaultTopic()
        placeholder = try store.placeholder()
        chain = try store.announcements()
    }
}

extension LineFailure {
    static func noDevice(of user: String) -> LineFailure {
        LineFailure(.noDevice, "the user \(quoted(user)) has no device: 'device add --user' says whose a device is")
    }

    fileprivate static func noStore(for id: String) -> LineFailure {
        LineFailure(
            KeyStoreError(
                .unknownDevice, "there is no store to look \(quoted(id)) up in: give the device's public key (pcr1…)"))
    }
}
