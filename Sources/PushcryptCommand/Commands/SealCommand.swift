internal import Pushcrypt
internal import PushcryptCommandKit

struct SealCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "Seals the content of a payload for one device, behind a placeholder that the relay may read. Send the result unchanged, with the same headers. A payload that could not be opened or shown is refused with exit 65.",
                "--emit request writes what 'pushcrypt send' reads, with each device's push token, --emit relay what 'send --relay' reads. --batch takes a message per line, {\"to\": \"phone1\", \"payload\": {…}}: see Docs/ProviderPipelines.md.",
            ],
            more: [
                "A line may have 'to_user' instead of 'to', and topic, sign_with, id, ttl, placeholder, push_type, withdraw, drop, answerable, from_name, collapse_id, priority, token, environment and grant instead of the options and of what the store knows; other keys are passed through, but keys of the answer are refused. A failed line becomes {\"error\": {\"code\", \"message\"}, \"line\": N} with its keys, and the command ends with 65, or with 1 if a line may succeed later. To retry a failed line, add its payload again; 'error' and 'line' are then ignored. --to-user, --to-all and --to-file write such lines too.",
                "--fit shortens texts with an ellipsis, and reports by how much. --overflow puts a body that is too long into a sealed file: store it below --url before you send the push. A phone that cannot fetch it shows the short body.",
                "--json adds the fingerprint, message id, bucket and sizes. --log text writes 'pushcrypt: sealed fingerprint=… recipient_key_id=… message_id=… bytes=… bucket=…' and, in a batch, line=…; --log json an object, with id and time, and messages as objects too. The phone's journal and 'inspect' show the same fingerprint.",
            ],
            examples: [
                Example("pushcrypt seal --to phone1 --topic com.example.app payload.json"),
                Example("pushcrypt seal --batch --emit request < messages | pushcrypt send > answers"),
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
        let (settings, target) = try prepare(for: device, console)
        // Far longer than any payload.
        let payload = try console.read(arguments.file, limit: JSONDocument.defaultMaximumBytes)
        let message = try target.seal(payload, settings, deviceGivenIn: "--to")
        var output: ContiguousArray<UInt8>
        if settings.emission.isRequest || arguments.isJSON {
            var json = JSONWriter()
            json.object { json in
                if settings.emission.isRequest { json.string(target.device.id ?? device, for: "to") }
                message.write(settings.emission, withFacts: arguments.isJSON, to: &json)
                if settings.emission == .request { target.device.address.write(to: &json) }
                if settings.emission == .relay { target.device.address.writeGrant(to: &json) }
            }
            output = json.bytes
        } else {
            output = settings.emission.text(of: message)
        }
        output.append(newline)
        try console.deliver(output.span, to: arguments.output)
        message.report(console)
        if arguments.log != nil { console.log("sealed", message.logFields) }
        return .done
    }

    /// Reads everything that the message needs from the store, which is closed again when this returns: the payload may be
    /// long in coming.
    private func prepare(
        for device: String, _ console: Console
    ) throws(CommandFailure) -> (SealSettings, SealTarget) {
        var settings = try SealSettings(arguments, console)
        let source = try SealSource(arguments, console)
        try settings.complete(from: source)
        return (settings, try source.target(to: device, in: "--to", settings, console))
    }
}
