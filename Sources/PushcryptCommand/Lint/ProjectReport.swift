internal import Pushcrypt
internal import PushcryptCommandKit

extension Finding {
    /// One line of a project's report; safe for a terminal, because projects may contain untrusted text.
    func projectLine(_ console: Console) -> String {
        sanitized(forTerminal: place) + ": " + console.styled(severity.rawValue + ":", severity.style) + " "
            + sanitized(forTerminal: "\(message) — \(fix)") + "\n"
    }

    /// One object on a line; safe for a terminal too.
    func projectJSON(_ console: Console) -> String {
        var json = JSONWriter()
        json.object { json in
            json.string(place, for: "file")
            json.string(severity.rawValue, for: "level")
            json.string(message, for: "text")
            json.string(fix, for: "fix")
        }
        return console.shown(json: json.bytes) + "\n"
    }
}

extension Finding.Severity {
    var style: TextStyle {
        switch self {
        case .error: .red
        case .warning: .yellow
        case .note: .dim
        }
    }
}
