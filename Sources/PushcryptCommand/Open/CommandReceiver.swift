internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// The receiver of the command line: a store, as on a phone, or a key file.
enum CommandReceiver: Sendable {
    case keyFile(Opener)
    case store(NotificationReceiver)
    /// A damaged store: as on a phone, the fallback is shown.
    case damagedStore(KeyStoreError)

    /// Opens a push, however long that takes.
    func receive(
        _ push: PushToOpen, as pushClass: PushClass, requestID: String?, at now: Timestamp
    ) -> (delivery: Delivery, warnings: [String]) {
        let received: ReceivedPush
        let incoming: IncomingPush
        switch push.content {
        case .refused(let reason): return (push.fallback(reason), [])
        case .push(let push, let parts): (received, incoming) = (push, parts)
        }
        switch self {
        case .store(let receiver):
            let reception = receiver.receive(incoming, as: pushClass, requestID: requestID, at: now)
            return (reception.delivery, reception.warnings)
        case _ where incoming.encryptedData == .absent && incoming.mayPassInTheClear:
            return (Delivery(passing: incoming), [])
        case .damagedStore(let error): return (push.fallback(Delivery.Reason(error)), [])
        case .keyFile(let opener):
            do throws(OpenError) {
                return (Delivery(opened: try opener.open(received.envelope(), at: now, as: pushClass)), [])
            } catch {
                return (push.fallback(Delivery.Reason(error)), [])
            }
        }
    }
}

extension CommandReceiver {
    /// Completes a delivery that was given out.
    func finish(_ delivery: Delivery, at now: Timestamp) {
        if case .store(let receiver) = self { receiver.deleteRetiredKeys(after: delivery, at: now) }
    }
}

/// The input of `open`.
struct PushToOpen: Sendable {
    enum Content: Sendable {
        case push(ReceivedPush, IncomingPush)
        /// The input is not a push.
        case refused(Delivery.Reason)
    }

    let content: Content

    /// Parses the input; nil if it was too long to read.
    init(_ bytes: ContiguousArray<UInt8>?, mayPassInTheClear: Bool) {
        guard let bytes else {
            content = .refused(
                Delivery.Reason(
                    code: OpenError.Code.malformedNotification.description,
                    description: "the input is longer than the \(ReceivedPush.maximumLength) bytes of the longest push")
            )
            return
        }
        guard !bytes.isEmpty else {
            content = .refused(
                Delivery.Reason(
                    code: OpenError.Code.malformedNotification.description, description: "the input is empty"))
            return
        }
        do throws(OpenError) {
            let received = try ReceivedPush(bytes)
            var incoming = IncomingPush(received)
            incoming.mayPassInTheClear = mayPassInTheClear
            content = .push(received, incoming)
        } catch {
            content = .refused(Delivery.Reason(error))
        }
    }

    /// The fingerprint of the text in `ENCRYPTED_DATA`, if there is one.
    var fingerprint: EnvelopeFingerprint? {
        if case .push(let received, _) = content { received.fingerprint } else { nil }
    }

    /// Returns the delivery if the push does not open.
    func fallback(_ reason: Delivery.Reason) -> Delivery {
        if case .push(_, let incoming) = content { return Delivery(fallback: reason, for: incoming) }
        return Delivery(fallback: reason, for: nil)
    }
}

// MARK: Command line

/// The options for the keys that open, and for what they may open.
struct ReceiverArguments: Sendable {
    let topic: TopicArgument
    let pushClass: PushClass
    let requestID: String?
    let duplicates: DuplicatePolicy?
    /// Whether messages and what they tell are noted.
    let isGuarded: Bool
    let deviceKeyFile: String?
    let providers: [String]
    let passesClear: Bool

    init(_ arguments: inout Arguments) {
        topic = TopicArgument(&arguments)
        pushClass = arguments.pushClass()
        requestID = arguments.value(
            "--request-id", "ID",
            help:
                "the notification request of the push; default one per message"
        )
        duplicates = arguments.choice(
            "--duplicates", "POLICY",
            help:
                "a message shown before under another request: without sound, the fallback, or nothing, as also for withdrawn and dropped ones; default quiet"
        )
        isGuarded = !arguments.flag(
            "--no-guard", help: "note nothing, so that the same push opens the same way again")
        deviceKeyFile = arguments.value(
            "--device-key-file", "FILE", .secret, help: "open with this key, instead of a store's: a file, fd:N or -")
        providers = arguments.values(
            "--provider", "KEY", help: "with --device-key-file: a provider to trust (pcs1…)")
        passesClear = arguments.flag(
            "--pass-clear", help: "show a push without ENCRYPTED_DATA as it is")
    }

    /// Refuses a key file beside a store, whose options are declared by now.
    func excludeStore(_ arguments: inout Arguments) {
        arguments.option(
            "--device-key-file",
            excludes: ["--store", "--passphrase-file", "--request-id", "--duplicates", "--no-guard"],
            hint: "a key file is used without a store")
    }
}

extension ReceiverArguments {
    /// Calls `body` with the receiver; what it notes without a guard is gone afterwards.
    func withReceiver<R>(
        _ store: StoreArguments, _ console: Console, _ body: (CommandReceiver) throws(CommandFailure) -> R
    ) throws(CommandFailure) -> R {
        if isGuarded { return try body(CommandReceiver(self, store, notingIn: nil, console)) }
        let folder = try TemporaryFolder()
        return try folder.whileItExists { (path) throws(CommandFailure) in
            try body(CommandReceiver(self, store, notingIn: path, console))
        }
    }
}

