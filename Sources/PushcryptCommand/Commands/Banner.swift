internal import PushcryptReceiver

/// A notification as a person sees it, drawn for a terminal. What a stranger wrote cannot act on the terminal.
struct Banner {
    private static let width = 56

    private let lines: [String]

    init(_ delivery: Delivery, _ console: Console) {
        var text: [(String, TextStyle?)] = []
        let content = delivery.content
        for (line, style) in [(content.title, TextStyle.bold), (content.subtitle, .bold), (content.body, nil)]
        where !line.isEmpty {
            for part in line.description.split(separator: "\n", omittingEmptySubsequences: false) {
                for row in Self.wrapped(sanitized(forTerminal: String(part))) { text.append((row, style)) }
            }
        }
        if text.isEmpty { text = [("(nothing to show)", .dim)] }
        let edge = String(repeating: "─", count: Self.width + 2)
        lines =
            ["╭\(edge)╮"]
            + text.map { row, style in
                let padding = String(repeating: " ", count: max(0, Self.width - Self.columns(row)))
                return "│ \(style.map { console.styled(row, $0) } ?? row)\(padding) │"
            } + ["╰\(edge)╯", "  " + Self.caption(delivery)]
    }

    var text: String { lines.joined(separator: "\n") + "\n" }

    private static func caption(_ delivery: Delivery) -> String {
        let how =
            switch delivery.outcome {
            case .opened: delivery.content.interruptionLevel == .passive ? "opened, quietly" : "opened"
            case .passed: "not sealed"
            case .suppressed: "nothing shown: the message was shown before"
            case .fallback: "fallback"
            }
        return delivery.content.sound != nil ? "\(how), with sound" : how
    }

    /// The words in rows of at most `width` columns.
    private static func wrapped(_ text: String) -> [String] {
        var rows = [""]
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let last = rows[rows.count - 1]
            if last.isEmpty {
                rows[rows.count - 1] = String(word)
            } else if columns(last) + 1 + columns(word) <= width {
                rows[rows.count - 1] += " " + word
            } else {
                rows.append(String(word))
            }
        }
        return rows
    }

    /// The columns that most terminals give a text: two for East Asian wide characters and emoji.
    private static func columns(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + ($1.unicodeScalars.first.map(isWide) ?? false ? 2 : 1) }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}
