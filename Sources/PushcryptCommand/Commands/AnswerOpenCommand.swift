internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let answer = Command(
        group: "answer", "what users answer to notifications, back from their phones",
        about: [
            "'seal --answerable' asks for an answer. The phone seals it, and the app sends it over any channel: only this store opens it."
        ],
        examples: [
            "pushcrypt seal --to phone1 --id deploy-17 --answerable approve.json",
            Example("pushcrypt --store phone open --answer APPROVE sealed.json > answer.txt", "as the phone's app"),
            Example("pushcrypt answer open --within 10m answer.txt", "what the user chose"),
            Example("pushcrypt answer fetch --follow", "what comes through a publisher's relay"),
        ],
        [.answerOpen, .answerFetch { try $0.runSender($1) }])
}

extension Command {
    static let answerOpen = Command(
        "open", "open an answer, once",
        about: [
            "Writes who answered, to which message (as 'seal --json' names it), and what: rows on a terminal, JSON otherwise. Of each device the first answer to a message counts; the same again has \"repeated\": true, and another is refused as duplicate. An answer that does not open ends with exit 65.",
            "A replaced key of a device, and the answer secret before 'key rotate', open answers for 32 days. 'key rotate --stolen' destroys the secret at once. A removed device answers nothing.",
        ],
        more: [
            "The JSON has device, user if the store knows it, message_id, sent_at and at (milliseconds; at is when the user answered, by the phone's clock), action, and text if the user typed one.",
            "--batch reads lines {\"answer\": \"…\"}, and writes {\"opened\": …}, with the object of --json, or {\"error\": …, \"line\": N} for each, in order. It ends with 65 if one is an error, or with 1 if a line may succeed later. Other keys are passed through.",
        ],
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
                let run = Batch(.answered, jobs: 1, hasClearContent: true, batch, to: output, console)
                let opener = try StoredAnswers(try console.open(store), topic, limit, console)
                let form = LineForm(.answer, OnceWarning(console))
                return try run.run(file: file) { AnswerWorker(opener: opener, form: form) }
            }
            if let name = batch.given.first {
                throw Failure.usage("\(name) goes with many answers", hint: "leave it out, or add --batch")
            }
            var text = try console.read(file, limit: SealedAnswer.maximumTextLength + 2)
            if text.last == newline { text.removeLast() }
            if text.last == UInt8(ascii: "\r") { text.removeLast() }
            let opener = try StoredAnswers(try console.open(store), topic, limit, console)
            let opened = try opener.open(String(decoding: text, as: UTF8.self))
            let shown = opened.shown(asTable: console.showsOutput && !isJSON && output.path == nil, console)
            try console.deliver(ContiguousArray(shown.utf8).span, to: output, isSecret: true)
            return .done
        }
    }
}

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
