internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

struct SealArguments: Sendable {
    let file: String
    let recipients: RecipientArguments
    let sender: ProviderArguments
    let topic: TopicArgument
    let placeholder: PlaceholderArguments
    let message: MessageArguments
    let attachments: AttachmentArguments
    let fitting: FittingArguments
    let batch: BatchArguments
    /// Whether payloads for devices without a key are written as they are; nil for the default, which is no.
    private let unencrypted: UnencryptedPolicy?
    let emission: EmissionArguments
    let log: LogFormat?
    let store: StoreArguments
    let isJSON: Bool
    let output: OutputArguments

    private enum UnencryptedPolicy: String, CaseIterable { case refuse, pass }

    init(_ arguments: inout Arguments) {
        file = arguments.optionalInput("FILE", help: "the payload; default standard input")
        arguments.group("for whom")
        recipients = RecipientArguments(&arguments)
        arguments.group("what")
        topic = TopicArgument(&arguments)
        message = MessageArguments(&arguments)
        arguments.group("what Apple may read")
        placeholder = PlaceholderArguments(&arguments)
        arguments.group("the output")
        emission = EmissionArguments(&arguments)
        isJSON = arguments.json()
        output = OutputArguments(&arguments)
        arguments.group("long texts", isAdvanced: true)
        fitting = FittingArguments(&arguments)
        arguments.group("files and people", isAdvanced: true)
        attachments = AttachmentArguments(&arguments)
        arguments.group("the key that signs", isAdvanced: true)
        sender = ProviderArguments(&arguments)
        arguments.group("many messages", isAdvanced: true)
        batch = BatchArguments(&arguments)
        unencrypted = arguments.choice(
            "--unencrypted", "WHAT",
            help: "a message for a device without a key ('to' is null); default refuse")
        log = arguments.log()
        arguments.group("what", isAdvanced: true)
        arguments.group(nil)
        store = StoreArguments(&arguments)
        sender.excludeStore(&arguments)
        arguments.option(
            "--answerable", excludes: ["--signing-key-file"], hint: "a store has the secret that opens answers")
    }

    var passesUnencrypted: Bool { unencrypted == .pass }

    /// The first given option that is for many messages only.
    var optionForMany: String? { batch.given.first ?? unencrypted.map { _ in "--unencrypted" } }
}

/// The options for the recipient.
struct RecipientArguments: Sendable {
    private let device: String?
    private let user: String?
    private let isEveryone: Bool
    private let list: String?
    private let isBatch: Bool

    init(_ arguments: inout Arguments) {
        device = arguments.value(
            "--to", "DEVICE", .name(.device), help: "a device's id, or its public key (pcr1…)")
        user = arguments.value("--to-user", "USER", .name(.user), help: "every device of a user")
        isEveryone = arguments.flag("--to-all", help: "every device in the store")
        list = arguments.value(
            "--to-file", "LIST", .input,
            help: "the devices in a file, one per line: an id, a public key, or an object with 'to' or 'to_user'")
        isBatch = arguments.flag(
            "--batch", help: "seal a message for each line of FILE")
        arguments.atMostOne(of: "--to", "--to-user", "--to-all", "--to-file", "--batch")
    }

    /// The recipients; throws if none are given.
    func recipients() throws(CommandFailure) -> SealRecipients {
        if let device { return .one(device) }
        if let user { return .user(user) }
        if let list { return .list(list) }
        if isEveryone { return .all }
        if isBatch { return .lines }
        throw .usage("no recipient given", hint: "add --to with a device's id or its public key (pcr1…)")
    }
}

/// The recipients that the command line names.
enum SealRecipients {
    case one(String)
    case user(String)
    case all
    case list(String)
    /// Those that the lines of a batch name.
    case lines
}

/// The options for every message.
struct MessageArguments: Sendable {
    let pushType: String?
    /// In seconds.
    let timeToLive: Int?
    let name: String?
    let withdrawing: [String]
    let isDropped: Bool
    let isAnswerable: Bool

    init(_ arguments: inout Arguments) {
        pushType = arguments.value(
            "--push-type", "TYPE", .known { ["alert", "background", "voip"] },
            help: "alert, background or voip; default alert")
        timeToLive = arguments.seconds(
            "--ttl", "TIME", 0...Int(Freshness.maximumTimeToLive.seconds),
            help: "how long it may be shown, and up to 10m more; 0: now or never; default the store's, or 30d")
        name = arguments.value(
            "--id", "NAME", help: "the message's name, the same in every retry, so that a phone shows it once")
        arguments.group("what", isAdvanced: true)
        withdrawing = arguments.values(
            "--withdraw", "NAME",
            help: "the name (--id) of an earlier message that phones take off the screen; at most 64")
        isDropped = arguments.flag(
            "--drop", help: "show nothing, or where Apple does not allow that a quiet notification")
        isAnswerable = arguments.flag(
            "--answerable", help: "let the user answer, for 'answer open': never use the --id for another payload")
    }
}

