internal import Pushcrypt
internal import PushcryptKeyStore

extension Command {
    static let seal = Command(
        "seal", "turn an APNs payload into the one to send instead",
        discussion: [
            "Reads the payload that is sent today and writes one whose content is sealed for one device, behind a placeholder that the relay may read. Send the result unchanged, with the same headers.",
            "A payload that could not be opened or shown is refused with exit 65 and the reason; nothing is written then.",
            "--json wraps the result in an object that also has its message id, its bucket and its sizes.",
        ],
        operands: [Operand("FILE", .input, .optional, help: "the payload as JSON; standard input otherwise")],
        options: [
            Option(
                "--to", "DEVICE", isRequired: true, help: "the device: its id in the store, or its public key (pcr1…)"),
            Option("--from", "NAME", help: "the sender key in the store; otherwise the default one"),
            .topic,
            Option("--title", "TEXT", help: "the placeholder's title; otherwise the store's, otherwise 'New message'"),
            Option(
                "--sound", "NAME",
                help: "the placeholder's sound, or none; otherwise 'default' when the payload has a sound"),
            Option(
                "--clear", "FIELD", .choice(Placeholder.ClearField.allCases.map(\.rawValue)), isRepeatable: true,
                help: "a field of aps that the relay may read"),
            Option("--push-type", "TYPE", help: "alert (the default), background or voip"),
            Option(
                "--ttl", "TIME", .duration(1...Int(Freshness.maximumTimeToLive)),
                help: "how long the message may be shown after now; 30d otherwise"),
            Option("--id", "NAME", help: "names the message, the same in every retry, so that a phone shows it once"),
            Option(flag: "--exact", help: "the sender sends these very bytes: measure them, and end without a newline"),
            Option(
                "--sender-key-file", "FILE", .secret,
                help: "sign with this key and use no store: a file, fd:N, or - for standard input"),
            .store, .passphraseFile,
            .json, .output, .force,
        ],
        examples: [
            Example("pushcrypt seal --to phone1 --topic com.example.app payload.json"),
            Example(
                "pushcrypt seal --sender-key-file /run/secrets/sender --to pcr1… --topic com.example.app < payload.json",
                "in a container, without a store"),
        ], run: runSeal)
}

private func runSeal(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let plan: SealPlan =
        if let source = invocation.value("--sender-key-file") {
            try SealPlan(keyFile: source, invocation, console)
        } else {
            try SealPlan(store: try console.openStore(invocation), invocation, console)
        }
    let payload = try console.read(invocation.operand("FILE"), limit: SealPlan.maximumInput)
    let sealed: SealedPayload
    do throws(SealError) {
        let sealer = Sealer(sender: plan.sender, topic: plan.topic, placeholder: plan.placeholder)
        sealed = try sealer.seal(payload, to: plan.recipient, at: console.timestamp, options: plan.options)
    } catch {
        throw CommandFailure(error)
    }
    var output = sealed.json
    if invocation.flag("--json") { output = report(sealed) }
    if invocation.flag("--json") || !plan.options.isSentExactly { output.append(UInt8(ascii: "\n")) }
    try console.deliver(output.span, of: invocation)
    return .done
}

private func report(_ sealed: SealedPayload) -> ContiguousArray<UInt8> {
    var json = JSONWriter()
    json.object { json in
        json.raw(sealed.json, for: "payload")
        json.string(sealed.messageID.description, for: "message_id")
        json.string(sealed.pushType.description, for: "push_type")
        json.integer(sealed.json.count, for: "bytes")
        json.integer(sealed.widestLength, for: "widest_bytes")
        json.integer(sealed.pushType.maximumPushLength, for: "limit")
        json.integer(sealed.envelope.innerLength, for: "bucket")
    }
    return json.bytes
}

/// Everything one seal needs, from a store or from a key file.
private struct SealPlan {
    /// Far more than any payload has; what is longer is no payload.
    static let maximumInput = JSONDocument.defaultMaximumBytes

