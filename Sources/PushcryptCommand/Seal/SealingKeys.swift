internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The keys and devices of one thread, with the sealers made of them; not safe to share between threads.
final class SealingKeys {
    /// A key that signs.
    struct Signer: Sendable {
        let signer: EnvelopeSigner
        /// The key's name in the store.
        var name: String?
        /// The app that the key is bound to.
        var topic: Topic?
        /// Why the store may be an old copy, for the person who seals; its code is `stale-store`.
        var warning: KeyStoreError?

        /// - Parameter topic: The app of the certificate, if there is one.
        init(_ signer: EnvelopeSigner, for topic: Topic?) {
            self.signer = signer
            self.topic = topic
        }
    }

    /// What a store says of messages that have no topic or placeholder.
    struct Standards: Sendable {
        var topic: Topic?
        var placeholder = PlaceholderChoice()
    }

    /// A device to seal for.
    struct Device {
        /// Its id in the store; nil if only a key was given.
        var id: String?
        let key: DevicePublicKey
        var topic: Topic?
        /// The provider key that it has pinned.
        var pinnedProvider: ProviderPublicKey?
        var address = PushAddress()
    }

    /// The outcome of looking a device up.
    typealias Lookup = Result<Device, SealFailure>

    /// The most devices to look up together.
    static let devicesAtOnce = 256

    private(set) var standards = Standards()
    /// The keys that have signed, or are about to.
    private(set) var signers: [Signer] = []
    private var sealers = SealerCache()
    /// The answer secrets of the store's keys, by name.
    private var answers: [String: AnswerSecret] = [:]
    private var store: Store?

    private struct Store {
        var connection: SQLiteKeyStore
        /// The key to sign with; nil for the one of each device's app.
        let name: String?
        /// The state that has been read; nil if changes are not followed.
        var version: StoreVersion?
        /// None unless each device's app decides.
        var providers = ProviderKeys.none
    }

    /// Creates keys without devices.
    init(_ signer: EnvelopeSigner, for topic: Topic?) { signers = [Signer(signer, for: topic)] }

    /// Reads the keys of a store once.
    init(of store: SQLiteKeyStore, signWith name: String?) throws(KeyStoreError) {
        self.store = Store(connection: store, name: name)
        try read()
    }

    /// Reads the keys of a store over a separate connection, and follows its changes.
    init(following store: SQLiteKeyStore, signWith name: String?) throws(KeyStoreError) {
        let connection = try store.anotherConnection()
        // Before the keys are read, so that no later change is missed.
        let version = try connection.version()
        self.store = Store(connection: connection, name: name, version: version)
        try read()
    }

    /// Reads the settings, and the key that signs if the caller names one, or the one that most likely does.
    private func read() throws(KeyStoreError) {
        guard var store else { return }
        standards.topic = try store.connection.defaultTopic()
        standards.placeholder = try store.connection.placeholder()
        sealers = SealerCache()
        (signers, answers) = ([], [:])
        if let name = store.name {
            signers = [try Signer(store.connection, name)]
        } else {
            let providers = try ProviderKeys(of: store.connection)
            store.providers = providers
            do throws(KeyStoreError) {
                signers = [try Signer(store.connection, try key(of: providers).name)]
            } catch {
                // Which of several keys it is, each device says.
                guard error.code == .ambiguousName else { throw error }
            }
        }
        self.store = store
    }

    // MARK: Changes

