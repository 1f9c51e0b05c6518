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

extension Option {
    /// The options for the recipient.
    static let sealRecipient = [
        Option("--to", "DEVICE", .name(.device), help: "the device: its id in the store, or its public key (pcr1…)"),
        Option("--to-user", "USER", .name(.user), help: "every device of a user in the store"),
        Option(flag: "--to-all", help: "every device in the store"),
        Option(
            "--to-file", "LIST", .input,
            help: "the devices of a file: in each line an id, a public key, or an object with 'to' or 'to-user'"),
        Option(
            flag: "--batch",
            help: "seal a message for each line of FILE: an object with 'to' or 'to-user', and 'payload'"),
    ]
}

/// The recipients that the command line names.
enum SealRecipients {
    case one(String)
    case user(String)
    case all
    case list(String)
    /// Those that the lines of a batch name.
    case lines

    fileprivate init(_ invocation: Invocation) throws(CommandFailure) {
        try invocation.atMostOne(of: "--to", "--to-user", "--to-all", "--to-file", "--batch")
        if let device = invocation.value("--to") {
            self = .one(device)
        } else if let user = invocation.value("--to-user") {
            self = .user(user)
        } else if let list = invocation.value("--to-file") {
            self = .list(list)
        } else if invocation.flag("--to-all") {
            self = .all
        } else if invocation.flag("--batch") {
            self = .lines
        } else {
            throw .usage("nobody says for whom it is", hint: "add --to with a device's id or its public key (pcr1…)")
        }
    }
}

private func runSeal(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let recipients = try SealRecipients(invocation)
    guard case .one(let device) = recipients else {
        return try runSealBatch(for: recipients, invocation, console)
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
    let settings = try SealSettings(invocation, source, console)
    let message = try source.seal(to: device, in: "--to", settings) { () throws(CommandFailure) in
        // Far longer than any payload.
        try console.read(invocation.operand("FILE"), limit: JSONDocument.defaultMaximumBytes)
    }
    var output: ContiguousArray<UInt8>
    if invocation.flag("--json") {
        var json = JSONWriter()
        json.object { message.write(settings.emission, withFacts: true, to: &$0) }
        output = json.bytes
    } else {
        output = settings.emission.text(of: message)
    }
    if invocation.flag("--json") || !settings.options.isSentExactly { output.append(newline) }
    try console.deliver(output.span, of: invocation)
    message.report(console)
    if invocation.flag("--log") { console.log("sealed", message.logFields) }
    return .done
}
