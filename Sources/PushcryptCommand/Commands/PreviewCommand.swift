internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

extension Command {
    static let preview = Command(
        "preview", "draw a notification: as the relay sees it, as the phone shows it, and the fallback",
        about: [
            "A payload is sealed with temporary keys, without a store; with --store, the placeholder is the store's. A sealed push is opened as new with the store's keys, and changes nothing: a later 'open' treats it as new, and no rotation takes effect. If it does not open, the fallback is drawn, standard error has the reason, and the exit code is still 0.",
            "Texts are drawn as in a banner and in the expanded view, with the actions of --categories. Localised texts appear as their keys, attachments as their types; nothing is fetched. SVG and HTML are light or dark as the reader's screen, and need no script, font or picture.",
        ],
        examples: [
            "pushcrypt preview payload.json -o payload.html",
            Example(
                "pushcrypt preview --categories categories.json payload.json -o payload.svg", "with its actions"),
            Example("pushcrypt preview --store phone sealed.json", "on a terminal, with the phone's keys"),
        ]
    ) { a in
        let categories = a.value(
            "--categories", "FILE", .input, help: "the app's categories, the JSON of its category set")
        let (placeholder, topic, store) = (PlaceholderArguments(&a), TopicArgument(&a), StoreArguments(&a))
        let output = OutputArguments(
            &a, help: "write to a file: its name ends in .svg, .html or .txt, and says what; default text")
        let file = a.optionalInput("FILE", help: "the payload or sealed push; default standard input")
        let push = PreviewArguments(file: file, placeholder: placeholder, topic: topic, store: store)
        return { console in
            let path = output.file ?? ".txt"
            guard let ending = [".svg", ".html", ".txt"].first(where: path.hasSuffix) else {
                throw Failure.usage(
                    "the name \(quoted(path)) does not say what to write", hint: "let it end in .svg, .html or .txt")
            }
            let categories = try categories.map { path in try console.readCategories(path) }
            let push = try PreviewedPush(push, console)
            let scene = Scene(push, categories: categories)
            let text = ending == ".svg" ? SVG(scene).text : ending == ".html" ? SVG(scene).page : scene.text(console)
            try console.deliver(ContiguousArray(text.utf8).span, to: output, isSecret: true)
            push.report(console)
            return .done
        }
    }
}

extension Console {
    fileprivate func readCategories(_ path: String) throws -> CategorySet {
        let json = try read(path, limit: JSONDocument.defaultMaximumBytes)
        do throws(CategoryError) {
            return try CategorySet(json: json)
        } catch {
            throw Failure.refused("\(quoted(path)): \(error.code): \(error)")
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
