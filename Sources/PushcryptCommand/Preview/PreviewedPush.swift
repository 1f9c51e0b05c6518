internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// One push, and what becomes of it: what a receiver delivers when it can open it, and when it cannot.
struct PreviewedPush {
    /// As the relay has it.
    let push: ReceivedPush
    /// The bytes of its JSON.
    let length: Int
    /// Whether it was sealed for this drawing alone, with keys that nobody has.
    let isSealedHere: Bool
    /// What the push would show by itself.
    let clear: NotificationContent
    /// What the phone shows.
    let shown: Delivery
    /// What a phone shows that cannot open it.
    let fallback: Delivery
    /// What the receiver tells the developer.
    let warnings: [String]

    /// Reads what the command line names, and has it received twice.
    init(_ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        let input = try console.read(invocation.operand("FILE"), limit: ReceivedPush.maximumLength)
        let trimmed = input.last == UInt8(ascii: "\n") ? ContiguousArray(input.dropLast()) : input
        let isSealed = try Self.parsed(trimmed).root[PayloadKeys.encryptedData] != nil
        if isSealed {
            for option in Option.sealPlaceholder + Option.sealAttachments where invocation.flag(option.name) {
                throw .usage(
                    "\(option.name) goes with a payload that is not sealed yet", hint: "leave it out for a sealed push")
            }
            let (shown, warnings) = try Self.openWithoutTrace(trimmed, invocation, console)
            try self.init(trimmed, isSealedHere: false, shown, warnings, invocation, console)
        } else {
            let phone = ThrowAwayPhone(topic: try invocation.topicOrExample())
            let sealed = try phone.seal(trimmed, invocation, console)
            let (shown, warnings) = Self.deliver(sealed, by: .keyFile(phone.opener), console)
            try self.init(sealed, isSealedHere: true, shown, warnings, invocation, console)
        }
    }

    private init(
        _ bytes: ContiguousArray<UInt8>, isSealedHere: Bool, _ shown: Delivery, _ warnings: [String],
        _ invocation: Invocation, _ console: Console
    ) throws(CommandFailure) {
        push = try Self.parsed(bytes)
        length = bytes.count
        self.isSealedHere = isSealedHere
        clear = IncomingPush(push).clear
        self.shown = shown
        self.warnings = warnings
        // Sealed to another phone's key, it does not open on this one.
        let other = ThrowAwayPhone(topic: try invocation.topicOrExample())
        fallback = Self.deliver(bytes, by: .keyFile(other.opener), console).delivery
    }

    private static func parsed(_ bytes: ContiguousArray<UInt8>) throws(CommandFailure) -> ReceivedPush {
        do throws(OpenError) { return try ReceivedPush(bytes) } catch { throw CommandFailure(error) }
    }

    // MARK: Receiving

    /// What decides on a phone decides here.
    private static func deliver(
        _ bytes: ContiguousArray<UInt8>, by receiver: OpenReceiver, _ console: Console
    ) -> (delivery: Delivery, warnings: [String]) {
        OpenSession(
            receiver: receiver, push: PushToOpen(bytes, mayPassInTheClear: false), requestID: nil, console: console
        ).run()
    }

    /// Opens with a store's keys, and remembers nothing: the replay guard is one of its own, and no rotation goes on.
    private static func openWithoutTrace(
        _ bytes: ContiguousArray<UInt8>, _ invocation: Invocation, _ console: Console
    ) throws(CommandFailure) -> (Delivery, warnings: [String]) {
        let folder = try TemporaryFolder()
        return try folder.whileItExists { (path) throws(CommandFailure) in
            let receiver = try OpenReceiver.store(invocation, console, NotificationReceiver.Policy()) {
                (_) throws(CommandFailure) in
                let replay = try withStoreErrors { () throws(KeyStoreError) in
                    try ReplayFile.create(in: path, floor: Timestamp(milliseconds: 0))
                }
                return (NoEffects(), replay)
            }
            return deliver(bytes, by: receiver, console)
        }
    }
}

/// Nothing is kept.
private struct NoEffects: OpeningEffects {
    func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) {}
}

/// A provider and a phone with keys of their own, which go when the drawing is done.
private struct ThrowAwayPhone {
    private let sender = SenderKey()
    private let device = DeviceKey()
    private let topic: Topic

    init(topic: Topic) { self.topic = topic }

    var opener: Opener {
        Opener(topic: topic, deviceKeys: [device], trust: SenderTrust(pinned: [sender.publicKey]))
    }

    func seal(
        _ payload: ContiguousArray<UInt8>, _ invocation: Invocation, _ console: Console
    ) throws(CommandFailure) -> ContiguousArray<UInt8> {
        var choice = PlaceholderChoice(invocation)
        if invocation.flag("--store") || invocation.flag("--passphrase-file") {
            let store = try console.openStore(invocation)
            choice = choice.otherwise(try withStoreErrors { () throws(KeyStoreError) in try store.placeholder() })
        }
        let sealer = Sealer(sender: sender, topic: topic, placeholder: try Placeholder(choice))
        let attachments = try console.readAttachments(invocation)
        do throws(SealError) {
            return try sealer.seal(
                payload, attachments: attachments, to: device.publicKey, at: console.timestamp
            ).json
        } catch {
            throw CommandFailure(error)
        }
    }
}
