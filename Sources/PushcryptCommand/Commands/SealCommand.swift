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
            Option.sealRecipient, Option.sealSender, [.topic], Option.sealPlaceholder, Option.sealMessage,
            Option.sealAttachments,
            [
                Option(
                    flag: "--log", help: "write one line without any content to standard error, for the provider's log")
            ],
            [.store, .passphraseFile, .json, .output, .force],
        ].flatMap { $0 },
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
    let route = try SealRoute(invocation, console)
    let placeholder = try Placeholder(invocation, storeTitle: route.title)
    let options = try Sealer.Options(invocation)
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
