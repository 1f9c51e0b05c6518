internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

extension Command {
    static let open = Command(
        "open", "open a sealed payload, and show the notification",
        about:
            "Writes the notification that a phone would show: a banner on a terminal, JSON otherwise. A push that does not open gives the fallback, with exit 65 and the reason on standard error. Nothing is fetched.",
        more: """
            The JSON leaves out badge, sound_name, critical_volume, thread, category, interruption_level, relevance, target, filter, launch_image, user_info, attachments, full_body and parts of localised texts (title_loc_key, title_loc_args and so on) if they are not set. Keys of attachments are never shown.
            --batch writes {"notification": …}, with the object of --json, or {"error": …, "line": N} for each line, in order, and ends with 65 if one is an error, or with 1 if a line may succeed later. Other keys are passed through, except "request_id", which acts as --request-id. With a store, lines are opened one by one unless --jobs is given.
            A message that was shown before is passive, without sound and badge; with "duplicate": true, which came under another request or is too old to tell, also without category, attachments and full_body.
            --answer writes what the app sends if the user chooses this action, for 'answer open' at the provider: the message has to be sealed with --answerable.
            Opening may change the store: a pending device key becomes active, and the newest certificate of the provider is kept. Device keys that ended a day earlier are then deleted. 'preview --store' keeps nothing.
            """,
        examples: [
            "pushcrypt open --topic com.example.app sealed.json",
            Example(
                "pushcrypt seal --batch messages | pushcrypt open --batch", "the notifications of many messages"),
        ]
    ) { a in
        a.group("what is opened")
        let arguments = ReceiverArguments(&a)
        let fullBody = a.value(
            "--full-body", "SEALED", .file,
            help: "the fetched file of a body that was too long; otherwise the short text is shown")
        a.group("output")
        let showsBanner = a.flag("--banner", help: "draw the notification even if the output is not a terminal")
        let isJSON = a.json()
        let answer = a.value(
            "--answer", "ACTION[=TEXT]", help: "write the text that the app sends for ACTION and a typed TEXT")
        let output = OutputArguments(&a)
        a.group("many pushes")
        let isBatch = a.flag(
            "--batch", help: "open a push for each line of FILE, an object with 'payload', as 'seal --batch' writes")
        a.group("many pushes", isAdvanced: true)
        let batch = BatchArguments(&a)
        a.group(nil)
        let store = StoreArguments(&a)
        a.keyFile("--device-key-file", excludesStoreAnd: ["--request-id", "--duplicates"])
        a.atMostOne(of: "--banner", "--json", "--answer")
        let file = a.optionalInput("FILE", help: "the received push; default standard input")
        return { console in
            if !isBatch {
                try batch.refuse(beside: "pushes")
                let receiver = try CommandReceiver(arguments, store, console)
                let push = PushToOpen(try console.readPush(file), mayPassInTheClear: arguments.passesClear)
                let (received, warnings) = receiver.receive(
                    push, as: arguments.pushClass, requestID: arguments.requestID, at: console.timestamp)
                for warning in warnings { console.warning(warning) }
                let delivery = try fullBody.map { try received.extended(by: $0, console) } ?? received
                defer { receiver.finish(delivery, at: console.timestamp) }
                if let answer, let opened = delivery.opened {
                    return try console.deliver(opened.answer(answer, at: console.timestamp) + "\n", to: output)
                }
                return try console.show(delivery, push, asBanner: showsBanner, asJSON: isJSON, to: output)
            }
            let single = [
                ("--request-id", arguments.requestID != nil), ("--full-body", fullBody != nil),
                ("--banner", showsBanner), ("--answer", answer != nil),
            ]
            for (name, isGiven) in single where isGiven {
                throw Failure.usage("\(name) goes with one push", hint: "leave it out, or leave --batch out")
            }
            // In order, as a phone receives them: a copy of a message is quiet only after the first.
            let run = Batch(
                verb: .opened, jobs: arguments.deviceKeyFile == nil ? 1 : Processors.count, hasClearContent: true,
                options: batch, output: output, console: console)
            let worker = OpenWorker(
                receiver: try CommandReceiver(arguments, store, console), mayPassInTheClear: arguments.passesClear,
                pushClass: arguments.pushClass, console: console, form: LineForm(.open, console))
            try run.run(file: file) { worker }
        }
    }
}

extension Console {
    /// Reads a push; nil if it is too long for one.
    fileprivate func readPush(_ file: String) throws -> ContiguousArray<UInt8>? {
        do {
            return try read(file, limit: ReceivedPush.maximumLength, mayBeEmpty: true)
        } catch let failure where failure.exit == .refused {
            return nil
        }
    }

