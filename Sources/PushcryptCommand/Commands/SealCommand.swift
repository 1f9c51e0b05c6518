internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let seal = Command(
        "seal", "turn an APNs payload into the one to send instead",
        discussion: [
            "Reads the payload that is sent today and writes one whose content is sealed for one device, behind a placeholder that the relay may read. Send the result unchanged, with the same headers.",
            "A payload that could not be opened or shown is refused with exit 65 and the reason; nothing is written then.",
            "--batch seals a line at a time: {\"to\": \"phone1\", \"payload\": {…}} becomes {\"to\": \"phone1\", \"payload\": {the sealed one}}. A line may have 'to-user' in the place of 'to', and its own topic, id, ttl (\"30d\", or seconds), placeholder (a title, or {title, sound, clear}) and push-type; the options are for lines that have none. Every other key is passed through as it is, but for white space between its tokens; one that the answer has itself is refused. A line that cannot be sealed becomes {\"error\": {\"code\", \"message\"}, \"line\": N} with the same keys, and the command ends with 1.",
            "A line that has failed may be given again as it is: where it has both an 'error' of code and message and a 'line' that is a number, the two are dropped. Alone, or with other values, they are passed through like any key, but to an answer that is an error: there they are its own.",
            "The answers are in the order of the input, and are written as soon as there is no more to read at once: between two pipes or queues the command runs on. SIGINT and SIGTERM end it once what was read is answered. --to-user, --to-all and --to-file seal one payload for many devices, with such lines as the result.",
            "--fit shortens texts of a payload that is too long, between characters and with an ellipsis, and says by how much. --overflow puts a body that is too long into a sealed file, to be stored below the address of --url before the push is sent: the phone fetches it, and shows the short body if it cannot.",
            "--json wraps the result in an object that also has its fingerprint, its message id, its bucket and its sizes.",
            "--log text writes 'pushcrypt: sealed fingerprint=… recipient_key_id=… message_id=… bytes=… bucket=…', --log json an object with the same names, and messages as objects too. The phone's journal and 'inspect' name the same message by the same fingerprint.",
        ],
        operands: [Operand("FILE", .input, .optional, help: "the payload as JSON; standard input otherwise")],
        options: [
            Option.sealRecipient, Option.sealSender, [.topic], Option.sealPlaceholder, Option.sealMessage,
            Option.sealAttachments, Option.sealFit, Option.sealMany,
            Option.sealEmission, [.log, .store, .passphraseFile, .json, .output, .force],
        ].flatMap { $0 },
        examples: [
            Example("pushcrypt seal --to phone1 --topic com.example.app payload.json"),
            Example(
                "pushcrypt seal --sender-key-file /run/secrets/sender --to pcr1… --topic com.example.app < payload.json",
                "in a container, without a store"),
            Example("pushcrypt seal --batch --topic com.example.app < messages > sealed", "a line for each message"),
            Example("pushcrypt seal --to-all --topic com.example.app payload.json", "one payload for every device"),
        ], run: runSeal)
}

/// Far more than any payload has; what is longer is no payload.
private let maximumInput = JSONDocument.defaultMaximumBytes

private func runSeal(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let recipients = try SealRecipients(invocation)
    guard case .one(let device) = recipients else {
        return try runSealMany(for: recipients, invocation, console)
    }
    for option in Option.sealMany where invocation.flag(option.name) {
        throw .usage("\(option.name) goes with many messages", hint: "leave it out, or add --batch")
    }
    return try runSeal(for: device, invocation, console)
}

private func runSeal(
    for device: String, _ invocation: Invocation, _ console: Console
) throws(CommandFailure) -> ExitCode {
    let source = try SealSource(invocation, console)
    let route = try SealRoute(source, to: device, as: "--to", invocation, console)
    let sealer = route.sealer(
        try Placeholder(PlaceholderChoice(invocation).otherwise(route.placeholder)))
    let options = try Sealer.Options(invocation, source)
    let emission = Emission(invocation)
    let headers = try RequestHeaders(invocation)
    let attachments = try console.readAttachments(invocation)
    let payload = try console.read(invocation.operand("FILE"), limit: maximumInput)
    var message = route.message(payload, options, at: console.timestamp)
    message.attachments = attachments
    let (sealed, file) = try sealer.seal(message, overflow: try SealOverflow(invocation))
    var output = ContiguousArray<UInt8>()
    do throws(SealError) {
        let request = try headers.request(for: sealed, device: route.device, by: sealer)
        output = invocation.flag("--json") ? report(sealed, emission, request, file) : emission.text(of: request)
    } catch {
        throw CommandFailure(error)
    }
    if invocation.flag("--json") || !options.isSentExactly { output.append(UInt8(ascii: "\n")) }
    try console.deliver(output.span, of: invocation)
    sealed.tellShortening(file, console)
    if invocation.flag("--log") { console.log("sealed", sealed.logFields) }
    return .done
}

/// What `--json` writes.
private func report(
    _ sealed: SealedPayload, _ emission: Emission, _ request: PushRequest, _ file: SealOverflow.File?
) -> ContiguousArray<UInt8> {
    var json = JSONWriter()
    json.object { json in
        emission.write(request, sealed.json, to: &json)
        sealed.writeFacts(to: &json, beside: emission)
        sealed.writeShortened(to: &json)
        file?.write(to: &json)
    }
    return json.bytes
}
