internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// The arguments for the push to draw.
struct PreviewArguments: Sendable {
    let file: String
    let placeholder: PlaceholderArguments
    let topic: TopicArgument
    let store: StoreArguments
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

    /// What to do about a payload that fits a device of suite 1 only.
    var hint: String? {
        let limit = PushType.alert.maximumPayloadLength(.xwing)
        guard isSealedHere, let count = shown.opened?.payload.count, count > limit else { return nil }
        return
            "the payload has \(count) bytes, \(count - limit) more than can be sealed for a device with a post-quantum key (\(limit)); shorten it by that much before phones change over, or seal with --fit"
    }

    /// Reads the push, and receives it twice.
    init(_ arguments: PreviewArguments, _ console: Console) throws {
        var bytes = try console.read(arguments.file, limit: ReceivedPush.maximumLength)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        let topic = try arguments.topic.topic() ?? .example
        isSealedHere = try ReceivedPush(bytes).root[PayloadKeys.encryptedData] == nil
        if isSealedHere {
            let phone = TemporaryPhone(topic: topic)
            bytes = try phone.seal(bytes, arguments, console)
            (shown, warnings) = Self.deliver(bytes, by: .keyFile(phone.opener), console)
        } else {
            if let name = arguments.placeholder.given.first {
                throw Failure.usage(
                    "\(name) goes with a payload that is not sealed yet", hint: "leave it out for a sealed push")
            }
            (shown, warnings) = try Self.openWithoutTrace(bytes, arguments, console)
        }
        push = try ReceivedPush(bytes)
        length = bytes.count
        clear = IncomingPush(push).clear
        // Sealed to another phone's key, it does not open on this one.
        fallback = Self.deliver(bytes, by: .keyFile(TemporaryPhone(topic: topic).opener), console).delivery
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
        _ bytes: ContiguousArray<UInt8>, _ arguments: PreviewArguments, _ console: Console
    ) throws -> (Delivery, warnings: [String]) {
        let folder = try TemporaryFolder()
        return try folder.whileItExists { path in
            let receiver = try CommandReceiver.store(
                arguments.store, arguments.topic, console, NotificationReceiver.Policy()
            ) {
                (store) throws in try (store.copy(), .temporary(in: path))
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
        _ payload: ContiguousArray<UInt8>, _ arguments: PreviewArguments, _ console: Console
    ) throws -> ContiguousArray<UInt8> {
        var choice = arguments.placeholder.choice
        if arguments.store.isGiven {
            let store = try console.open(arguments.store)
            choice = choice.otherwise(try store.placeholder())
        }
        let sealer = Sealer(provider: provider, topic: topic, placeholder: try choice.placeholder())
        return try sealer.seal(Sealer.Message(payload), to: device.publicKey, at: console.timestamp).json
    }
}
