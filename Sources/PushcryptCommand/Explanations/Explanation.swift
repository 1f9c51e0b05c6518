internal import Pushcrypt
internal import PushcryptCommandKit

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
        json.array(for: "where") { json in for area in areas { json.string(area.name) } }
        json.string(summary, for: "summary")
        if !text.isEmpty { json.string(text, for: "text") }
        json.string(fix, for: "fix")
        json.string(shown, for: "shown")
    }

    /// One object on a line.
    var json: String {
        var json = JSONWriter()
        json.object(write)
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }

    /// All codes by area, each with its phrase.
    static var list: String {
        areas.map { area in
            "\(area.title):\n" + listed(all.filter { $0.areas.contains(area) }.map { ($0.code, $0.summary) })
        }.joined(separator: "\n")
    }
}
