internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

/// A notification as the user sees it, drawn for a terminal. Control characters in it are escaped.
struct Banner {
    /// The columns between the edges.
    static let width = 56

    /// A line and its style.
    typealias Row = (text: String, style: TextStyle?)

    private let lines: [String]

    init(_ delivery: Delivery, _ console: Console) {
        let content = delivery.content
        // The system shows a person's name as the title.
        let title = delivery.opened?.from?.name ?? content.title.description
        let rows = [(title, TextStyle.bold), (content.subtitle.description, .bold), (content.body.description, nil)]
            .flatMap { Self.rows(of: $0.0, $0.1) }
        lines = Self.frame([rows], console) + ["  " + Self.caption(delivery)]
    }

    var text: String { lines.joined(separator: "\n") + "\n" }

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
        let parts = [
            how, delivery.content.sound != nil ? "with sound" : nil,
            delivery.opened?.from.map { $0.avatar == nil ? "from a person" : "from a person with a picture" },
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    // MARK: The frame

    /// Breaks a text into rows, and cuts it after `maximumLines`; an empty text has none.
    static func rows(
        of text: String, _ style: TextStyle?, width: Int = width, atMost maximumLines: Int = .max
    ) -> [Row] {
        if text.isEmpty { return [] }
        let safe = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { sanitized(forTerminal: String($0)) }.joined(separator: "\n")
        let layout = LineLayout(width: Double(width), maximumLines: maximumLines, advance: TextMetrics.columns)
        return layout.lines(of: safe).lines.map { ($0, style) }
    }

    /// Draws groups of rows in a frame, separated by lines.
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

/// A scene as text: the panels one below the other.
struct TextScene {
    let text: String

    init(_ scene: PreviewScene, _ console: Console) {
        let panels = scene.panels.enumerated().map { index, panel in
            Self.lines(of: panel, number: index + 1, console).joined(separator: "\n") + "\n"
        }
        text = panels.joined(separator: "\n")
    }

    private static func lines(of panel: PreviewPanel, number: Int, _ console: Console) -> [String] {
        let banner = rows(of: panel.card, .banner)
        let expanded = rows(of: panel.card, .expanded)
        let actions = panel.card.actions.map(row)
        var lines = [console.styled("\(number). \(panel.heading)", .bold) + "  (\(panel.remark))"]
        lines += Banner.frame([banner], console)
        if !actions.isEmpty || !expanded.elementsEqual(banner, by: { $0.text == $1.text }) {
            lines.append("  expanded:")
            lines += Banner.frame([expanded] + (actions.isEmpty ? [] : [actions]), console)
        }
        var facts = panel.facts.map { (term: $0.name, meaning: $0.value) }
        if let seal = panel.seal { facts.append(("ENCRYPTED_DATA", seal.text)) }
        return lines + listed(facts).split(separator: "\n").map(String.init)
    }

    private static func rows(of card: PreviewCard, _ lines: PreviewCard.Lines) -> [Banner.Row] {
        Banner.rows(of: card.tag ?? "", .dim) + Banner.rows(of: card.title.text, .bold, atMost: lines.title)
            + Banner.rows(of: card.subtitle.text, .bold, atMost: lines.subtitle)
            + Banner.rows(of: card.body.text, nil, atMost: lines.body)
            + (card.thumbnail.map { [("[\($0)]", .dim)] } ?? [])
    }

    private static func row(_ action: PreviewCard.Action) -> Banner.Row {
        // Half of the width is left for the note.
        let title = Banner.rows(of: action.title.text, nil, width: Banner.width / 2 - 6, atMost: 1).first?.text ?? ""
        return ("[ \(title) ]" + (action.note.isEmpty ? "" : "  \(action.note)"), action.isDestructive ? .red : nil)
    }
}
