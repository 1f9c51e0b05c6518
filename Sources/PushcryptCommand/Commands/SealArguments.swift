internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

struct SealArguments: Sendable {
    /// The recipients that the command line names.
    enum Recipients: Sendable {
        /// Nil for a device without a key.
        case one(String?)
        case user(String)
        case all
        case list(String)
        /// Those that the lines of a batch name.
        case lines
    }

    private enum UnencryptedPolicy: String, CaseIterable { case refuse, pass }

    let file: String
    /// Nil if none are given.
    let recipients: Recipients?
    let message: Message
    let form: SealForm
    let batch: BatchArguments
    let log: LogFormat?
    let output: OutputArguments
    private let topic: TopicArgument
    private let pushType: String?
    private let timeToLive: Int?
    private let attachments: AttachmentArguments
    private let overflow: String?
    private let url: String?
    private let signer: String?
    private let keyFile: String?
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        var message = Message(content: Sealer.Message([]))
        var form = SealForm()
        arguments.group("for whom, and what")
        let recipients = Self.recipients(&arguments)
        topic = TopicArgument(&arguments, help: "the app, such as com.example.app, if no key has one")
        pushType = arguments.value(
            "--push-type", "TYPE", .known { ["alert", "background", "voip"] },
            help: "alert, background or voip; default alert")
        timeToLive = arguments.seconds(
            "--ttl", "TIME", 0...Int(Freshness.maximumTimeToLive.seconds),
            help: "how long it may be shown; default the store's, or 30d")
        message.content.name = arguments.value(
            "--id", "NAME", help: "its name, the same in every retry: it is shown once")
        arguments.group("for whom, and what", isAdvanced: true)
        message.content.withdrawing = arguments.values(
            "--withdraw", "NAME",
            help: "the name (--id) of an earlier message that phones take off the screen; at most 64")
        message.content.isDropped = arguments.flag(
            "--drop", help: "show nothing, or a quiet notification where Apple does not allow that")
        message.content.isAnswerable = arguments.flag(
            "--answerable", help: "let the user answer, for 'answer open': never use the --id for another payload")
        arguments.group("what Apple may read", isAdvanced: true)
        message.placeholder = PlaceholderArguments(&arguments).choice
        arguments.group("the output")
        form.emission = arguments.choice("--emit", "FORM", help: "the form; default payload") ?? .payload
        arguments.group("the output", isAdvanced: true)
        message.collapseName = arguments.value(
            "--collapse-id", "NAME",
            help:
                "with --emit request: pushes of this name replace each other; otherwise a retry replaces its first copy"
        )
        message.priority = arguments.value(
            "--priority", "N", .choice(PushRequest.Priority.allCases.map { "\($0.rawValue)" }),
            help: "with --emit request: when APNs delivers; default 5 for a background push, 10 for others"
        ).flatMap { Int($0) }.flatMap(PushRequest.Priority.init(rawValue:))
        arguments.group("the output")
        form.hasFacts = arguments.json()
        output = OutputArguments(&arguments)
        arguments.group("long texts", isAdvanced: true)
        message.content.fitting = arguments.values(
            "--fit", "TEXT", .choice(AlertText.allCases.map { $0.rawValue }),
            help: "shorten this text if the payload is too long, in the order given"
        ).compactMap(AlertText.init(rawValue:))
        overflow = arguments.value(
            "--overflow", "DIR", .folder, help: "put a body that is too long into a sealed file in this folder")
        url = arguments.value(
            "--url", "PREFIX", help: "with --overflow: the folder's address, to which names of files are appended")
        arguments.option("--url", needs: "--overflow", hint: "add --overflow with a folder for the files")
        // With a file for the whole body, the body in the push may be cut.
        if message.content.fitting.isEmpty, overflow != nil { message.content.fitting = [.body] }
        arguments.group("files and people", isAdvanced: true)
        attachments = AttachmentArguments(&arguments)
        arguments.group("the key that signs", isAdvanced: true)
        signer = arguments.providerName()
        keyFile = arguments.value(
            "--signing-key-file", "FILE", .secret,
            help: "the key that signs, instead of a store's: a signing key file or a provider's key file, fd:N or -")
        arguments.group("many messages", isAdvanced: true)
        batch = BatchArguments(&arguments)
        let policy: UnencryptedPolicy? = arguments.choice(
            "--unencrypted", "WHAT",
            help: "a message for a device without a key ('to' is null, or no recipient is given); default refuse")
        form.passesUnencrypted = policy == .pass
        log = arguments.log()
        arguments.group(nil)
        store = StoreArguments(&arguments)
        arguments.keyFile("--signing-key-file", excludesStoreAnd: ["--sign-with"])
        arguments.option(
            "--answerable", excludes: ["--signing-key-file"], hint: "a store has the secret that opens answers")
        (self.message, self.form) = (message, form)
        self.recipients = recipients ?? (form.passesUnencrypted ? .one(nil) : nil)
        file = arguments.optionalInput("FILE", help: "the payload; default standard input")
    }

    private static func recipients(_ arguments: inout Arguments) -> Recipients? {
        let device = arguments.value("--to", "DEVICE", help: "a device's id, or its public key (pcr1…)")
        let user = arguments.value("--to-user", "USER", help: "every device of a user")
        let isEveryone = arguments.flag("--to-all", help: "every device in the store")
        let list = arguments.value("--to-file", "LIST", .input, help: "the devices in a file, one per line")
        let isBatch = arguments.flag("--batch", help: "seal a message for each line of FILE")
        arguments.atMostOne(of: "--to", "--to-user", "--to-all", "--to-file", "--batch")
        return device.map { .one($0) } ?? user.map(Recipients.user) ?? list.map(Recipients.list)
            ?? (isEveryone ? .all : isBatch ? .lines : nil)
    }

    // MARK: Values

    /// Reads the options that apply to every message.
    func settings(_ console: Console) throws -> SealSettings {
        if !form.emission.isRequest,
            let name = message.collapseName != nil ? "--collapse-id" : message.priority != nil ? "--priority" : nil
        {
            throw Failure.usage("\(name) goes with --emit request", hint: "add --emit request, or leave \(name) out")
        }
        if form.passesUnencrypted, form.emission == .relay {
            throw Failure.usage("a relay takes nothing that is not sealed", hint: "leave --unencrypted out")
        }
        var message = message
        message.topic = try topic.topic(console)
        if let pushType {
            do { message.content.pushType = try PushType(pushType) } catch {
                throw Failure.usage("--push-type: \(error)")
            }
            if !form.passesUnencrypted { _ = try message.content.pushType.sealableClass() }
        }
        if let timeToLive { message.content.timeToLive = .seconds(UInt64(clamping: timeToLive)) }
        message.content.attachments = try console.read(attachments)
        message.content.from = try console.readSender(attachments)
        _ = try message.placeholder.placeholder()
        let overflow = try overflow.map { try Overflow(folder: $0, url: url) }
        if overflow != nil { message.file = SharedFile() }
        return SealSettings(message: message, form: form, overflow: overflow, log: log, now: { console.timestamp })
    }

    func keys(_ console: Console) throws -> KeySource {
        guard let keyFile else { return .store(try console.open(store), signWith: signer) }
        let (signer, topic) = try console.readSigningKey(from: keyFile).signer(for: topic.topic())
        return .key(signer, for: topic)
    }

    /// The store's setting, where the command line says nothing.
    func complete(_ message: inout Message, from source: KeySource) throws {
        guard timeToLive == nil, case .store(let store, _) = source, let seconds = try store.seconds(.ttl) else {
            return
        }
        message.content.timeToLive = .seconds(UInt64(clamping: seconds))
    }
}

extension Arguments {
    /// `--sign-with`: a provider key in the store.
    mutating func providerName() -> String? {
        value("--sign-with", "NAME", help: "the provider key in the store, if not the one of the device's app")
    }
}
