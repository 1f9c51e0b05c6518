internal import Pushcrypt

extension Command {
    static let seal = Command(
        "seal", "turn an APNs payload into the one to send instead",
        discussion: [
            "Reads the payload that is sent today and writes one whose content is sealed for one device, behind a placeholder that the relay may read. Send the result unchanged, with the same headers.",
            "A payload that could not be opened or shown is refused with exit 65 and the reason; nothing is written then.",
            "--json wraps the result in an object that also has its fingerprint, its message id, its bucket and its sizes.",
            "--log writes 'pushcrypt: sealed fingerprint=… recipient_key_id=… message_id=… bytes=… bucket=…'. The phone's journal and 'inspect' name the same message by the same fingerprint.",
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
            Option(
                "--attachment", "REF", .secret, isRepeatable: true,
                help: "a sealed file, by the reference of 'attach seal': a file, fd:N, or -; at most 8"),
            Option(
                "--attachment-url", "URL", isRepeatable: true,
                help: "where it is fetched from; the first is for the first attachment without a url, and so on"),
            Option(flag: "--log", help: "write one line without any content to standard error, for the provider's log"),
            .store, .passphraseFile, .json, .output, .force,
        ],
        examples: [
            Example("pushcrypt seal --to phone1 --topic com.example.app payload.json"),
            Example(
                "pushcrypt seal --sender-key-file /run/secrets/sender --to pcr1… --topic com.example.app < payload.json",
                "in a container, without a store"),
        ], run: runSeal)
}

/// Far more than any payload has; what is longer is no payload.
private let maximumInput = JSONDocument.defaultMaximumBytes

private func runSeal(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let route = try route(invocation, console)
    let placeholder = try makePlaceholder(invocation, title: route.title)
    let options = try makeOptions(invocation)
    let attachments = try console.readAttachments(invocation)
    let payload = try console.read(invocation.operand("FILE"), limit: maximumInput)
    let sealed = try route.seal(
        payload, attachments: attachments, placeholder: placeholder, options: options, at: console.timestamp)
    var output = sealed.json
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object(sealed.write)
        output = json.bytes
    }
    if invocation.flag("--json") || !options.isSentExactly { output.append(UInt8(ascii: "\n")) }
    try console.deliver(output.span, of: invocation)
    if invocation.flag("--log") { console.log(sealed.logLine) }
    return .done
}

private func route(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> SealRoute {
    let to = invocation.requiredValue("--to")
    guard let source = invocation.value("--sender-key-file") else {
        let store = try console.openStore(invocation)
        return try SealRoute(store: store, to: to, as: "--to", from: invocation.value("--from"), invocation, console)
    }
    for name in ["--store", "--from", "--passphrase-file"] where invocation.flag(name) {
        throw .usage("--sender-key-file and \(name) exclude each other", hint: "a key file is used without a store")
    }
    return try SealRoute(keyFile: source, to: to, as: "--to", invocation, console)
}

private func makePlaceholder(_ invocation: Invocation, title: String?) throws(CommandFailure) -> Placeholder {
    let sound: Placeholder.Sound =
        switch invocation.value("--sound") {
        case nil: .matching
        case "none": .silent
        case let name?: .named(name)
        }
    return try Placeholder.checked(
        title: invocation.value("--title") ?? title, sound: sound,
        clearFields: Set(invocation.values("--clear").compactMap(Placeholder.ClearField.init(rawValue:))))
}

private func makeOptions(_ invocation: Invocation) throws(CommandFailure) -> Sealer.Options {
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
    options.isSentExactly = invocation.flag("--exact")
    return options
}