    /// Writes what the user sees of a delivery: a banner on a terminal, JSON otherwise; then the reason for a fallback.
    fileprivate func show(
        _ delivery: Delivery, _ push: PushToOpen, asBanner: Bool, asJSON: Bool, to output: OutputArguments
    ) throws {
        let showsBanner = asBanner || showsOutput && !asJSON && output.path == nil
        let text =
            showsBanner
            ? Banner(delivery, self).text
            : shown(json: OpenReport(delivery: delivery, fingerprint: push.fingerprint).json) + "\n"
        try deliver(secret: text, to: output)
        guard case .fallback(let reason) = delivery.outcome else { return }
        error("\(reason.code): \(reason)")
        if reason.code == Delivery.Reason.noTopic.code { hint(TopicArgument.hint) }
        throw ExitCode.refused
    }
}

extension Delivery {
    /// Replaces the short body by the full one, as a phone does after fetching it. If the file does not open, prints a warning
    /// and keeps the short body.
    fileprivate func extended(by path: String, _ console: Console) throws -> Delivery {
        guard let opened else { return self }
        let sealed = try console.read(path, limit: FullBody.maximumSealedSize)
        do {
            return extended(by: try opened.fullBody(opening: sealed.span))
        } catch {
            console.warning("full body: \(error.code): \(error)")
            return self
        }
    }
}

extension OpenedNotification {
    /// Returns the text that the app would send for a choice, and perhaps a text.
    fileprivate func answer(_ choice: String, at now: Timestamp) throws -> String {
        let parts = choice.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let sealed = try answer(parts[0], text: parts.count > 1 ? parts[1] : nil, at: now) else {
            throw Failure.refused("the message was not sealed with --answerable, so nobody can answer it")
        }
        return sealed
    }
}

/// The options for the keys that open, and for what they may open.
struct ReceiverArguments: Sendable {
    let topic: TopicArgument
    let pushClass: PushClass
    let requestID: String?
    let duplicates: DuplicatePolicy?
    let deviceKeyFile: String?
    let providers: [String]
    let passesClear: Bool

    init(_ arguments: inout Arguments) {
        topic = TopicArgument(&arguments)
        pushClass = arguments.pushClass()
        requestID = arguments.value(
            "--request-id", "ID", help: "the notification request of the push; default one per message")
        duplicates = arguments.choice(
            "--duplicates", "POLICY",
            help:
                "a message shown before under another request: without sound, the fallback, or nothing, as also for withdrawn and dropped ones; default quiet"
        )
        deviceKeyFile = arguments.value(
            "--device-key-file", "FILE", .secret, help: "open with this key, instead of a store's: a file, fd:N or -")
        providers = arguments.values(
            "--provider", "KEY", help: "with --device-key-file: a provider to trust (pcs1…)")
        passesClear = arguments.flag(
            "--pass-clear", help: "show a push without ENCRYPTED_DATA as it is")
    }
}

extension CommandReceiver {
    fileprivate init(_ arguments: ReceiverArguments, _ store: StoreArguments, _ console: Console) throws {
        if let source = arguments.deviceKeyFile {
            self = .keyFile(try Self.opener(with: source, arguments, console))
            return
        }
        if !arguments.providers.isEmpty {
            throw Failure.usage(
                "--provider goes with --device-key-file", hint: "a store trusts what 'pushcrypt provider pin' was given"
            )
        }
        var policy = NotificationReceiver.Policy()
        policy.duplicates = arguments.duplicates ?? .quiet
        policy.hasFilteringEntitlement = arguments.duplicates == .suppress
        self = try .store(store, arguments.topic, console, policy) { keys in
            (keys, try console.openExtensionDatabase(of: store))
        }
    }

    private static func opener(
        with source: String, _ arguments: ReceiverArguments, _ console: Console
    ) throws -> Opener {
        guard let topic = try arguments.topic.topic() else {
            throw Failure.usage("--topic is missing", hint: TopicArgument.hint)
        }
        let providers = try arguments.providers.map { try ProviderPublicKey($0, inOption: "--provider") }
        guard providers.count <= ProviderTrust.maximumPins else {
            throw Failure.usage(
                "--provider is given \(providers.count) times", hint: "a phone trusts one provider, or two")
        }
        guard !providers.isEmpty else {
            throw Failure.usage("--provider is missing", hint: "add --provider with the key to trust (pcs1…)")
        }
        let key = try console.withKey(from: source) { try DeviceKey(text: $0) }
        return Opener(topic: topic, deviceKeys: [key], trust: ProviderTrust(pinned: providers))
    }
}

extension Arguments {
    /// `--push-type` of a received push.
    fileprivate mutating func pushClass() -> PushClass {
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
