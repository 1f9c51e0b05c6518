internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let explain = Command(
        "explain", "explain a code or a phone's journal, and how to fix it",
        about: [
            "Every refusal has a code: in messages, in the JSON of 'open', in the journal that an app keeps. Without an operand, lists all codes.",
            "A journal, as an app exports it, is summarised by code: how often, when last, with which keys, and for which envelopes, by the fingerprints of 'seal --log' and 'inspect'. It contains no content, so it can be mailed.",
        ],
        examples: ["pushcrypt explain authentication-failed", "pushcrypt explain journal.json"]
    ) { a in
        let command = ExplainCommand(&a)
        return { try command.run($0) }
    }
}

struct ExplainCommand {
    /// A journal has some 30 KB.
    private static let maximumJournal = 1 << 20

    private let subject: String?
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        isJSON = arguments.json()
        subject = arguments.optionalOperand(
            "CODE|JOURNAL", .known { Set(Explanation.all.map(\.code)).sorted() },
            help: "a code, or a journal's file; - for standard input")
    }

    func run(_ console: Console) throws -> ExitCode {
        guard let subject else {
            try console.write(isJSON ? Explanation.all.map(\.json).joined() : Explanation.list)
            return .done
        }
        let explanations = Explanation.of(subject)
        if explanations.isEmpty {
            let journal = Journal(try Self.journal(subject, console))
            try console.write(isJSON ? journal.json : journal.text(console))
        } else {
            try console.write(
                isJSON
                    ? explanations.map(\.json).joined() : explanations.map { $0.text(console) }.joined(separator: "\n"))
        }
        return .done
    }

    private static func journal(_ file: String, _ console: Console) throws -> JournalExport {
        // A word in the form of a code is treated as one, unless there is such a file.
        let isWord = file.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
        }
        if file != "-", isWord, Folder.kind(of: file, followingLinks: true) == .other {
            let names = Set(Explanation.all.map(\.code)).sorted()
            throw Failure.usage(
                "there is no code \(quoted(file))",
                hint: nearestName(to: file, among: names).map { "did you mean \($0)?" }
                    ?? "pushcrypt explain, without a code, lists them all")
        }
        let bytes = try console.read(file, limit: maximumJournal)
        do throws(MalformedJournal) {
            return try JournalExport(json: bytes)
        } catch {
            throw Failure.refused(
                "\(file == "-" ? "standard input" : quoted(file)): \(error)",
                hint: "an app exports its journal as JSON; a code is explained by its name alone")
        }
    }
}
