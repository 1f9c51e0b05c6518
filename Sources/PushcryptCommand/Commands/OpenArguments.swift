internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

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
    /// Calls `body` with the receiver; without a guard, its notes are discarded afterwards.
    func withReceiver<R>(
        _ store: StoreArguments, _ console: Console, _ body: (CommandReceiver) throws -> R
    ) throws -> R {
        if isGuarded { return try body(CommandReceiver(self, store, notingIn: nil, console)) }
        let folder = try TemporaryFolder()
        return try folder.whileItExists { path in
            try body(CommandReceiver(self, store, notingIn: path, console))
        }
    }
}

extension CommandReceiver {
    fileprivate init(
        _ arguments: ReceiverArguments, _ store: StoreArguments, notingIn folder: String?, _ console: Console
    ) throws {
        if let source = arguments.deviceKeyFile {
            self = .keyFile(try Self.keyFile(source, arguments, console))
        } else {
            self = try Self.store(arguments, store, notingIn: folder, console)
        }
    }

    private static func keyFile(
        _ source: String, _ arguments: ReceiverArguments, _ console: Console
    ) throws -> Opener {
        guard let topic = try arguments.topic.topic() else {
            throw Failure.usage("--topic is missing", hint: TopicArgument.hint)
        }
        let providers = try arguments.providers.map { text in
            try ProviderPublicKey(text, inOption: "--provider")
        }
        guard providers.count <= ProviderTrust.maximumPins else {
            throw Failure.usage(
                "--provider is given \(providers.count) times", hint: "a phone trusts one provider, or two")
        }
        guard !providers.isEmpty else {
            throw Failure.usage("--provider is missing", hint: "add --provider with the key to trust (pcs1…)")
        }
        return Opener(
            topic: topic, deviceKeys: [try console.readDeviceKey(from: source)], trust: ProviderTrust(pinned: providers)
        )
    }

    /// - Parameter folder: An empty folder for notes on the messages; nil for the store's own place.
    private static func store(
        _ arguments: ReceiverArguments, _ store: StoreArguments, notingIn folder: String?, _ console: Console
    ) throws -> CommandReceiver {
        if !arguments.providers.isEmpty {
            throw Failure.usage(
                "--provider goes with --device-key-file", hint: "a store trusts what 'pushcrypt provider pin' was given"
            )
        }
        var policy = NotificationReceiver.Policy()
        policy.duplicates = arguments.duplicates ?? .quiet
        policy.hasFilteringEntitlement = arguments.duplicates == .suppress
        return try self.store(store, arguments.topic, console, policy) { keys in
            guard let folder else { return (keys, try console.openExtensionDatabase(of: store)) }
            return try (keys.copy(), .temporary(in: folder))
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
    func extend(_ delivery: Delivery, _ console: Console) throws -> Delivery {
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
    /// `--push-type` of a received push.
    mutating func pushClass() -> PushClass {
        let type: ReceivedPushType? = choice(
            "--push-type", "TYPE",
            help: "the type under which the push arrived; a message sealed for another type is refused; default alert")
        return switch type {
        case .alert, nil: .alert
        case .background: .background
        case .voip: .call
        }
    }
}

private enum ReceivedPushType: String, CaseIterable { case alert, background, voip }

/// `--answer`: the user's choice, and the text typed.
struct AnswerArgument: Sendable {
    private let action: String
    private let text: String?

    /// Declares the option; returns nil if it is not given.
    init?(_ arguments: inout Arguments) {
        let value = arguments.value(
            "--answer", "ACTION[=TEXT]",
            help: "write the text that the app sends for ACTION and a typed TEXT")
        guard let value else { return nil }
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        action = String(parts[0])
        text = parts.count > 1 ? String(parts[1]) : nil
    }

    /// Returns the text that the app would send.
    func sealed(by opened: OpenedNotification, at now: Timestamp) throws -> String {
        guard let sealed = try opened.answer(action, text: text, at: now) else {
            throw Failure.refused("the message was not sealed with --answerable, so nobody can answer it")
        }
        return sealed
    }
}
