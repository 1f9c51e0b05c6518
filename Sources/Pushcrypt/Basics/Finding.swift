/// One result of a check, and how to fix it.
public struct Finding: Hashable, Sendable {
    /// How serious a finding is.
    public enum Severity: String, CaseIterable, Sendable {
        /// It does not work, or is not safe.
        case error
        /// It may not do what is meant, or should be fixed soon.
        case warning
        /// For information; nothing has to be fixed.
        case note
    }

    /// The code of the finding, as programs read it; nil if it has none.
    public let code: String?
    /// How serious the finding is.
    public let severity: Severity
    /// The place: a file, a field of a payload, a header; empty if the finding concerns everything checked.
    public let place: String
    /// A description of what was found; never holds key or payload bytes.
    public let message: String
    /// How to fix it; empty if there is nothing to fix, or the message already says how.
    public let fix: String

    package init(_ severity: Severity, code: String? = nil, at place: String = "", _ message: String, fix: String = "")
    {
        self.code = code
        self.severity = severity
        self.place = place
        self.message = message
        self.fix = fix
    }
}
