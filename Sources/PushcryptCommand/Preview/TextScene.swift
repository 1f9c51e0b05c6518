internal import PushcryptCommandKit

/// A scene for a terminal, or a file of text: the panels one below the other.
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
