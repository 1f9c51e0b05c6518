package import Pushcrypt
package import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let answer = Command(
        group: "answer", "what users answer to notifications, back from their phones",
        about:
            "'seal --answerable' asks for an answer. The phone seals it, and the app sends it over any channel: only this store opens it.",
        examples: [
            "pushcrypt seal --to phone1 --id deploy-17 --answerable approve.json",
            Example("pushcrypt --store phone open --answer APPROVE sealed.json > answer.txt", "as the phone's app"),
            Example("pushcrypt answer open --within 10m answer.txt", "what the user chose"),
            Example("pushcrypt answer fetch --follow", "what comes through a publisher's relay"),
        ],
        [answerOpen, .answerFetch { try $0.runSender($1) }])

    private static let answerOpen = Command(
        "open", "open an answer, once",
        about: """
            Writes who answered, to which message (as 'seal --json' names it), and what: rows on a terminal, JSON otherwise. Of each device the first answer to a message counts; the same again has "repeated": true, and another is refused as duplicate. An answer that does not open ends with exit 65.
            A replaced key of a device, and the answer secret before 'key rotate', open answers for 32 days. 'key rotate --stolen' destroys the secret at once. A removed device answers nothing.
            """,
        more: """
            The JSON has device, user if the store knows it, message_id, sent_at and at (milliseconds; at is when the user answered, by the phone's clock), action, and text if the user typed one.
            --batch reads lines {"answer": "…"}, and writes {"opened": …}, with the object of --json, or {"error": …, "line": N} for each, in order. It ends with 65 if one is an error, or with 1 if a line may succeed later. Other keys are passed through.
            """,
        examples: [
            "pushcrypt answer open --within 10m answer.txt",
            "pushcrypt answer open --batch < answers",
        ]
    ) { a in
        let limit = a.answerLimit()
        let topic = TopicArgument(&a, help: "the app, if its provider key is not bound to it")
        let isJSON = a.json()
        let output = OutputArguments(&a)
        a.group("many answers")
        let isBatch = a.flag("--batch", help: "open an answer for each line of FILE, an object with 'answer'")
        a.group("many answers", isAdvanced: true)
        let batch = BatchArguments(&a)
        a.group(nil)
        let store = StoreArguments(&a)
        let file = a.optionalInput("FILE", help: "what the app sent; default standard input")
        return { console in
            let topic = try topic.topic(console)
            if isBatch {
                let run = Batch(
                    verb: .answered, jobs: 1, hasClearContent: true, options: batch, output: output, console: console)
                let opener = try StoredAnswers(try console.open(store), topic, limit, console)
                let form = LineForm(.answer, console)
                return try run.run(file: file) { AnswerWorker(opener: opener, form: form) }
            }
            try batch.refuse(beside: "answers")
            var text = try console.read(file, limit: SealedAnswer.maximumTextLength + 2)
            if text.last == newline { text.removeLast() }
            if text.last == UInt8(ascii: "\r") { text.removeLast() }
            let opener = try StoredAnswers(try console.open(store), topic, limit, console)
            let opened = try opener.open(String(decoding: text, as: UTF8.self))
            let shown = opened.shown(asTable: console.showsOutput && !isJSON && output.path == nil, console)
            try console.deliver(secret: shown, to: output)
        }
    }

    /// `answer fetch`, which both programs have.
    package static func answerFetch(
        _ run: @escaping @Sendable (AnswerFetchArguments, Console) throws -> Void
    ) -> Command {
        Command(
            "fetch", "take answers from a publisher's relay, and open them",
            about: """
                A phone that cannot reach its server leaves answers with the publisher's relay, sealed, for an hour. This takes those for the store's push key, and writes each as 'answer open' does. The relay forgets an answer only after it was written: if this command is killed, the answer comes again, with "repeated": true.
                Exits with 0 even if there are no answers. For an answer that does not open it prints a warning, goes on, and exits with 65 at the end.
                """,
            more:
                "The relay can hold answers back: give approvals a --within. With --follow, an unreachable relay is tried again.",
            examples: [
                "pushcrypt answer fetch --within 10m",
                "pushcrypt answer fetch --follow --json | while read -r answer; do …; done",
            ]
        ) { a in
            let arguments = AnswerFetchArguments(&a)
            return { try run(arguments, $0) }
        }
    }
}

extension AnswerFetchArguments {
    /// Runs `pushcrypt-send`, so that this program needs no HTTP library.
    func runSender(_ console: Console) throws {
        throw runSendProgram(["answer", "fetch"] + console.arguments(without: ["answer", "fetch"]))
    }
}

