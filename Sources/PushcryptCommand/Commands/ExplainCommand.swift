internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let explain = Command(
        "explain", "say what a code or a phone's journal means, and how to fix it",
        discussion: [
            "Every refusal has a code: at the start of a message, in the JSON of 'open', in the journal that an app keeps on the phone. Without an operand all codes are listed.",
            "A journal, as an app exports it, is summed up by code: how often, when last, with which keys, and for which envelopes, by the fingerprints that 'seal --log text' and 'inspect' print. It has no content, so it can be sent by mail.",
        ],
        operands: [
            Operand(
                "CODE|JOURNAL", .known { Set(Explanation.all.map(\.code)).sorted() }, .optional,
                help: "a code, or the file of a journal; - for standard input")
        ],
        options: [
            Option(flag: "--markdown", help: "write everything about all codes as a document"), .json,
        ],
        examples: [
            Example("pushcrypt explain authentication-failed"), Example("pushcrypt explain journal.json"),
            Example("pushcrypt explain", "all codes"),
        ], run: runExplain)
}

/// A journal has some 30 KB.
private let maximumJournal = 1 << 20

private func runExplain(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitCode {
    try invocation.atMostOne(of: "--markdown", "--json")
    let isJSON = invocation.flag("--json")
    let operand = invocation.optionalOperand("CODE|JOURNAL")
    if let operand, invocation.flag("--markdown") {
        throw .usage("--markdown is for all codes", hint: "leave \(quoted(operand)) out")
    }
    switch operand {
    case nil where isJSON: try console.write(Explanation.all.map(\.json).joined())
    case nil: try console.write(invocation.flag("--markdown") ? Explanation.document : Explanation.list)
    case let word?:
        let explanations = Explanation.of(word)
        if explanations.isEmpty {
            let summary = JournalSummary(try journal(word, console))
            try console.write(isJSON ? summary.json : summary.text(console))
        } else {
            try console.write(
                isJSON
                    ? explanations.map(\.json).joined() : explanations.map { $0.text(console) }.joined(separator: "\n"))
        }
    }
    return .done
}

private func journal(_ file: String, _ console: Console) throws(CommandFailure) -> JournalExport {
    // What looks like a code was meant as one, unless there is such a file.
    let isWord = file.utf8.allSatisfy {
        $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
    }
    if file != "-", isWord, Folder.kind(of: file, followingLinks: true) == .other {
        let names = Set(Explanation.all.map(\.code)).sorted()
        throw .usage(
            "there is no code \(quoted(file))",
            hint: nearestName(to: file, among: names).map { "did you mean \($0)?" }
                ?? "pushcrypt explain, without a code, lists them all")
    }
    let bytes = try console.read(file, limit: maximumJournal)
    do throws(MalformedJournal) {
        return try JournalExport(json: bytes)
    } catch {
        throw .refused(
            "\(file == "-" ? "standard input" : quoted(file)): \(error)",
            hint: "an app exports its journal as JSON; a code is explained by its name alone")
    }
}
