internal import Pushcrypt
internal import PushcryptCommandKit

/// `seal`.
struct SealCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Reads an APNs payload and writes one whose content is sealed for one device, behind a placeholder that the relay may read. Send the result unchanged, with the same headers.",
                "A payload that could not be opened or shown is refused with exit 65 and the reason; nothing is written then.",
                "--batch seals one message per line: {\"to\": \"phone1\", \"payload\": {…}} becomes {\"to\": \"phone1\", \"payload\": {the sealed one}}. A line may have 'to-user' instead of 'to', and its own topic, id, ttl (\"30d\", or seconds), placeholder (a title, or {title, sound, clear}) and push-type; the options are for lines without them. Every other key is passed through unchanged except for white space between its tokens; a key that the answer itself has is refused. A line that cannot be sealed becomes {\"error\": {\"code\", \"message\"}, \"line\": N} with the same keys, and the command ends with 1.",
                "A line that failed may be given again as it is: if it has both an 'error' with code and message and a 'line' that is a number, the two are dropped. Alone, or with other values, they are passed through like any key, except to an answer that is an error.",
                "The answers are in the order of the input, and are written as soon as no more input is available at once, so the command can run between two pipes or queues. SIGINT and SIGTERM end it once everything read is answered. --to-user, --to-all and --to-file seal one payload for many devices, and write such lines.",
                "--fit shortens texts of a payload that is too long, between characters and with an ellipsis, and reports by how much. --overflow puts a body that is too long into a sealed file. Store it below the address of --url before the push is sent: the phone fetches it, and shows the short body if it cannot.",
                "--json wraps the result in an object that also has its fingerprint, its message id, its bucket and its sizes.",
                "--log text writes 'pushcrypt: sealed fingerprint=… recipient_key_id=… message_id=… bytes=… bucket=…'; --log json writes an object with the same names, and messages as objects too. The phone's journal and 'inspect' identify the same message by the same fingerprint.",
            ],
            examples: [
                Example("pushcrypt seal --to phone1 --topic com.example.app payload.json"),
                Example(
                    "pushcrypt seal --sender-key-file /run/secrets/sender --to pcr1… --topic com.example.app < payload.json",
                    "in a container, without a store"),
                Example(
                    "pushcrypt seal --batch --topic com.example.app < messages > sealed", "one line for each message"),
                Example("pushcrypt seal --to-all --topic com.example.app payload.json", "one payload for every device"),
            ])
    }

    private let arguments: SealArguments

    init(_ arguments: inout Arguments) { self.arguments = SealArguments(&arguments) }

    func configure(_ console: inout Console) {
        if let log = arguments.log { console.messageFormat = log.messages }
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let recipients = try arguments.recipients.recipients()
        guard case .one(let device) = recipients else { return try sealBatch(for: recipients, arguments, console) }
        if let name = arguments.optionForMany {
            throw .usage("\(name) goes with many messages", hint: "leave it out, or add --batch")
        }
        return try seal(for: device, console)
    }

    private func seal(for device: String, _ console: Console) throws(CommandFailure) -> ExitCode {
        let settings = try SealSettings(arguments, console)
        let plan = try plan(for: device, settings, console)
        // Far longer than any payload.
        let payload = try console.read(arguments.file, limit: JSONDocument.defaultMaximumBytes)
        let message = try plan.seal(payload, deviceGivenIn: "--to")
        var output: ContiguousArray<UInt8>
        if arguments.isJSON {
            var json = JSONWriter()
            json.object { message.write(settings.emission, withFacts: true, to: &$0) }
            output = json.bytes
        } else {
            output = settings.emission.text(of: message)
        }
        if arguments.isJSON || !settings.options.isSentExactly { output.append(newline) }
        try console.deliver(output.span, to: arguments.output)
        message.report(console)
        if arguments.log != nil { console.log("sealed", message.logFields) }
        return .done
    }

    /// Reads everything that the message needs from the store, which is closed again when this returns: the payload may be
    /// long in coming.
    private func plan(
        for device: String, _ settings: SealSettings, _ console: Console
    ) throws(CommandFailure) -> SealPlan {
        let source = try SealSource(arguments, isBrief: true, console)
        var settings = settings
        try settings.complete(from: source)
        return try source.plan(to: device, in: "--to", settings)
    }
}