/// The arguments of `answer fetch`, which both programs read.
package struct AnswerFetchArguments: Sendable {
    private let relay: String?
    package let isFollowing: Bool
    package let isJSON: Bool
    package let authorities: String?
    private let limit: Interval
    private let topic: TopicArgument
    private let store: StoreArguments

    package init(_ arguments: inout Arguments) {
        isFollowing = arguments.flag("--follow", help: "keep waiting for answers, until a signal")
        limit = arguments.answerLimit()
        relay = arguments.value(
            SendArguments.relayOption, "ORIGIN", help: "the publisher's relay; default the store's setting 'relay'")
        topic = TopicArgument(&arguments, help: "the app, if its provider key is not bound to it")
        isJSON = arguments.json()
        arguments.group("the connection", isAdvanced: true)
        authorities = arguments.authorities()
        arguments.group(nil)
        store = StoreArguments(&arguments)
    }

    /// The relay's origin, and the push keys that sign requests to it, read at each call.
    package func relay(_ console: Console) throws -> (RelayOrigin, () throws -> [PushKey]) {
        let opened = try console.open(store)
        guard let text = try relay ?? opened.setting(.relay) else {
            throw Failure.usage(
                "no relay is known", hint: "name it with --relay, or store it: pushcrypt config relay ORIGIN")
        }
        return (try SendArguments.origin(text), try SendArguments.pushKeys(of: opened, console))
    }

    package func answers(_ console: Console) throws -> StoredAnswers {
        try StoredAnswers(try console.open(store), try topic.topic(console), limit, console)
    }
}

// MARK: Opening

private struct AnswerWorker: LineWorker {
    let opener: StoredAnswers
    let form: LineForm

    func answer(_ chunk: LineChunk, _ answers: inout Answers) {
        for line in chunk.lines(form) {
            answers.tally.lines += 1
            let failure = answers.answer(line) { json in
                try line.check()
                guard let sealed = try line.text("answer") else {
                    throw Failure(.malformedLine, "the line has no 'answer': the text that the app sent")
                }
                json.raw(try opener.open(sealed).json, for: "opened")
            }
            if failure == nil { answers.tally.done += 1 }
        }
    }
}

/// Opens answers with a store.
package struct StoredAnswers: Sendable {
    private let store: SQLiteKeyStore
    private let topic: Topic?
    private let limit: Interval
    private let console: Console

    /// Refuses a store without a provider key, which can open no answer.
    init(_ store: SQLiteKeyStore, _ topic: Topic?, _ limit: Interval, _ console: Console) throws {
        try ProviderKeys(of: store).refuseNone()
        (self.store, self.topic, self.limit, self.console) = (store, topic, limit, console)
    }

    func open(_ text: String) throws -> DeviceAnswer {
        try store.openAnswer(text, topic: topic, within: limit, at: console.timestamp)
    }

    /// Opens an answer and writes it to standard output, for people or as JSON.
    package func show(_ text: String, asJSON: Bool) throws {
        try console.write(try open(text).shown(asTable: console.showsOutput && !asJSON, console))
    }
}

extension DeviceAnswer {
    /// One object for programs.
    fileprivate var json: ContiguousArray<UInt8> {
        jsonObject { json in
            json.string(device, for: "device")
            if let user { json.string(user, for: "user") }
            json.string(answer.messageID.description, for: "message_id")
            json.integer(answer.sentAt.milliseconds, for: "sent_at")
            json.string(answer.action, for: "action")
            if let text = answer.text { json.string(text, for: "text") }
            json.integer(answer.answeredAt.milliseconds, for: "at")
            if firstOpenedAt != nil { json.bool(true, for: "repeated") }
        }
    }

    /// Rows for people, or a line for programs.
    fileprivate func shown(asTable: Bool, _ console: Console) -> String {
        guard asTable else { return console.shown(json: json) + "\n" }
        return listed([
            ("device", device), ("user", user), ("action", answer.action), ("text", answer.text),
            ("answered", "\(answer.answeredAt), by the phone's clock"), ("message", answer.messageID.description),
            ("sealed", "\(answer.sentAt)"), ("repeated", firstOpenedAt.map { "opened first at \($0)" }),
        ])
    }
}

extension Arguments {
    /// Reads how long an answer counts.
    fileprivate mutating func answerLimit() -> Interval {
        let life = Int(AnswerKey.life.seconds)
        let seconds = self.seconds(
            "--within", "TIME", 1...life,
            help: "how long after it was sealed a message may be answered; default, and at most, 31d")
        return .seconds(UInt64(clamping: seconds ?? life))
    }
}