    let sender: SenderKey
    let topic: Topic
    let recipient: DevicePublicKey
    let placeholder: Placeholder
    let options: Sealer.Options

    init(store: SQLiteKeyStore, _ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        let to = invocation.requiredValue("--to")
        let device = to.hasPrefix(DeviceInput.keyPrefix) ? nil : try storedDevice(to, in: store)
        let (record, key) = try withStoreErrors { () throws(KeyStoreError) in
            try store.senderKey(named: invocation.value("--from"))
        }
        topic = try store.resolveTopic(
            invocation,
            bound: [("sender \(quoted(record.name))", record.topic), ("device \(quoted(to))", device?.topic)])
        sender = key
        recipient = if let device { device.publicKey } else { try publicKey(to) }
        let now = console.timestamp
        let (title, announcing) = try withStoreErrors { () throws(KeyStoreError) in
            (
                try store.setting("title"),
                try store.announcements(for: key.publicKey, to: device?.pinnedSender, now: now)
            )
        }
        placeholder = try makePlaceholder(invocation, title: title)
        options = try makeOptions(invocation, announcing: announcing)
    }

    init(keyFile source: String, _ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        for name in ["--store", "--from", "--passphrase-file"] where invocation.flag(name) {
            throw .usage("--sender-key-file and \(name) exclude each other", hint: "a key file is used without a store")
        }
        if source == "-", invocation.operand("FILE") == "-" {
            throw .usage("the key and the payload cannot both come from standard input", hint: "name a file, or fd:3")
        }
        let to = invocation.requiredValue("--to")
        guard to.hasPrefix(DeviceInput.keyPrefix) else {
            throw .usage("--to must be a public key (pcr1…) when there is no store to look \(quoted(to)) up in")
        }
        guard let topic = try invocation.topic() else {
            throw .usage("--topic is missing", hint: Option.topicHint)
        }
        sender = try console.readSenderKey(from: source)
        self.topic = topic
        recipient = try publicKey(to)
        placeholder = try makePlaceholder(invocation, title: nil)
        options = try makeOptions(invocation, announcing: [])
    }
}

private func publicKey(_ text: String) throws(CommandFailure) -> DevicePublicKey {
    do throws(KeyError) {
        return try DevicePublicKey(text: text)
    } catch {
        throw CommandFailure(error, inOption: "--to")
    }
}

private func storedDevice(_ id: String, in store: SQLiteKeyStore) throws(CommandFailure) -> DeviceRecord {
    let device = try withStoreErrors { () throws(KeyStoreError) in try store.device(id) }
    guard let device else {
        throw .usage(
            "there is no device \(quoted(id)) in the store",
            hint: "pushcrypt device list shows them; pushcrypt device add adds one")
    }
    return device
}

private func makePlaceholder(_ invocation: Invocation, title: String?) throws(CommandFailure) -> Placeholder {
    let sound: Placeholder.Sound =
        switch invocation.value("--sound") {
        case nil: .matching
        case "none": .silent
        case let name?: .named(name)
        }
    do throws(SealError) {
        return try Placeholder(
            title: invocation.value("--title") ?? title ?? Placeholder.standardTitle, sound: sound,
            clearFields: Set(invocation.values("--clear").compactMap(Placeholder.ClearField.init(rawValue:))))
    } catch {
        throw CommandFailure(error)
    }
}

private func makeOptions(
    _ invocation: Invocation, announcing: [RotationStatement]
) throws(CommandFailure) -> Sealer.Options {
    var options = Sealer.Options()
    if let name = invocation.value("--push-type") {
        do throws(SealError) {
            options.pushType = try PushType(name)
        } catch {
            // A type of Apple's says something about the payload; any other word is a slip on the command line.
            guard PushType.readByTheSystem.contains(name) else { throw .usage("--push-type: \(error)") }
            throw CommandFailure(error)
        }
    }
    options.messageName = invocation.value("--id")
    if let seconds = invocation.seconds("--ttl") { options.timeToLive = UInt32(clamping: seconds) }
    options.announcing = announcing
    options.isSentExactly = invocation.flag("--exact")
    return options
}
