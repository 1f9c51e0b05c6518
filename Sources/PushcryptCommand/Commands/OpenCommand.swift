internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

extension Command {
    static let open = Command(
        "open", "open a sealed payload, and show the notification",
        about: [
            "Writes the notification that a phone would show: a banner on a terminal, JSON otherwise. A push that does not open gives the fallback, with exit 65 and the reason on standard error. Nothing is fetched."
        ],
        more: [
            "The JSON leaves out badge, sound_name, critical_volume, thread, category, interruption_level, relevance, target, filter, launch_image, user_info, attachments, full_body and parts of localised texts (title_loc_key, title_loc_args and so on) if they are not set. Keys of attachments are never shown.",
            "--batch writes {\"notification\": …}, with the object of --json, or {\"error\": …, \"line\": N} for each line, in order, and ends with 65 if one is an error, or with 1 if a line may succeed later. Other keys are passed through, except \"request_id\", which acts as --request-id. With a store, lines are opened one by one unless --jobs is given.",
            "A message that was shown before is passive, without sound and badge; with \"duplicate\": true, which came under another request or is too old to tell, also without category, attachments and full_body.",
            "--answer writes what the app sends if the user chooses this action, for 'answer open' at the provider: the message has to be sealed with --answerable.",
            "Opening may change the store: a pending device key becomes active, and the newest certificate of the provider is kept. Device keys that ended a day earlier are then deleted. With --no-guard nothing is kept, so the same push opens the same way each time.",
        ],
        examples: [
            "pushcrypt open --topic com.example.app sealed.json",
            Example(
                "pushcrypt seal --batch messages | pushcrypt open --batch", "the notifications of many messages"),
        ]
    ) { a in
        let command = OpenCommand(&a)
        return { try command.run($0) }
    }
}

struct OpenCommand {
    private let file: String
    private let receiver: ReceiverArguments
    private let fullBody: FullBodyArgument
    private let showsBanner: Bool
    private let answer: AnswerArgument?
    private let isBatch: Bool
    private let batch: BatchArguments
    private let store: StoreArguments
    private let isJSON: Bool
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        arguments.group("what is opened")
        receiver = ReceiverArguments(&arguments)
        fullBody = FullBodyArgument(&arguments)
        arguments.group("output")
        showsBanner = arguments.flag("--banner", help: "draw the notification even if the output is not a terminal")
        isJSON = arguments.json()
        answer = AnswerArgument(&arguments)
        output = OutputArguments(&arguments)
        arguments.group("many pushes")
        isBatch = arguments.flag(
            "--batch",
            help: "open a push for each line of FILE, an object with 'payload', as 'seal --batch' writes")
        arguments.group("many pushes", isAdvanced: true)
        batch = BatchArguments(&arguments)
        arguments.group(nil)
        store = StoreArguments(&arguments)
        receiver.excludeStore(&arguments)
        arguments.atMostOne(of: "--banner", "--json", "--answer")
        file = arguments.optionalInput("FILE", help: "the received push; default standard input")
    }

    func run(_ console: Console) throws -> ExitCode {
        if isBatch { return try openBatch(console) }
        if let name = batch.given.first {
            throw Failure.usage("\(name) goes with many pushes", hint: "leave it out, or add --batch")
        }
        return try self.receiver.withReceiver(store, console) { receiver in
            try openOne(receiver, console)
        }
    }

    private func openOne(_ receiver: CommandReceiver, _ console: Console) throws -> ExitCode {
        let push = PushToOpen(try console.readPush(file), mayPassInTheClear: self.receiver.passesClear)
        let (received, warnings) = receiver.receive(
            push, as: self.receiver.pushClass, requestID: self.receiver.requestID, at: console.timestamp)
        for warning in warnings { console.warning(warning) }
        let delivery = try fullBody.extend(received, console)
        defer { if self.receiver.isGuarded { receiver.finish(delivery, at: console.timestamp) } }
        if let answer, let opened = delivery.opened {
            try console.deliver(answer.sealed(by: opened, at: console.timestamp) + "\n", to: output)
            return .done
        }
        return try console.show(delivery, push, asBanner: showsBanner, asJSON: isJSON, to: output)
    }

    private func openBatch(_ console: Console) throws -> ExitCode {
        let single = [
            ("--request-id", receiver.requestID != nil), ("--full-body", fullBody.isGiven), ("--banner", showsBanner),
            ("--answer", answer != nil),
        ]
        for (name, isGiven) in single where isGiven {
            throw Failure.usage("\(name) goes with one push", hint: "leave it out, or leave --batch out")
        }
        // In order, as a phone receives them: a copy of a message is quiet only after the first.
        let run = Batch(
            .opened, jobs: receiver.deviceKeyFile == nil ? 1 : Processors.count, hasClearContent: true, batch,
            to: output, console)
        return try receiver.withReceiver(store, console) { opener in
            try open(by: opener, run, console)
        }
    }

    private func open(by opener: CommandReceiver, _ run: Batch, _ console: Console) throws -> ExitCode {
        let (mayPassInTheClear, pushClass) = (receiver.passesClear, receiver.pushClass)
        let form = LineForm(.open, OnceWarning(console))
        return try run.run(file: file) {
            OpenWorker(
                receiver: opener, mayPassInTheClear: mayPassInTheClear, pushClass: pushClass, console: console,
                form: form)
        }
    }
}

extension Console {
    /// Reads a push; nil if it is too long for one.
    func readPush(_ file: String) throws -> ContiguousArray<UInt8>? {
        do {
            return try read(file, limit: ReceivedPush.maximumLength, mayBeEmpty: true)
        } catch {
            let error = Failure(error)
            guard error.exit == .refused else { throw error }
            return nil
        }
    }

    /// Writes what the user sees of a delivery: a banner on a terminal, JSON otherwise; then the reason for a fallback.
    func show(
        _ delivery: Delivery, _ push: PushToOpen, asBanner: Bool, asJSON: Bool, to output: OutputArguments
    ) throws -> ExitCode {
        let showsBanner = asBanner || showsOutput && !asJSON && output.path == nil
        let text = showsBanner ? Banner(delivery, self).text : OpenReport(delivery, push.fingerprint).text(self)
        try deliver(ContiguousArray(text.utf8).span, to: output, isSecret: true)
        guard case .fallback(let reason) = delivery.outcome else { return .done }
        error("\(reason.code): \(reason)")
        if reason.code == Delivery.Reason.noTopic.code { hint(TopicArgument.hint) }
        return .refused
    }
}
