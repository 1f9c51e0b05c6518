internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// What opens a push here: a store, as on a phone, or a key that is named.
enum OpenReceiver: Sendable {
    case keyFile(Opener)
    case store(NotificationReceiver)
    /// A store that is damaged: as on a phone, that is no reason to show nothing.
    case damagedStore(KeyStoreError)

    /// Opens a push; `isAwaited` as in `NotificationReceiver.receive`.
    func receive(
        _ push: PushToOpen, requestID: String?, at now: Timestamp, isAwaited: () -> Bool
    ) -> (delivery: Delivery, warnings: [String]) {
        let received: ReceivedPush
        let incoming: IncomingPush
        switch push.content {
        case .refused(let reason): return (push.fallback(reason), [])
        case .push(let push, let parts): (received, incoming) = (push, parts)
        }
        switch self {
        case .store(let receiver):
            let reception = receiver.receive(incoming, requestID: requestID, at: now, isAwaited: isAwaited)
            return (reception.delivery, reception.warnings)
        case _ where incoming.encryptedData == .absent && incoming.mayPassInTheClear:
            return (Delivery(passing: incoming), [])
        case .damagedStore(let error): return (push.fallback(Delivery.Reason(error)), [])
        case .keyFile(let opener):
            do throws(OpenError) {
                return (Delivery(opened: try opener.open(received.envelope(), at: now)), [])
            } catch {
                return (push.fallback(Delivery.Reason(error)), [])
            }
        }
    }
}

/// What was read, before anything is opened.
struct PushToOpen: Sendable {
    enum Content: Sendable {
        case push(ReceivedPush, IncomingPush)
        /// No push at all.
        case refused(Delivery.Reason)
    }

    let content: Content

    /// Takes what was read; nil for what is too long.
    init(_ bytes: ContiguousArray<UInt8>?, mayPassInTheClear: Bool) {
        guard let bytes else {
            content = .refused(
                Delivery.Reason(
                    code: OpenError.Code.malformedNotification.description,
                    description: "what was received is longer than \(ReceivedPush.maximumLength) bytes: no push is"))
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

    /// Names what stands in `ENCRYPTED_DATA`, if a text does.
    var fingerprint: EnvelopeFingerprint? {
        if case .push(let received, _) = content { received.fingerprint } else { nil }
    }

    /// What a person is shown when it does not open.
    func fallback(_ reason: Delivery.Reason) -> Delivery {
        if case .push(_, let incoming) = content { return Delivery(fallback: reason, for: incoming) }
        return Delivery(fallback: reason, for: nil)
    }
}

// MARK: As the command line says

extension OpenReceiver {
    init(_ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        if let source = invocation.value("--device-key-file") {
            self = .keyFile(try Self.keyFile(source, invocation, console))
        } else {
            self = try Self.store(invocation, console)
        }
    }

    private static func keyFile(
        _ source: String, _ invocation: Invocation, _ console: Console
    ) throws(CommandFailure) -> Opener {
        for name in ["--store", "--passphrase-file", "--request-id", "--duplicates"] where invocation.flag(name) {
            throw .usage("--device-key-file and \(name) exclude each other", hint: "a key file is used without a store")
        }
        if source == "-", invocation.operand("FILE") == "-" {
            throw .usage("the key and the push cannot both come from standard input", hint: "name a file, or fd:3")
        }
        guard let topic = try invocation.topic() else {
            throw .usage("--topic is missing", hint: Option.topicHint)
        }
        var senders: [SenderPublicKey] = []
        for text in invocation.values("--sender") {
            do throws(KeyError) {
                senders.append(try SenderPublicKey(text: text))
            } catch {
                throw CommandFailure(error, inOption: "--sender")
            }
        }
        guard !senders.isEmpty else {
            throw .usage("--sender is missing", hint: "add --sender with the key to trust (pcs1…)")
        }
        return Opener(
            topic: topic, deviceKeys: [try console.readDeviceKey(from: source)], trust: SenderTrust(pinned: senders))
    }

    private static func store(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> OpenReceiver {
        if invocation.flag("--sender") {
            throw .usage(
                "--sender goes with --device-key-file", hint: "a store trusts what 'pushcrypt sender trust' was given")
        }
        var policy = NotificationReceiver.Policy()
        policy.duplicates = invocation.value("--duplicates").flatMap(DuplicatePolicy.init(rawValue:)) ?? .quiet
        return try store(invocation, console, policy) { (store) throws(CommandFailure) in
            (store, try console.openReplayFile(invocation))
        }
    }

    /// Opens with a store's keys; `keeping` says where the messages are remembered, and what they change.
    static func store(
        _ invocation: Invocation, _ console: Console, _ policy: NotificationReceiver.Policy,
        keeping: (SQLiteKeyStore) throws(CommandFailure) -> (effects: any OpeningEffects, replay: ReplayFile)
    ) throws(CommandFailure) -> OpenReceiver {
        let topic = try invocation.topic()
        do throws(CommandFailure) {
            let store = try console.openStore(invocation)
            let defaultTopic = try withStoreErrors { () throws(KeyStoreError) in
                topic == nil ? try store.defaultTopic() : nil
            }
            let (effects, replay) = try keeping(store)
            return .store(
                NotificationReceiver(
                    keys: store, effects: effects, replay: replay, topic: topic, defaultTopic: defaultTopic,
                    policy: policy))
        } catch {
            guard let cause = error.cause as? KeyStoreError, cause.code == .corruptStore else { throw error }
            return .damagedStore(cause)
        }
    }
}