    /// Reads the keys again if the store has changed: another process may have rotated a key, or restored the store.
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
        self.store?.connection = store.connection
        try read()
        self.store?.version = version
    }

    // MARK: Signers

    /// Returns the key that signs a message: the named one, the one for all, or that of the device's app.
    ///
    /// - Parameters:
    ///   - name: The key that the message names.
    ///   - topic: The app, if the message or the device says it.
    ///   - device: The device; nil if it has no key.
    private func signer(named name: String?, for topic: Topic?, _ device: Device?) throws(SealFailure) -> Signer {
        guard let store else {
            guard name == nil else { throw .line(.noNamedSigner) }
            return signers[0]
        }
        do throws(KeyStoreError) {
            if let name = name ?? store.name { return try signer(named: name, of: store) }
            let record = try key(of: store.providers, for: topic, pinned: device?.pinnedProvider)
            return try signer(named: record.name, of: store)
        } catch {
            throw .store(error)
        }
    }

    /// Returns a key for what no phone checks.
    func anySigner() throws(KeyStoreError) -> Signer {
        if let signer = signers.first { return signer }
        guard let store, let record = store.providers.records.first else {
            throw KeyStoreError(.unknownName, "the store has no provider key")
        }
        return try signer(named: record.name, of: store)
    }

    /// The store's topic is for messages that have none, and whose key says none.
    private func key(
        of providers: ProviderKeys, for topic: Topic? = nil, pinned: ProviderPublicKey? = nil
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        do throws(KeyStoreError) {
            return try providers.key(for: topic, pinned: pinned)
        } catch {
            guard topic == nil, let topic = standards.topic else { throw error }
            return try providers.key(for: topic, pinned: pinned)
        }
    }

    private func signer(named name: String, of store: Store) throws(KeyStoreError) -> Signer {
        if let signer = signers.first(where: { $0.name == name }) { return signer }
        let signer = try Signer(store.connection, name)
        signers.append(signer)
        return signer
    }

    // MARK: Sealers

    /// Finds what seals a message for a device.
    func target(
        _ request: SealRequest, _ device: Device, _ settings: SealSettings
    ) throws(SealFailure) -> SealTarget {
        SealTarget(request, device, try sealer(for: request, device, settings))
    }

    /// Returns the sealer for the key, the app and the placeholder of a message, which the store's settings complete.
    ///
    /// - Parameter device: The device; nil if it has no key.
    func sealer(
        for request: SealRequest, _ device: Device?, _ settings: SealSettings
    ) throws(SealFailure) -> Sealer {
        let signer = try signer(named: request.signer, for: request.topic ?? device?.topic, device)
        let key = SealerCache.Key(
            signer: signer.name, topic: try topic(request.topic, signer, device), placeholder: request.placeholder,
            isAnswerable: request.options.isAnswerable)
        let answers = key.isAnswerable ? try answerSecret(signer.name, at: settings.now()) : nil
        do throws(SealError) {
            return try sealers.sealer(key, signer, standards, answers)
        } catch {
            throw .sealing(error)
        }
    }

    /// Returns the answer secret of the store's key that signs.
    private func answerSecret(_ name: String?, at now: Timestamp) throws(SealFailure) -> AnswerSecret {
        guard let store, let name else { throw .line(.noAnswers) }
        if let secret = answers[name] { return secret }
        do throws(KeyStoreError) {
            let secret = try store.connection.answerSecret(named: name, at: now)
            answers[name] = secret
            return secret
        } catch {
            throw .store(error)
        }
    }

    /// The app that a message is for. The caller's word and the topics that the keys are bound to must agree; the store's
    /// setting is for messages that have none of these.
    private func topic(_ given: Topic?, _ signer: Signer, _ device: Device?) throws(SealFailure) -> Topic {
        if let given, let bound = signer.topic, bound != given {
            throw .topicConflict(
                SealFailure.TopicConflict(
                    owner: .provider(signer.name ?? ""), bound: bound, topic: given, provider: nil))
        }
        if let topic = signer.topic ?? given, let bound = device?.topic, bound != topic {
            throw .topicConflict(
                SealFailure.TopicConflict(
                    owner: .device(device?.id ?? ""), bound: bound, topic: topic,
                    provider: given == nil ? signer.name : nil))
        }
        guard let topic = given ?? signer.topic ?? device?.topic ?? standards.topic else { throw .noTopic }
        return topic
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
        self.init(
            id: record.id, key: record.publicKey, topic: record.topic, pinnedProvider: record.pinnedProvider,
            address: PushAddress(record))
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
    fileprivate init(_ store: SQLiteKeyStore, _ name: String) throws(KeyStoreError) {
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
}

/// The sealers of one thread, one for each key, app and placeholder.
struct SealerCache {
    /// More than providers use: placeholders that differ from line to line must not fill the memory.
    private static let maximum = 64

    struct Key: Equatable {
        /// The name of the key that signs; nil if there is one for all.
        let signer: String?
        let topic: Topic
        let placeholder: PlaceholderChoice
        let isAnswerable: Bool
    }

    private var sealers: [(key: Key, sealer: Sealer)] = []

    fileprivate mutating func sealer(
        _ key: Key, _ signer: SealingKeys.Signer, _ standards: SealingKeys.Standards, _ answers: AnswerSecret?
    ) throws(SealError) -> Sealer {
        if let found = sealers.first(where: { $0.key == key }) { return found.sealer }
        let placeholder = try key.placeholder.otherwise(standards.placeholder).placeholder()
        if sealers.count == Self.maximum { sealers.removeAll() }
        sealers.append(
            (key, Sealer(signer: signer.signer, topic: key.topic, placeholder: placeholder, answers: answers)))
        return sealers[sealers.count - 1].sealer
    }
}