/// The options for the form of the output.
struct EmissionArguments: Sendable {
    let emission: Emission
    let collapseName: String?
    let priority: PushRequest.Priority?

    init(_ arguments: inout Arguments) {
        emission =
            arguments.choice(
                "--emit", "FORM",
                help:
                    "the payload, the request to APNs, a relay's message, or a file for a simulator; default payload"
            ) ?? .payload
        arguments.group("the output", isAdvanced: true)
        collapseName = arguments.value(
            "--collapse-id", "NAME",
            help:
                "with --emit request: pushes of this name replace each other; otherwise a retry replaces its first copy"
        )
        priority = arguments.value(
            "--priority", "N", .choice(PushRequest.Priority.allCases.map { "\($0.rawValue)" }),
            help: "with --emit request: when APNs delivers; default 5 for a background push, 10 for others"
        ).flatMap { Int($0) }.flatMap(PushRequest.Priority.init(rawValue:))
        arguments.group("the output")
    }

    /// The headers that the caller chose.
    func headers() throws(CommandFailure) -> RequestHeaders {
        if !emission.isRequest {
            if let name = collapseName != nil ? "--collapse-id" : priority != nil ? "--priority" : nil {
                throw .usage("\(name) goes with --emit request", hint: "add --emit request, or leave \(name) out")
            }
        }
        return RequestHeaders(collapseName: collapseName, priority: priority)
    }
}

/// The part of a sealed message that is written.
enum Emission: String, CaseIterable, Sendable {
    /// The payload to send.
    case payload
    /// The payload and the headers to send it with.
    case request
    /// The message for a publisher's relay: the sealed content and its headers.
    case relay
    /// A file for Apple's simulator: the payload and the app it is for.
    case apns

    /// Whether it is what `send` reads, of which the caller may choose headers.
    var isRequest: Bool { self == .request || self == .relay }
}

/// The headers of a request that the caller may choose.
struct RequestHeaders: Sendable {
    /// The name under which pushes to a device replace each other.
    var collapseName: String?
    var priority: PushRequest.Priority?
}

/// What the command line gives for every message.
struct SealSettings: Sendable {
    /// What a message is, unless its line says otherwise.
    var request = SealRequest()
    /// The folder for bodies that are too long.
    var overflow: SealOverflow?
    var emission = Emission.payload
    /// Whether a device without a key is sent its payload unsealed.
    var passesUnencrypted = false
    private var needsTimeToLive = false
    let now: @Sendable () -> Timestamp
}

// MARK: Command line

extension SealSettings {
    init(
        _ request: SealRequest = SealRequest(), emission: Emission = .payload,
        now: @escaping @Sendable () -> Timestamp
    ) {
        (self.request, self.emission, self.now) = (request, emission, now)
    }

    init(_ arguments: SealArguments, _ console: Console) throws(CommandFailure) {
        request.topic = try arguments.topic.topic(console)
        request.placeholder = arguments.placeholder.choice
        request.options = try Sealer.Options(arguments)
        request.attachments = try console.read(arguments.attachments)
        request.from = try console.readSender(arguments.attachments)
        request.headers = try arguments.emission.headers()
        needsTimeToLive = arguments.message.timeToLive == nil
        overflow = try SealOverflow(arguments.fitting)
        emission = arguments.emission.emission
        passesUnencrypted = arguments.passesUnencrypted
        if passesUnencrypted, emission == .relay {
            throw .usage("a relay takes nothing that is not sealed", hint: "leave --unencrypted out")
        }
        now = { console.timestamp }
    }

    /// Adds the store's settings, where the command line says nothing.
    mutating func complete(from source: SealSource) throws(CommandFailure) {
        guard needsTimeToLive, case .store(let store, _) = source else { return }
        let seconds = try withStoreErrors { () throws(KeyStoreError) in try store.seconds(.ttl) }
        if let seconds { request.options.timeToLive = .seconds(UInt64(clamping: seconds)) }
    }
}

extension Sealer.Options {
    fileprivate init(_ arguments: SealArguments) throws(CommandFailure) {
        self.init()
        let message = arguments.message
        if let name = message.pushType {
            do throws(SealError) {
                pushType = try PushType(name)
            } catch {
                // One of Apple's other types says something about the payload; any other word is a typing mistake.
                guard PushType.readByTheSystem.contains(name) else { throw .usage("--push-type: \(error)") }
                throw CommandFailure(error)
            }
        }
        messageName = message.name
        withdrawing = message.withdrawing
        isDropped = message.isDropped
        isAnswerable = message.isAnswerable
        if let seconds = message.timeToLive { timeToLive = .seconds(UInt64(clamping: seconds)) }
        fitting = arguments.fitting.texts
    }
}
