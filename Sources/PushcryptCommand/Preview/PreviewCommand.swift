internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

extension Command {
    static let preview = Command(
        "preview", "draw a notification: what the relay carries, what the phone shows, and the fallback",
        discussion: [
            "Reads a payload as 'seal' takes it, or a push that is sealed already, and draws it three times, side by side: the push as the relay has it, the notification that opens, and what is left of it when it does not open. The last two are what a phone's receiver delivers.",
            "A payload that is not sealed yet is sealed for this drawing, with keys that are made for it and thrown away; no store is needed. With --store, the placeholder is the one that the store's 'config' says. A sealed push is opened with the store's keys, as a message that was not shown before. Nothing is changed by that: 'open' afterwards finds it new, and no rotation goes on.",
            "Texts stand there as in a banner, cut with an ellipsis, and as in the expanded view, with the actions. A payload names its category only; --categories reads what the app declares, the JSON of its category set. Texts of the app's own are shown as their keys. Nothing is fetched: in the place of an attachment stands its type.",
            "SVG and HTML need nothing else, no script, no font, no picture, and follow the reader's light or dark appearance unless --appearance says otherwise.",
            "Ends with 0 also for a push that does not open: the drawing shows the fallback then, and standard error says why.",
        ],
        operands: [
            Operand(
                "FILE", .input, .optional, help: "the payload, or the sealed push, as JSON; standard input otherwise")
        ],
        options: [
            [
                Option(
                    "--format", "FORMAT", .choice(PreviewFormat.allCases.map(\.rawValue)),
                    help: "what is written; otherwise what the name of --output ends in, otherwise txt"),
                Option(
                    "--appearance", "APPEARANCE", .choice(PreviewAppearance.allCases.map(\.rawValue)),
                    help: "for svg and html: the colours; otherwise auto, which is those of the reader's screen"),
                Option("--categories", "FILE", .input, help: "the categories that the app declares, as JSON"),
            ], Option.sealPlaceholder, Option.sealAttachments,
            [.topic, .store, .passphraseFile, .output, .force],
        ].flatMap { $0 },
        examples: [
            Example("pushcrypt preview payload.json -o payload.html"),
            Example("pushcrypt preview --categories categories.json payload.json -o payload.svg", "with its actions"),
            Example("pushcrypt preview --store phone sealed.json", "on a terminal, with the phone's keys"),
        ], run: runPreview)
}

/// What a preview is written as.
enum PreviewFormat: String, CaseIterable {
    case svg, html, txt

    /// What the command line says; a file's name tells it where no option does.
    fileprivate init(_ invocation: Invocation) throws(CommandFailure) {
        if let format = invocation.value("--format").flatMap(PreviewFormat.init(rawValue:)) {
            self = format
        } else if let path = invocation.value("--output"), path != "-" {
            guard let dot = path.lastIndex(of: "."), let format = Self(rawValue: String(path[dot...].dropFirst()))
            else {
                throw .usage(
                    "the name \(quoted(path)) does not say what to write",
                    hint: "let it end in .svg, .html or .txt, or add --format")
            }
            self = format
        } else {
            self = .txt
        }
    }
}

private func runPreview(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    let format = try PreviewFormat(invocation)
    if format == .txt, invocation.flag("--appearance") {
        throw .usage("--appearance goes with svg and html", hint: "leave it out, or add --format")
    }
    let appearance = invocation.value("--appearance").flatMap(PreviewAppearance.init(rawValue:)) ?? .auto
    let categories = try invocation.value("--categories").map { (path) throws(CommandFailure) in
        try console.readCategories(path)
    }
    let push = try PreviewedPush(invocation, console)
    let scene = PreviewScene(push, categories: categories)
    let text =
        switch format {
        case .svg: SVGScene(scene, appearance).text
        case .html: HTMLScene(scene, appearance).text
        case .txt: TextScene(scene, console).text
        }
    try console.deliver(ContiguousArray(text.utf8).span, of: invocation, isSecret: true)
    push.tell(console)
    return .done
}

extension Console {
    fileprivate func readCategories(_ path: String) throws(CommandFailure) -> CategorySet {
        let json = try read(path, limit: JSONDocument.defaultMaximumBytes)
        do throws(CategoryError) {
            return try CategorySet(json: json)
        } catch {
            throw .refused("\(quoted(path)): \(error.code): \(error)")
        }
    }
}

extension PreviewedPush {
    /// Tells why it does not open, and what else the receiver noticed.
    fileprivate func tell(_ console: Console) {
        for warning in warnings { console.warning(warning) }
        guard case .fallback(let reason) = shown.outcome else { return }
        console.warning("the push does not open: \(reason.code): \(reason)")
        if reason.code == Delivery.Reason.noTopic.code { console.hint(Option.topicHint) }
    }
}
