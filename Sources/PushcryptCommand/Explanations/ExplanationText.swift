internal import Pushcrypt
internal import PushcryptCommandKit

// The three forms of an explanation: for a terminal, for programs, and for `Docs/Codes.md`.

extension Explanation {
    /// Everything about the code, for a terminal.
    func text(_ console: Console) -> String {
        console.styled(code, .bold) + " - \(summary)\n\n"
            + listed(
                [
                    ("where", areas.map(\.title).joined(separator: "; ")), ("cause", cause), ("fix", fix),
                    ("shown", shown),
                ], indent: 0)
    }

    /// Writes the members of the object that programs read.
    func write(to json: inout JSONWriter) {
        json.string(code, for: "code")
        json.array(for: "where") { json in
            for area in areas { json.string(area.rawValue, for: nil) }
        }
        json.string(summary, for: "summary")
        json.string(cause, for: "cause")
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
        Area.allCases.map { area in
            "\(area.title):\n" + listed(all.filter { $0.areas.contains(area) }.map { ($0.code, $0.summary) })
        }.joined(separator: "\n")
    }
}

// MARK: Docs/Codes.md

extension Explanation {
    /// The whole document. What most codes of an area have in common is said once, at its beginning.
    static var document: String {
        documentHead
            + Area.allCases.map { area in
                let entries = all.filter { $0.areas.first == area }
                let guests = all.filter { $0.areas.dropFirst().contains(area) }.map { "`\($0.code)`" }
                let same = guests.isEmpty ? "" : " Explained above: \(guests.joined(separator: ", "))."
                return "\n## \(area.title)\n\n" + paragraph("\(area.introduction)\(same) **Shown:** \(area.shown)")
                    + entries.map { "\n### `\($0.code)`\n\n" + paragraph($0.sentences) }.joined()
            }.joined()
    }

    private static let documentHead =
        "# Codes\n\n"
        + paragraph(
            "Every code with its cause and its fix. What the phone shows, and who else learns of it, is given for each section, and for a code where it differs. 'pushcrypt explain CODE' prints the same, and 'pushcrypt explain JOURNAL' explains a phone's journal. 'pushcrypt explain --markdown' writes this document."
        ) + "\n"
        + paragraph(
            "The phone's user never sees a code: every failure ends in the fallback. A code contains nothing of a notification or a key."
        )

    private var sentences: String {
        "\(summary.prefix(1).uppercased())\(summary.dropFirst()). \(cause) **Fix:** \(fix)"
            + (hasOwnEffect ? " **Shown:** \(shown)" : "")
    }

    private static func paragraph(_ text: String) -> String { wrapped(text, width: 120) }
}