extension SQLiteKeyStore {
    /// Returns the device's state as it is now, whose changes are kept by nobody.
    func copy() throws(CommandFailure) -> MemoryDeviceStore {
        MemoryDeviceStore(try withStoreErrors { () throws(KeyStoreError) in try load()?.state })
    }
}

extension ExtensionDatabase {
    /// Creates one that knows no message yet, in an empty folder.
    static func temporary(in folder: String) throws(CommandFailure) -> ExtensionDatabase {
        try withStoreErrors { () throws(KeyStoreError) in
            try create(in: folder, floor: Timestamp(milliseconds: 0))
        }
    }
}

extension CommandReceiver {
    fileprivate init(
        _ arguments: ReceiverArguments, _ store: StoreArguments, notingIn folder: String?, _ console: Console
    ) throws(CommandFailure) {
        if let source = arguments.deviceKeyFile {
            self = .keyFile(try Self.keyFile(source, arguments, console))
        } else {
            self = try Self.store(arguments, store, notingIn: folder, console)
        }
    }

    private static func keyFile(
        _ source: String, _ arguments: ReceiverArguments, _ console: Console
    ) throws(CommandFailure) -> Opener {
        guard let topic = try arguments.topic.topic() else {
            throw .usage("--topic is missing", hint: TopicArgument.hint)
        }
        let providers = try arguments.providers.map { (text) throws(CommandFailure) in
            try ProviderPublicKey(text, inOption: "--provider")
        }
        guard providers.count <= ProviderTrust.maximumPins else {
            throw .usage("--provider is given \(providers.count) times", hint: "a phone trusts one provider, or two")
        }
        guard !providers.isEmpty else {
            throw .usage("--provider is missing", hint: "add --provider with the key to trust (pcs1…)")
        }
        return Opener(
            topic: topic, deviceKeys: [try console.readDeviceKey(from: source)], trust: ProviderTrust(pinned: providers)
        )
    }

    /// - Parameter folder: An empty folder for what is noted of the messages; nil for the store's own place.
    private static func store(
        _ arguments: ReceiverArguments, _ store: StoreArguments, notingIn folder: String?, _ console: Console
    ) throws(CommandFailure) -> CommandReceiver {
        if !arguments.providers.isEmpty {
            throw .usage(
                "--provider goes with --device-key-file", hint: "a store trusts what 'pushcrypt provider pin' was given"
            )
        }
        var policy = NotificationReceiver.Policy()
        policy.duplicates = arguments.duplicates ?? .quiet
        policy.hasFilteringEntitlement = arguments.duplicates == .suppress
        return try self.store(store, arguments.topic, console, policy) { (keys) throws(CommandFailure) in
            guard let folder else { return (keys, try console.openExtensionDatabase(of: store)) }
            return try (keys.copy(), .temporary(in: folder))
        }
    }

    /// Opens with a store's keys; `keeping` returns the places for them and for the record of messages.
    static func store(
        _ arguments: StoreArguments, _ topic: TopicArgument, _ console: Console, _ policy: NotificationReceiver.Policy,
        keeping: (SQLiteKeyStore) throws(CommandFailure) -> (store: any DeviceStore, database: ExtensionDatabase)
    ) throws(CommandFailure) -> CommandReceiver {
        let topic = try topic.topic()
        do throws(CommandFailure) {
            let store = try console.open(arguments)
            let defaultTopic = try withStoreErrors { () throws(KeyStoreError) in
                topic == nil ? try store.defaultTopic() : nil
            }
            let (keys, database) = try keeping(store)
            return .store(
                NotificationReceiver(
                    store: keys, database: database, topic: topic, defaultTopic: defaultTopic, policy: policy))
        } catch {
            guard let cause = error.cause as? KeyStoreError, cause.code == .corruptStore else { throw error }
            return .damagedStore(cause)
        }
    }
}

/// `--full-body`: the sealed file of a body that was too long for its push.
struct FullBodyArgument: Sendable {
    private let path: String?

    var isGiven: Bool { path != nil }

    init(_ arguments: inout Arguments) {
        path = arguments.value(
            "--full-body", "SEALED", .file,
            help:
                "the fetched file of a body that was too long; otherwise the short text is shown")
    }

    /// Replaces the short body of a delivery by the full one, as a phone does after fetching it. If the file does not open,
    /// prints a warning and keeps the short body.
    func extend(_ delivery: Delivery, _ console: Console) throws(CommandFailure) -> Delivery {
        guard let path, let opened = delivery.opened else { return delivery }
        let sealed = try console.read(path, limit: FullBody.maximumSealedSize)
        do throws(AttachmentError) {
            return delivery.extended(by: try opened.fullBody(opening: sealed.span))
        } catch {
            console.warning("full body: \(error.code): \(error)")
            return delivery
        }
    }
}

extension Arguments {
    /// `--push-type`, of a push that is received.
    mutating func pushClass() -> PushClass {
        let type: ReceivedPushType? = choice(
            "--push-type", "TYPE",
            help: "what the push arrived as; one sealed as another type is refused; default alert")
        return switch type {
        case .alert, nil: .alert
        case .background: .background
        case .voip: .call
        }
    }
}

private enum ReceivedPushType: String, CaseIterable { case alert, background, voip }
