internal import Pushcrypt
internal import PushcryptCommandKit

// The three forms of an explanation: for a terminal, for programs, and for `Docs/Codes.md`.

extension Explanation {
    /// For a person: the code, and what there is to say of it.
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
    /// The whole document.
    static var document: String {
        documentHead
            + Area.allCases.map { area in
                let entries = all.filter { $0.areas.first == area }
                let guests = all.filter { $0.areas.dropFirst().contains(area) }.map { "`\($0.code)`" }
                let same = guests.isEmpty ? "" : " As above: \(guests.joined(separator: ", "))."
                return "\n## \(area.title)\n\n" + paragraph(area.introduction + same)
                    + entries.map { "\n### `\($0.code)`\n\n" + paragraph($0.sentences) }.joined()
            }.joined()
    }

    private static let documentHead =
        "# Codes\n\n"
        + paragraph(
            "Every code that this project gives, with its cause, how to fix it and who sees what. 'pushcrypt explain CODE' prints the same, 'pushcrypt explain JOURNAL' explains the journal of a phone, and this document is written by 'pushcrypt explain --markdown'."
        ) + "\n"
        + paragraph(
            "The person with the phone never sees a code: whatever fails ends in the fallback. A code never contains anything of a notification or of a key."
        )

    private var sentences: String {
        "\(summary.prefix(1).uppercased())\(summary.dropFirst()). **Cause.** \(cause) **Fix.** \(fix) **Shown.** \(shown)"
    }

    private static func paragraph(_ text: String) -> String { wrapped(text, width: 120) }
}
