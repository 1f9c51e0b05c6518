internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let explain = Command(
        "explain", "explain a code or a phone's journal, and how to fix it",
        about: """
            Every refusal has a code: in messages, in the JSON of 'open', in the journal that an app keeps. Without an operand, lists all codes.
            A journal, as an app exports it, is summarised by code: how often, when last, with which keys, and for which envelopes, by the fingerprints of 'seal --log' and 'inspect'. It contains no content, so it can be mailed.
            """,
        examples: ["pushcrypt explain authentication-failed", "pushcrypt explain journal.json"]
    ) { a in
        let isJSON = a.json()
        let subject = a.optionalOperand(
            "CODE|JOURNAL", .known { Explanation.codes }, help: "a code, or a journal's file; - for standard input")
        return { console in
            guard let subject else {
                return try console.write(isJSON ? Explanation.all.map(\.json).joined() : Explanation.list)
            }
            let meanings = Explanation.of(subject)
            if meanings.isEmpty {
                let journal = Journal(try console.readJournal(subject))
                try console.write(isJSON ? journal.json : journal.text(console))
            } else {
                try console.write(
                    isJSON ? meanings.map(\.json).joined() : meanings.map { $0.text(console) }.joined(separator: "\n"))
            }
        }
    }
}

extension Console {
    /// Reads a journal, which has some 30 KB.
    fileprivate func readJournal(_ file: String) throws -> JournalExport {
        // A word in the form of a code is treated as one, unless there is such a file.
        let isWord = file.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
        }
        if file != "-", isWord, Folder.kind(of: file, followingLinks: true) == .other {
            throw Failure.usage(
                "there is no code \(quoted(file))",
                hint: nearestName(to: file, among: Explanation.codes).map { "did you mean \($0)?" }
                    ?? "pushcrypt explain, without a code, lists them all")
        }
        let bytes = try read(file, limit: 1 << 20)
        do {
            return try JournalExport(json: bytes)
        } catch {
            throw Failure.refused(
                "\(inputName(file)): \(error)",
                hint: "an app exports its journal as JSON; a code is explained by its name alone")
        }
    }
}

/// A phone's journal, code by code, the most frequent first.
struct Journal {
    /// Enough to go and look in the provider's log; programs get all.
    private static let shownFingerprints = 8

    private let entries: [JournalEntry]
    private let codes: [Code]

    /// The deliveries that ended in one code.
    private struct Code {
        let name: String
        /// Newest first; at least one.
        let entries: [JournalEntry]

        var keyStates: [String] { Set(entries.map(\.keyState.rawValue)).sorted() }

        /// Newest first, each once.
        var fingerprints: [String] {
            var seen: Set<EnvelopeFingerprint> = []
            return entries.compactMap(\.fingerprint).filter { seen.insert($0).inserted }.map(\.description)
        }

        /// The meanings in a journal: a delivery never ends in a code of sealing, for instance.
        var explanations: [Explanation] {
            Explanation.of(name).filter { meaning in
                meaning.areas.contains { ["delivery", "opening", "store"].contains($0.name) }
            }
        }
    }

    init(_ journal: JournalExport) {
        // By time, not by place: a phone's clock may have been set back.
        entries = journal.entries.sorted { $0.time < $1.time }
        codes = Dictionary(grouping: entries.reversed(), by: \.code).map(Code.init)
            .sorted { ($1.entries.count, $0.name) < ($0.entries.count, $1.name) }
    }

    // MARK: Text forms

    /// The counts, then the explanation of every code that occurs.
    func text(_ console: Console) -> String {
        guard let first = entries.first, let last = entries.last else { return "no deliveries\n" }
        let slowest = entries.map(\.milliseconds).max() ?? 0
        let head =
            "deliveries: \(entries.count), from \(first.time) to \(last.time); the slowest took \(slowest) ms\n\n"
        let explained = codes.flatMap { code in
            code.explanations.isEmpty
                ? ["\(code.name): this version has no explanation of it\n"]
                : code.explanations.map { $0.text(console) }
        }
        return ([head + listed(codes.map { ($0.name, line($0)) })] + explained).joined(separator: "\n")
    }

    private func line(_ code: Code) -> String {
        let (count, fingerprints) = (code.entries.count, code.fingerprints)
        var line = (count == 1 ? "once" : "\(count) times") + "; last at \(code.entries[0].time)"
        line += "; key \(code.keyStates.joined(separator: " or "))"
        if fingerprints.isEmpty { return line }
        let rest = fingerprints.count - Self.shownFingerprints
        line += "; envelopes \(fingerprints.prefix(Self.shownFingerprints).joined(separator: " "))"
        return rest > 0 ? line + " and \(rest) more" : line
    }

    /// One object.
    var json: String {
        jsonLine { json in
            json.integer(entries.count, for: "deliveries")
            if let first = entries.first { json.integer(first.time.milliseconds, for: "first") }
            if let last = entries.last { json.integer(last.time.milliseconds, for: "last") }
            json.array(for: "codes") { json in
                for code in codes { json.object { write(code, to: &$0) } }
            }
        }
    }

