internal import PushcryptCommandKit

/// The arguments of `seal`.
struct SealArguments: Sendable {
    let file: String
    let recipients: RecipientArguments
    let sender: SenderArguments
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
        recipients = RecipientArguments(&arguments)
        sender = SenderArguments(&arguments)
        topic = TopicArgument(&arguments)
        placeholder = PlaceholderArguments(&arguments)
        message = MessageArguments(&arguments)
        attachments = AttachmentArguments(&arguments)
        fitting = FittingArguments(&arguments)
        batch = BatchArguments(&arguments)
        unencrypted = arguments.choice(
            "--unencrypted", "WHAT",
            help: "a message for a device without a key ('to' is null); default refuse")
        emission = EmissionArguments(&arguments)
        log = arguments.log()
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        output = OutputArguments(&arguments)
        sender.excludeStore(&arguments)
        arguments.atMostOne(of: "--progress", "--log")
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
            help: "the devices in a file, one per line: an id, a public key, or an object with 'to' or 'to-user'")
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
