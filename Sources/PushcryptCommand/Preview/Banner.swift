internal import PushcryptCommandKit
internal import PushcryptReceiver

/// A notification as a person sees it, drawn for a terminal. What a stranger wrote cannot act on the terminal.
struct Banner {
    /// The columns between the edges.
    static let width = 56

    /// A line, and how it stands out.
    typealias Row = (text: String, style: TextStyle?)

    private let lines: [String]

    init(_ delivery: Delivery, _ console: Console) {
        let content = delivery.content
        let rows = [(content.title, TextStyle.bold), (content.subtitle, .bold), (content.body, nil)]
            .flatMap { Self.rows(of: $0.0.description, $0.1) }
        lines = Self.frame([rows], console) + ["  " + Self.caption(delivery)]
    }

    var text: String { lines.joined(separator: "\n") + "\n" }

    private static func caption(_ delivery: Delivery) -> String {
        let how =
            switch delivery.outcome {
            case .opened, .openedWithoutAttachment:
                delivery.content.interruptionLevel == .passive ? "opened, quietly" : "opened"
            case .passed: "not sealed"
            case .suppressed: "nothing shown: the message was shown before"
            case .fallback: "fallback"
            }
        return delivery.content.sound != nil ? "\(how), with sound" : how
    }

    // MARK: The frame

    /// A text in rows, cut if there are more than so many; none for an empty text.
    static func rows(
        of text: String, _ style: TextStyle?, width: Int = width, atMost maximumLines: Int = .max
    ) -> [Row] {
        if text.isEmpty { return [] }
        let safe = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { sanitized(forTerminal: String($0)) }.joined(separator: "\n")
        let layout = LineLayout(width: Double(width), maximumLines: maximumLines, advance: TextMetrics.columns)
        return layout.lines(of: safe).lines.map { ($0, style) }
    }

    /// Groups of rows in a frame, with a line between two of them.
    static func frame(_ groups: [[Row]], _ console: Console) -> [String] {
        let edge = String(repeating: "─", count: width + 2)
        let drawn = groups.map { rows in
            (rows.isEmpty ? [("(nothing to show)", .dim)] : rows).map { row in
                let columns = Int(row.text.reduce(0) { $0 + TextMetrics.columns($1) })
                let padding = String(repeating: " ", count: max(0, width - columns))
                return "│ \(row.style.map { console.styled(row.text, $0) } ?? row.text)\(padding) │"
            }
        }
        return ["╭\(edge)╮"] + drawn.joined(separator: ["├\(edge)┤"]) + ["╰\(edge)╯"]
    }
}
