internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The source of the keys that `seal` uses.
enum KeySource: Sendable {
    /// A key, and no devices.
    case key(EnvelopeSigner, for: Topic?)
    /// The devices of a store, with the store's key of this name, or the key of each device's app.
    case store(SQLiteKeyStore, signWith: String?)
}

/// A device to seal for, or nothing if it has no key.
struct Device {
    /// Its id in the store; nil if only a key was given.
    var id: String?
    var key: DevicePublicKey?
    var topic: Topic?
    /// The provider key that it has pinned.
    var pinnedProvider: ProviderPublicKey?
    var address = PushAddress()
}

/// The keys and devices of one thread, with the sealers made of them; not safe to share between threads.
final class Keys {
    /// A key that signs.
    struct Signer {
        let signer: EnvelopeSigner
        /// The key's name in the store.
        var name: String?
        /// The app that the key is bound to.
        let topic: Topic?
        /// A warning that the store may be an old copy; its code is `stale-store`.
        var warning: KeyStoreError?
    }

    /// The most devices to look up together.
    static let devicesAtOnce = 256
    /// The most sealers to keep, more than providers use: placeholders that differ from line to line must not fill the memory.
    private static let mostSealers = 64

    /// The keys that have signed, or are about to.
    private var signers: [Signer] = []
    private var sealers: [(key: SealerKey, sealer: Sealer)] = []
    /// The answer secrets of the store's keys, by name.
    private var answers: [String: AnswerSecret] = [:]
    private var store: Store?

    private struct SealerKey: Equatable {
        /// The name of the key that signs; nil if there is one for all.
        let signer: String?
        let topic: Topic
        let placeholder: PlaceholderChoice
        let isAnswerable: Bool
    }

    private struct Store {
        var connection: SQLiteKeyStore
        /// The key to sign with; nil for the one of each device's app.
        let name: String?
        /// The state that has been read; nil if changes are not followed.
        var version: StoreVersion?
        /// None unless each device's app decides.
        var providers = ProviderKeys.none
        /// For messages that have none.
        var topic: Topic?
        var placeholder = PlaceholderChoice()
    }

    /// Reads the keys as they are now.
    ///
    /// - Parameter follows: Whether `refresh` follows the store's changes, over a separate connection.
    init(_ source: KeySource, follows: Bool = false) throws {
        switch source {
        case .key(let signer, let topic): signers = [Signer(signer: signer, topic: topic)]
        case .store(let store, let name):
            let connection = follows ? try store.anotherConnection() : store
            // Before the keys are read, so that no later change is missed.
            self.store = Store(
                connection: connection, name: name, version: follows ? try connection.version() : nil)
            try read()
        }
    }

    /// Reads the settings, and the key that signs: the one named by the caller, or the most likely one.
    private func read() throws {
        guard var store else { return }
        store.topic = try store.connection.defaultTopic()
        store.placeholder = try store.connection.placeholder()
        (signers, sealers, answers) = ([], [], [:])
        if store.name == nil { store.providers = try ProviderKeys(of: store.connection) }
        self.store = store
        do {
            _ = try signer(named: nil, for: nil, nil, in: store)
        } catch let error as KeyStoreError where store.name == nil && error.code == .ambiguousName {
            // With several keys, each device determines which one signs.
        }
    }

