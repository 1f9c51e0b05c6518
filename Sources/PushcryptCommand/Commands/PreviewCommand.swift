internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

struct PreviewCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(
            discussion: [
                "A payload is sealed with temporary keys, without a store; with --store, the placeholder is the store's. A sealed push is opened as new with the store's keys, and changes nothing: a later 'open' treats it as new, and no rotation takes effect. If it does not open, the fallback is drawn, standard error has the reason, and the exit code is still 0.",
                "Texts are drawn as in a banner and in the expanded view, with the actions of --categories. Localised texts appear as their keys, attachments as their types; nothing is fetched. SVG and HTML are light or dark as the reader's screen, and need no script, font or picture.",
            ],
            examples: [
                Example("pushcrypt preview payload.json -o payload.html"),
                Example(
                    "pushcrypt preview --categories categories.json payload.json -o payload.svg", "with its actions"),
                Example("pushcrypt preview --store phone sealed.json", "on a terminal, with the phone's keys"),
            ])
    }

    private let arguments: PreviewArguments
    private let format: PreviewFormat?
    private let categories: String?
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        let file = arguments.optionalInput(
            "FILE", help: "the payload or sealed push; default standard input")
        format = arguments.choice(
            "--format", "FORMAT", help: "the format; default the ending of --output's name, or txt")
        categories = arguments.value(
            "--categories", "FILE", .input, help: "the app's categories, the JSON of its category set")
        self.arguments = PreviewArguments(file: file, &arguments)
        output = OutputArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let format = if let format { format } else { try PreviewFormat(of: output) }
        let categories = try categories.map { (path) throws(CommandFailure) in try console.readCategories(path) }
        let push = try PreviewedPush(arguments, console)
        let scene = PreviewScene(push, categories: categories)
        let text =
            switch format {
            case .svg: SVGScene(scene).text
            case .html: HTMLScene(scene).text
            case .txt: TextScene(scene, console).text
            }
        try console.deliver(ContiguousArray(text.utf8).span, to: output, isSecret: true)
        push.report(console)
        return .done
    }
}

enum PreviewFormat: String, CaseIterable {
    case svg, html, txt

    /// The format that the name of the output file ends in.
    init(of output: OutputArguments) throws(CommandFailure) {
        guard let path = output.file else {
            self = .txt
            return
        }
        guard let dot = path.lastIndex(of: "."), let format = Self(rawValue: String(path[dot...].dropFirst())) else {
            throw .usage(
                "the name \(quoted(path)) does not say what to write",
                hint: "let it end in .svg, .html or .txt, or add --format")
        }
        self = format
    }
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
    /// Reports the receiver's warnings, and the reason if the push does not open.
    fileprivate func report(_ console: Console) {
        for warning in warnings { console.warning(warning) }
        if let hint { console.hint(hint) }
        guard case .fallback(let reason) = shown.outcome else { return }
        console.warning("the push does not open: \(reason.code): \(reason)")
        if reason.code == Delivery.Reason.noTopic.code { console.hint(TopicArgument.hint) }
    }
}
