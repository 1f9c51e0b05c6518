internal import Pushcrypt
internal import PushcryptCommandKit

/// A finding of `lint`, and how to fix it.
struct LintFinding: Equatable, Sendable {
    enum Severity: String, Sendable {
        /// It will not work.
        case error
        /// It may not do what is meant, or could not be checked.
        case warning
        /// Worth knowing.
        case note
    }

    /// As the person can open it.
    let file: String
    let severity: Severity
    let text: String
    let fix: String

    static func error(_ file: String, _ text: String, fix: String) -> LintFinding {
        LintFinding(file: file, severity: .error, text: text, fix: fix)
    }

    static func warning(_ file: String, _ text: String, fix: String) -> LintFinding {
        LintFinding(file: file, severity: .warning, text: text, fix: fix)
    }

    static func note(_ file: String, _ text: String, fix: String) -> LintFinding {
        LintFinding(file: file, severity: .note, text: text, fix: fix)
    }

    /// One line; safe for a terminal, because projects hold what strangers wrote.
    func line(_ console: Console) -> String {
        let style: TextStyle =
            switch severity {
            case .error: .red
            case .warning: .yellow
            case .note: .dim
            }
        return sanitized(forTerminal: file) + ": " + console.styled(severity.rawValue + ":", style) + " "
            + sanitized(forTerminal: "\(text) — \(fix)") + "\n"
    }

    /// One object on a line; safe for a terminal too.
    func json(_ console: Console) -> String {
        var json = JSONWriter()
        json.object { json in
            json.string(file, for: "file")
            json.string(severity.rawValue, for: "level")
            json.string(text, for: "text")
            json.string(fix, for: "fix")
        }
        return console.shown(json: json.bytes) + "\n"
    }
}
