internal import Pushcrypt
internal import PushcryptCommandKit

extension Option {
    /// What becomes of a text that is too long.
    static let sealFit = [
        Option(
            "--fit", "TEXT", .choice(AlertText.allCases.map(\.rawValue)), isRepeatable: true,
            help: "shorten this text, with an ellipsis, if the payload is too long; the first that is named first"),
        Option(
            "--overflow", "DIR", .folder,
            help: "put a body that is too long into a sealed file in this folder, and a short one into the push"),
        Option(
            "--url", "PREFIX",
            help: "with --overflow: where the files of the folder are fetched from; their names are put behind it"),
    ]
}

extension [AlertText] {
    /// Takes the texts of `--fit`; `--overflow` shortens the body, if no other is named.
    init(fitting invocation: Invocation) {
        self = invocation.values("--fit").compactMap(AlertText.init(rawValue:))
        if isEmpty, invocation.flag("--overflow") { self = [.body] }
    }
}

extension SealedPayload {
    /// Writes what `--fit` has shortened, where it has.
    func writeShortened(to json: inout JSONWriter) {
        guard !shortened.isEmpty else { return }
        json.object(for: "shortened") { json in
            for text in AlertText.allCases {
                if let characters = shortened[text] { json.integer(characters, for: text.rawValue) }
            }
        }
    }

    /// Tells a person what was shortened, and where the rest is.
    func tellShortening(_ overflow: SealOverflow.File?, _ console: Console) {
        if !shortened.isEmpty {
            let texts = AlertText.allCases.compactMap { text in shortened[text].map { "\(text) by \($0)" } }
            console.warning("shortened to fit, in characters: " + texts.joined(separator: ", "))
        }
        if let overflow {
            console.hint(
                "store \(quoted(overflow.path)) at \(overflow.fullBody.reference.url) before the push is sent")
        }
    }
}