    /// Reads the keys again if the store has changed: another process may have rotated a key, or restored the store.
    ///
    /// - Throws: the store cannot be read now. The keys read before must not be used then.
    func refresh() throws {
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

    /// A warning that the store may be an old copy; nil if no phone says so.
    var warning: KeyStoreError? { signers.lazy.compactMap(\.warning).first }

    // MARK: Signers

    /// Returns the key that signs a message: the named one, the one for all, or that of the device's app.
    private func signer(
        named name: String?, for topic: Topic?, _ pinned: ProviderPublicKey?, in store: Store
    ) throws -> Signer {
        if let name = name ?? store.name { return try signer(named: name, of: store) }
        let key = try store.providers.key(for: topic, orFor: store.topic, pinned: pinned)
        return try signer(named: key.name, of: store)
    }

    private func signer(named name: String, of store: Store) throws -> Signer {
        if let signer = signers.first(where: { $0.name == name }) { return signer }
        let (record, credential) = try store.connection.signingCredential(named: name)
        let signer =
            if let credential, let topic = record.topic {
                EnvelopeSigner(verified: credential.certificate, credential.key, by: credential.provider, for: topic)
            } else {
                EnvelopeSigner(try store.connection.providerSecret(named: record.name))
            }
        signers.append(Signer(signer: signer, name: record.name, topic: record.topic, warning: record.warning))
        return signers[signers.count - 1]
    }

    /// Returns a key for data that no phone checks.
    func anySigner() throws -> Signer {
        if let signer = signers.first { return signer }
        guard let store, let record = store.providers.records.first else {
            throw KeyStoreError(.unknownName, "the store has no provider key")
        }
        return try signer(named: record.name, of: store)
    }

    // MARK: Sealers

    /// Returns the sealer for the key, the app and the placeholder of a message, which the store's settings complete.
    func sealer(for message: Message, _ device: Device, at now: Timestamp) throws -> Sealer {
        let signer: Signer
        if let store {
            signer = try self.signer(
                named: message.signer, for: message.topic ?? device.topic, device.pinnedProvider, in: store)
        } else {
            guard message.signer == nil else {
                throw Failure(
                    .malformedLine,
                    "sign_with names a provider key of the store, and here another key signs: leave it out")
            }
            signer = signers[0]
        }
        let key = SealerKey(
            signer: signer.name, topic: try topic(message.topic, signer, device), placeholder: message.placeholder,
            isAnswerable: message.content.isAnswerable)
        if let found = sealers.first(where: { $0.key == key }) { return found.sealer }
        let answers = key.isAnswerable ? try answerSecret(signer.name, at: now) : nil
        let placeholder = try key.placeholder.otherwise(store?.placeholder ?? PlaceholderChoice()).placeholder()
        if sealers.count == Self.mostSealers { sealers.removeAll() }
        sealers.append(
            (key, Sealer(signer: signer.signer, topic: key.topic, placeholder: placeholder, answers: answers)))
        return sealers[sealers.count - 1].sealer
    }

    /// Returns the answer secret of the store's key that signs.
    private func answerSecret(_ name: String?, at now: Timestamp) throws -> AnswerSecret {
        guard let store, let name else {
            throw Failure(
                .malformedLine,
                "no store has the secret that opens answers: seal with a store, or leave answerable out")
        }
        let secret = try answers[name] ?? store.connection.answerSecret(named: name, at: now)
        answers[name] = secret
        return secret
    }

    /// The app that a message is for. The caller's topic and the topics that the keys are bound to must agree; the store's
    /// setting is for messages that have neither.
    private func topic(_ given: Topic?, _ signer: Signer, _ device: Device) throws -> Topic {
        if let given, let bound = signer.topic, bound != given {
            throw Failure.conflict("the provider's key", "provider key \(quoted(signer.name ?? ""))", bound, given, nil)
        }
        if let topic = signer.topic ?? given, let bound = device.topic, bound != topic {
            throw Failure.conflict(
                "the device", "device \(quoted(device.id ?? ""))", bound, topic, given == nil ? signer.name : nil)
        }
        guard let topic = given ?? signer.topic ?? device.topic ?? store?.topic else {
            let text = "no topic is given, and no key is bound to one"
            throw Failure(
                .usage, code: LineCode.noTopic.rawValue, reason: "\(text): \(TopicArgument.hint)", text,
                hints: [TopicArgument.hint])
        }
        return topic
    }

    // MARK: Devices

    /// Finds the devices of the first recipients in one snapshot: of at least one recipient, and of as many as have about
    /// `devicesAtOnce` devices together.
    ///
    /// A user has one device or several, every other recipient has one, and nil, a refused line, has none. A failure affects only
    /// that device or recipient.
    func devices(for recipients: some Collection<Recipient?>) throws -> [[Result<Device, any Error>]] {
        guard let store else { return recipients.map(Self.device) }
        return try store.connection.readDevices { (reader) throws(KeyStoreError) in
            var found: [[Result<Device, any Error>]] = []
            var count = 0
            for recipient in recipients where count < Self.devicesAtOnce {
                switch recipient {
                case .device(let id):
                    do throws(KeyStoreError) {
                        found.append([.success(try Self.device(reader.device(id: id)))])
                    } catch {
                        guard error.concernsOneDevice else { throw error }
                        found.append([.failure(error)])
                    }
                case .user(let user):
                    let devices = try reader.devices(ofUser: user).map { device in
                        Result { try Self.device(device.get()) }
                    }
                    found.append(devices.isEmpty ? [.failure(Failure.noDevice(of: user))] : devices)
                default: found.append(Self.device(given: recipient))
                }
                count += found.last?.count ?? 0
            }
            return found
        }
    }

    private static func device(_ record: DeviceRecord) -> Device {
        Device(
            id: record.id, key: record.publicKey, topic: record.topic, pinnedProvider: record.pinnedProvider,
            address: PushAddress(record))
    }

    /// The device of a recipient that is not looked up.
    private static func device(given recipient: Recipient?) -> [Result<Device, any Error>] {
        switch recipient {
        case .key(let key): [.success(Device(key: key))]
        case .device(let name), .user(let name): [.failure(Failure.noStore(for: name))]
        case .keyless: [.success(Device())]
        case nil: []
        }
    }
}

// MARK: Failures

extension Failure {
    static func noDevice(of user: String) -> Failure {
        Failure(.noDevice, "the user \(quoted(user)) has no device: add one with 'device add --user'")
    }

    fileprivate static func noStore(for name: String) -> Failure {
        Failure(
            .usage, code: "unknown-device",
            reason: "there is no store to look \(quoted(name)) up in: give the device's public key (pcr1…)",
            "--to must be a public key (pcr1…) when there is no store to look \(quoted(name)) up in")
    }

    /// - Parameters:
    ///   - owner: What is bound to another topic, without its name and with it.
    ///   - provider: The provider key that decided the message's topic; nil if the caller did.
    fileprivate static func conflict(
        _ owner: String, _ named: String, _ bound: Topic, _ topic: Topic, _ provider: String?
    ) -> Failure {
        let other = provider.map { "provider key \(quoted($0)) to" } ?? "--topic is"
        return Failure(
            .usage, code: "topic-mismatch",
            reason: "\(owner) is bound to the topic \(bound), and the message is for \(topic)",
            "\(named) is bound to the topic \(bound), and \(other) \(topic)",
            hints: [
                provider == nil ? "leave --topic out, or name another key" : "name the app's key with --sign-with"
            ])
    }
}
