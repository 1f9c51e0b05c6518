internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

extension Command {
    static let preview = Command(
        "preview", "draw a notification: as the relay sees it, as the phone shows it, and the fallback",
        about: """
            A payload is sealed with temporary keys, without a store; with --store, the placeholder is the store's. A sealed push is opened as new with the store's keys, and changes nothing: a later 'open' treats it as new, and no rotation takes effect. If it does not open, the fallback is drawn, standard error has the reason, and the exit code is still 0.
            Texts are drawn as in a banner and in the expanded view, with the actions of --categories. Localised texts appear as their keys, attachments as their types; nothing is fetched. SVG and HTML are light or dark as the reader's screen, and need no script, font or picture.
            """,
        examples: [
            "pushcrypt preview payload.json -o payload.html",
            Example(
                "pushcrypt preview --categories categories.json payload.json -o payload.svg", "with its actions"),
            Example("pushcrypt preview --store phone sealed.json", "on a terminal, with the phone's keys"),
        ]
    ) { a in
        let categories = a.value(
            "--categories", "FILE", .input, help: "the app's categories as JSON")
        let (placeholder, topic, store) = (PlaceholderArguments(&a), TopicArgument(&a), StoreArguments(&a))
        let output = OutputArguments(
            &a, help: "write to a file: its name ends in .svg, .html or .txt, and says what; default text")
        let file = a.optionalInput("FILE", help: "the payload or sealed push; default standard input")
        return { console in
            let path = output.file ?? ".txt"
            guard let ending = [".svg", ".html", ".txt"].first(where: path.hasSuffix) else {
                throw Failure.usage(
                    "the name \(quoted(path)) does not say what to write", hint: "let it end in .svg, .html or .txt")
            }
            let categories = try categories.map { try console.readCategories($0) }
            let push = try PreviewedPush(file, placeholder, topic, store, console)
            let scene = Scene(push, categories: categories)
            let text = ending == ".svg" ? SVG(scene).text : ending == ".html" ? SVG(scene).page : scene.text(console)
            try console.deliver(secret: text, to: output)
            push.report(console)
        }
    }
}

extension Console {
    fileprivate func readCategories(_ path: String) throws -> CategorySet {
        let json = try read(path, limit: JSONDocument.defaultMaximumBytes)
        do { return try CategorySet(json: json) } catch {
            throw Failure.refused("\(quoted(path)): \(error.code): \(error)")
        }
    }
}

extension PreviewedPush {
    /// Reports the receiver's warnings, and the reason if the push does not open.
    fileprivate func report(_ console: Console) {
        for warning in warnings { console.warning(warning) }
        if let hint { console.hint(hint) }
        guard case .fallback(let reason) = shown.outcome else { return }
        console.warning("the push does not open: \(reason.code): \(reason)")
        if reason.code == Delivery.Reason.noTopic.code { console.hint(TopicArgument.hint) }
    }
}

/// A push, and what a receiver delivers if it can open it, and if it cannot.
struct PreviewedPush {
    /// The push as the relay sees it.
    let push: ReceivedPush
    /// The length of its JSON in bytes.
    let length: Int
    /// Whether it was sealed for this drawing alone, with discarded keys.
    let isSealedHere: Bool
    /// The content of the push before it is opened.
    let clear: NotificationContent
    /// The delivery on the phone.
    let shown: Delivery
    /// The delivery on a phone that cannot open it.
    let fallback: Delivery
    /// The receiver's warnings for the developer.
    let warnings: [String]

    /// The advice for a payload that fits a device of suite 1 only.
    var hint: String? {
        let limit = PushType.alert.maximumPayloadLength(.xwing)
        guard isSealedHere, let count = shown.opened?.payload.count, count > limit else { return nil }
        return
            "the payload has \(count) bytes, \(count - limit) more than can be sealed for a device with a post-quantum key (\(limit)); shorten it by that much before phones change over, or seal with --fit"
    }

    /// Reads the push, and receives it twice.
    init(
        _ file: String, _ placeholder: PlaceholderArguments, _ topic: TopicArgument, _ store: StoreArguments,
        _ console: Console
    ) throws {
        var bytes = try console.read(file, limit: ReceivedPush.maximumLength)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        let app = try topic.topic() ?? .example
        isSealedHere = try ReceivedPush(bytes).root[PayloadKeys.encryptedData] == nil
        if isSealedHere {
            let phone = TemporaryPhone(topic: app)
            bytes = try phone.seal(bytes, placeholder.choice, store, console)
            (shown, warnings) = Self.deliver(bytes, by: .keyFile(phone.opener), console)
        } else {
            if let name = placeholder.given.first {
                throw Failure.usage(
                    "\(name) goes with a payload that is not sealed yet", hint: "leave it out for a sealed push")
            }
            (shown, warnings) = try Self.openWithoutTrace(bytes, topic, store, console)
        }
        push = try ReceivedPush(bytes)
        length = bytes.count
        clear = IncomingPush(push).clear
        // Sealed to another phone's key, it does not open on this one.
        fallback = Self.deliver(bytes, by: .keyFile(TemporaryPhone(topic: app).opener), console).delivery
    }

    // MARK: Receiving

    /// Receives the push as a phone does.
    private static func deliver(
        _ bytes: ContiguousArray<UInt8>, by receiver: CommandReceiver, _ console: Console
    ) -> (delivery: Delivery, warnings: [String]) {
        receiver.receive(
            PushToOpen(bytes, mayPassInTheClear: false), as: .alert, requestID: nil, at: console.timestamp)
    }

    /// Opens with a store's keys, and changes nothing: the replay guard is a temporary one, and no certificate is kept.
    private static func openWithoutTrace(
        _ bytes: ContiguousArray<UInt8>, _ topic: TopicArgument, _ store: StoreArguments, _ console: Console
    ) throws -> (Delivery, warnings: [String]) {
        try TemporaryFolder().whileItExists { path in
            let receiver = try CommandReceiver.store(store, topic, console, NotificationReceiver.Policy()) {
                (keys) throws in try (keys.copy(), .temporary(in: path))
            }
            return deliver(bytes, by: receiver, console)
        }
    }
}

/// A provider and a phone with temporary keys.
private struct TemporaryPhone {
    private let provider = ProviderKey()
    private let device = DeviceKey()
    private let topic: Topic

    init(topic: Topic) { self.topic = topic }

    var opener: Opener {
        Opener(topic: topic, deviceKeys: [device], trust: ProviderTrust(pinned: [provider.publicKey]))
    }

    func seal(
        _ payload: ContiguousArray<UInt8>, _ given: PlaceholderChoice, _ store: StoreArguments, _ console: Console
    ) throws -> ContiguousArray<UInt8> {
        let choice = store.isGiven ? given.otherwise(try console.open(store).placeholder()) : given
        let sealer = Sealer(provider: provider, topic: topic, placeholder: try choice.placeholder())
        return try sealer.seal(Sealer.Message(payload), to: device.publicKey, at: console.timestamp).json
    }
}
