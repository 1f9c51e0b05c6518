internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

extension Command {
    static let open = Command(
        "open", "turn a sealed payload into the notification a person is shown",
        discussion: [
            "Reads what a phone would receive, and writes what it would show: a banner on a terminal, JSON otherwise. A push that does not open ends in the fallback, with exit 65 and the reason on standard error.",
            "Opening a message may end a rotation: a pending device key becomes the active one, and a rotation of the sender's key that the message announces takes effect.",
        ],
        operands: [Operand("FILE", .input, .optional, help: "the received push as JSON; standard input otherwise")],
        options: [
            .topic,
            Option(
                "--request-id", "ID",
                help:
                    "the notification request that brought the push; the same message counts as the same request otherwise"
            ),
            Option(
                "--duplicates", "POLICY", .choice(DuplicatePolicy.allCases.map(\.rawValue)),
                help:
                    "what a message that was shown before becomes: quiet, without sound (the default), or the fallback"),
            Option(
                "--device-key-file", "FILE", .secret, help: "open with this key and use no store: a file, fd:N, or -"),
            Option(
                "--sender", "KEY", isRepeatable: true, help: "the sender to trust (pcs1…); only with --device-key-file"),
            Option(flag: "--banner", help: "draw the notification also where the output is no terminal"),
            .store, .passphraseFile, .json, .output, .force,
        ],
        examples: [
            Example("pushcrypt open --topic com.example.app sealed.json"),
            Example("pushcrypt open --json < sealed.json", "the notification as an object"),
        ], run: runOpen)
}

private func runOpen(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--banner", "--json")
    let receiver: Receiver =
        if let source = invocation.value("--device-key-file") {
            .keyFile(try keyFileOpener(source, invocation, console))
        } else {
            try storeReceiver(invocation, console)
        }
    let (delivery, warnings) = receiver.receive(try readPush(invocation, console), invocation, at: console.timestamp)
    for warning in warnings { console.warning(warning) }

    let showsBanner =
        invocation.flag("--banner")
        || console.showsOutput && !invocation.flag("--json") && !invocation.flag("--output")
    let output = showsBanner ? Banner(delivery, console).text : report(delivery, console)
    try console.deliver(ContiguousArray(output.utf8).span, of: invocation)
    guard case .fallback(let reason) = delivery.outcome else { return .done }
    console.error("\(reason.code): \(reason)")
    if reason.code == "no-topic" { console.hint(Option.topicHint) }
    return .refused
}

/// Reads the push, or as much of one that is too long as shows that it is.
private func readPush(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ContiguousArray<UInt8>? {
    do throws(CommandFailure) {
        return try console.read(invocation.operand("FILE"), limit: ReceivedPush.maximumLength)
    } catch {
        guard error.exit == .refused else { throw error }
        return nil
    }
}

// MARK: With a store or a key file

private enum Receiver {
    case keyFile(Opener)
    case store(NotificationReceiver)
    /// A store that is damaged: as on a phone, that is no reason to show nothing.
    case damagedStore(KeyStoreError)

    func receive(
        _ push: ContiguousArray<UInt8>?, _ invocation: Invocation, at now: Timestamp
    ) -> (Delivery, warnings: [String]) {
        guard let push else {
            let reason = Delivery.Reason(
                code: OpenError.Code.malformedNotification.description,
                description: "what was received is longer than \(ReceivedPush.maximumLength) bytes: no push is")
            return (Delivery(fallback: reason, for: nil), [])
        }
        switch self {
        case .store(let receiver):
            let reception = receiver.receive(push, requestID: invocation.value("--request-id"), at: now)
            return (reception.delivery, reception.warnings)
        case .damagedStore(let error):
            return (
                Delivery(fallback: Delivery.Reason(error), for: (try? ReceivedPush(push)).map(IncomingPush.init)), []
            )
        case .keyFile(let opener):
            do throws(OpenError) {
                return (Delivery(opened: try opener.open(push, at: now)), [])
            } catch {
                return (
                    Delivery(fallback: Delivery.Reason(error), for: (try? ReceivedPush(push)).map(IncomingPush.init)),
                    []
                )
            }
        }
    }
}

private func keyFileOpener(
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

private func storeReceiver(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Receiver {
    if invocation.flag("--sender") {
        throw .usage(
            "--sender goes with --device-key-file", hint: "a store trusts what 'pushcrypt sender trust' was given")
    }
    let topic = try invocation.topic()
    var policy = NotificationReceiver.Policy()
    policy.duplicates = invocation.value("--duplicates").flatMap(DuplicatePolicy.init(rawValue:)) ?? .quiet
    do throws(CommandFailure) {
        let store = try console.openStore(invocation)
        let setting = try withStoreErrors { () throws(KeyStoreError) in
            topic == nil ? try store.setting("topic") : nil
        }
        return .store(
            NotificationReceiver(
                keys: store, effects: store, replay: try console.openReplayFile(invocation), topic: topic,
                defaultTopic: setting.flatMap { try? Topic($0) }, policy: policy))
    } catch {
        guard let cause = error.storeError, cause.code == .corruptStore else { throw error }
        return .damagedStore(cause)
    }
}

// MARK: What is printed

private func report(_ delivery: Delivery, _ console: Console) -> String {
    var json = JSONWriter()
    json.object { json in
        switch delivery.outcome {
        case .opened(let opened):
            json.string("opened", for: "outcome")
            write(delivery, to: &json)
            // Without the keys of the attachments.
            json.object(for: "payload") { json in
                for (name, value) in opened.visibleMembers { json.raw(value, for: name) }
            }
            write(opened.attachments, opened.droppedAttachments, to: &json)
            json.string(opened.messageID.description, for: "message_id")
            json.string(opened.sender.description, for: "sender")
            json.integer(opened.sentAt.milliseconds, for: "sent_at")
            json.integer(opened.expiresAt.milliseconds, for: "expires_at")
        case .passed, .suppressed:
            json.string(delivery.code, for: "outcome")
            write(delivery, to: &json)
        case .fallback(let reason):
            json.string("fallback", for: "outcome")
            json.string(reason.code, for: "code")
            write(delivery, to: &json)
        }
    }
    return console.shown(json: json.bytes) + "\n"
}

private func write(_ delivery: Delivery, to json: inout JSONWriter) {
    let content = delivery.content
    json.string(content.title.description, for: "title")
    json.string(content.subtitle.description, for: "subtitle")
    json.string(content.body.description, for: "body")
    json.bool(content.sound != nil, for: "sound")
    json.bool(content.interruptionLevel == .passive, for: "passive")
}

private func write(_ attachments: [AttachmentReference], _ dropped: [AttachmentError], to json: inout JSONWriter) {
    if !attachments.isEmpty {
        json.array(for: "attachments") { json in
            for attachment in attachments { attachment.write(to: &json, includingKey: false) }
        }
    }
    if !dropped.isEmpty {
        json.array(for: "dropped_attachments") { json in
            for error in dropped { json.string(error.code.description) }
        }
    }
}
