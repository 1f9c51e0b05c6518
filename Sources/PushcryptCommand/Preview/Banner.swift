internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

/// A notification as the user sees it, drawn for a terminal. Control characters in it are escaped.
struct Banner {
    let text: String

    init(_ delivery: Delivery, _ console: Console) {
        let content = delivery.content
        // The system shows a person's name as the title.
        let title = delivery.opened?.from?.name ?? content.title.description
        let rows = [(title, TextStyle.bold), (content.subtitle.description, .bold), (content.body.description, nil)]
            .flatMap { Frame.rows(of: $0.0, $0.1) }
        text = Frame.drawn([rows], console) + "  " + Self.caption(delivery) + "\n"
    }

    private static func caption(_ delivery: Delivery) -> String {
        let how =
            switch delivery.outcome {
            case .opened, .openedWithoutAttachment:
                delivery.content.interruptionLevel == .passive ? "opened, quietly" : "opened"
            case .passed: "not sealed"
            case .withdrawn: "withdrawn before it was shown"
            case .dropped: "not to be shown"
            case .suppressed: "nothing shown: the message was shown before"
            case .fallback: "fallback"
            }
        let sender = delivery.opened?.from.map {
            $0.avatar == nil ? "from a person" : "from a person with a picture"
        }
        let parts = [how, delivery.content.sound.map { _ in "with sound" }, sender]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension Scene {
    /// The panels one below the other, for a terminal.
    func text(_ console: Console) -> String {
        panels.enumerated().map { index, panel in
            let (banner, expanded) = (Frame.rows(of: panel.card, false), Frame.rows(of: panel.card, true))
            let actions = panel.card.actions.map(Frame.row)
            var text = console.styled("\(index + 1). \(panel.heading)", .bold) + "  (\(panel.remark))\n"
            text += Frame.drawn([banner], console)
            if !actions.isEmpty || expanded.map(\.text) != banner.map(\.text) {
                text += "  expanded:\n" + Frame.drawn(actions.isEmpty ? [expanded] : [expanded, actions], console)
            }
            let sealed = panel.sealed.map { [(PayloadKeys.encryptedData, $0)] } ?? []
            return text + listed(panel.facts.map { ($0.name, $0.value) } + sealed)
        }.joined(separator: "\n")
    }
}

/// Rows of text in a frame.
private enum Frame {
    /// The columns between the edges.
    private static let width = 56

    /// A line and its style.
    typealias Row = (text: String, style: TextStyle?)

    /// Breaks a text into rows, and cuts it after `maximumLines`; an empty text has none.
    static func rows(
        of text: String, _ style: TextStyle?, width: Int = width, atMost maximumLines: Int = .max
    ) -> [Row] {
        if text.isEmpty { return [] }
        let safe = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { sanitized(forTerminal: String($0)) }.joined(separator: "\n")
        let layout = TextLayout(width: Double(width), maximumLines: maximumLines, advance: TextMetrics.columns)
        return layout.lines(of: safe).map { ($0, style) }
    }

    static func rows(of card: Card, _ isExpanded: Bool) -> [Row] {
        rows(of: card.tag, .dim)
            + card.texts(isExpanded: isExpanded).flatMap { text, name, lines in
                rows(of: text.text, name == "body" ? nil : .bold, atMost: lines)
            } + (card.thumbnail.map { [("[\($0)]", .dim)] } ?? [])
    }

    static func row(_ action: Card.Action) -> Row {
        // Half of the width is left for the note.
        let title = rows(of: action.title.text, nil, width: width / 2 - 6, atMost: 1).first?.text ?? ""
        return ("[ \(title) ]" + (action.note.isEmpty ? "" : "  \(action.note)"), action.isDestructive ? .red : nil)
    }

    /// Draws groups of rows, separated by lines.
    static func drawn(_ groups: [[Row]], _ console: Console) -> String {
        let edge = String(repeating: "─", count: width + 2)
        let drawn = groups.map { rows in
            (rows.isEmpty ? [("(nothing to show)", .dim)] : rows).map { row in
                let columns = Int(row.text.reduce(0) { $0 + TextMetrics.columns($1) })
                let padding = String(repeating: " ", count: max(0, width - columns))
                return "│ \(row.style.map { console.styled(row.text, $0) } ?? row.text)\(padding) │\n"
            }.joined()
        }
        return "╭\(edge)╮\n" + drawn.joined(separator: "├\(edge)┤\n") + "╰\(edge)╯\n"
    }
}