    private func write(_ code: Code, to json: inout JSONWriter) {
        json.string(code.name, for: "code")
        json.integer(code.entries.count, for: "count")
        json.integer(code.entries[0].time.milliseconds, for: "last")
        json.strings(code.keyStates, for: "keys")
        json.strings(code.fingerprints, for: "fingerprints")
        json.array(for: "explanations") { json in
            for explanation in code.explanations { json.object { explanation.write(to: &$0) } }
        }
    }
}

/// A meaning of a code, as `Docs/Codes.md` explains it. The program contains that document.
struct Explanation: Sendable {
    let code: String
    /// The areas where the code has this meaning.
    let areas: [Area]
    /// One phrase, lower case, without a full stop.
    let summary: String
    /// The cause; empty if the summary says it.
    let text: String
    fileprivate(set) var fix = "None needed."
    /// The phone's display, and who learns of the code.
    fileprivate(set) var shown: String

    /// A part of the project that has codes.
    struct Area: Equatable, Sendable {
        let name: String
        let title: String
        fileprivate let shown: String
    }

    static let (areas, all) = parsed(String(decoding: PackageResources.Codes_md, as: UTF8.self))

    static var codes: [String] { Set(all.map(\.code)).sorted() }

    /// The meanings of a code; none of an unknown one.
    static func of(_ code: String) -> [Explanation] { all.filter { $0.code == code } }
}

// MARK: Reading the document

extension Explanation {
    /// Reads the sections of areas, and in them those of codes.
    private static func parsed(_ document: String) -> (areas: [Area], explanations: [Explanation]) {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        // A terminal shows quotation marks.
        let paragraphs = lines.split(separator: "").map { lines in
            String(lines.joined(separator: " ").map { $0 == "`" ? "'" : $0 })
        }
        let areas = paragraphs.indices.compactMap { index in
            paragraphs[index].after("## ").map { title in
                let name = paragraphs[index + 1].dropFirst().prefix { $0 != "'" }
                return Area(name: String(name), title: title, shown: paragraphs[index + 2].after("**Shown:** ") ?? "")
            }
        }
        var explanations: [Explanation] = []
        var (area, code) = (areas[0], "")
        for paragraph in paragraphs {
            if let title = paragraph.after("## ") {
                (area, code) = (areas.first { $0.title == title } ?? area, "")
            } else if let name = paragraph.after("### ") {
                code = name
            } else if code.isEmpty {
                continue
            } else if let fix = paragraph.after("**Fix:** ") {
                explanations[explanations.count - 1].fix = fix
            } else if let shown = paragraph.after("**Shown:** ") {
                explanations[explanations.count - 1].shown = shown
            } else {
                explanations.append(Explanation(code, paragraph, in: area, of: areas))
            }
        }
        return (areas, explanations)
    }

    /// Reads the paragraph that begins a meaning: the names of its areas, unless it is of `area` alone, and sentences.
    private init(_ code: String, _ paragraph: String, in area: Area, of all: [Area]) {
        var (areas, sentences) = ([area], paragraph[...])
        if let rest = paragraph.after("**In ") {
            let names = rest.prefix { $0 != ":" }.split { $0 == "," || $0 == " " }
            areas = names.compactMap { name in all.first { $0.name == name } }
            sentences = rest.drop { $0 != "*" }.dropFirst(3)
        }
        let end = sentences.indices.first { [".", ". "].contains(sentences[$0...].prefix(2)) } ?? sentences.endIndex
        let first = sentences[..<end]
        // Names such as APNs stay.
        let isName = first.dropFirst().first?.isUppercase == true
        summary = isName ? String(first) : first.prefix(1).lowercased() + first.dropFirst()
        text = String(sentences[end...].dropFirst(2))
        (self.code, self.areas, shown) = (code, areas, areas[0].shown)
    }
}

extension String {
    /// The rest of a text that begins with `start`.
    fileprivate func after(_ start: String) -> String? { hasPrefix(start) ? String(dropFirst(start.count)) : nil }
}

// MARK: Text forms

extension Explanation {
    /// The meaning for a terminal.
    func text(_ console: Console) -> String {
        let rows = [
            ("where", areas.map(\.title).joined(separator: "; ")), ("text", text), ("fix", fix), ("shown", shown),
        ]
        return console.styled(code, .bold) + " - \(summary)\n\n" + listed(rows.filter { $0.1 != "" }, indent: 0)
    }

    /// Writes the members of the object that programs read.
    func write(to json: inout JSONWriter) {
        json.string(code, for: "code")
        json.strings(areas.map(\.name), for: "where")
        json.string(summary, for: "summary")
        if !text.isEmpty { json.string(text, for: "text") }
        json.string(fix, for: "fix")
        json.string(shown, for: "shown")
    }

    /// One object on a line.
    var json: String { jsonLine(write) }

    /// All codes by area, each with its phrase.
    static var list: String {
        areas.map { area in
            "\(area.title):\n" + listed(all.filter { $0.areas.contains(area) }.map { ($0.code, $0.summary) })
        }.joined(separator: "\n")
    }
}
