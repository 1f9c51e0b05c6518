/// A notification on a screen, in SVG: the banner, or the expanded view.
struct SVGCard {
    /// Lengths in points, as a phone has them.
    private enum Size {
        static let padding = 13.0
        static let icon = 38.0
        static let thumbnail = 38.0
        static let line = 20.0
        static let font = 15.0
        static let time = 34.0
        static let action = 42.0
        static let gap = 8.0
        static let picture = 132.0
    }

    /// One line of text.
    private struct Line {
        let text: String
        let direction: PreviewText.Direction
        let style: String
    }

    let height: Double
    private let width: Double
    private let card: PreviewCard
    private let isExpanded: Bool
    private let lines: [Line]
    private let textWidth: Double
    /// The height of the texts and the icon, with the room around them.
    private let textHeight: Double
    /// The same with the picture below them.
    private let boxHeight: Double

    init(_ card: PreviewCard, width: Double, isExpanded: Bool) {
        self.card = card
        self.width = width
        self.isExpanded = isExpanded
        let shown = isExpanded ? PreviewCard.Lines.expanded : .banner
        var textWidth = width - 3 * Size.padding - Size.icon
        let hasThumbnail = card.thumbnail != nil && !isExpanded
        if hasThumbnail { textWidth -= Size.thumbnail + Size.padding }
        self.textWidth = textWidth
        // The time stands beside the first line.
        let firstWidth = hasThumbnail ? textWidth : textWidth - Size.time
        var lines = card.tag.map { [Line(text: $0, direction: .leftToRight, style: "tag")] } ?? []
        for (text, style, maximum) in [
            (card.title, "title", shown.title), (card.subtitle, "title", shown.subtitle),
            (card.body, "body", shown.body),
        ] {
            lines += Self.lines(text, style, maximum, lines.isEmpty ? firstWidth : textWidth)
        }
        if lines.isEmpty { lines = [Line(text: "(nothing to show)", direction: .leftToRight, style: "tag")] }
        self.lines = lines
        textHeight = max(Double(lines.count) * Size.line, Size.icon) + 2 * Size.padding - 2
        boxHeight = textHeight + (isExpanded && card.thumbnail != nil ? Size.picture + Size.padding : 0)
        let actions = isExpanded && !card.actions.isEmpty ? Size.gap + Size.action * Double(card.actions.count) : 0
        height = boxHeight + actions
    }

    private static func lines(_ text: PreviewText, _ style: String, _ maximum: Int, _ width: Double) -> [Line] {
        if text.isEmpty { return [] }
        let advance = style == "title" ? TextMetrics.bold : TextMetrics.regular
        let layout = LineLayout(width: width / Size.font, maximumLines: maximum, advance: advance)
        return layout.lines(of: text.text).lines.map { Line(text: $0, direction: text.direction, style: style) }
    }

    // MARK: Drawing

    func draw(atX x: Double, y: Double, into markup: inout Markup, _ name: String) {
        markup.element("svg", ["class": name, "x": svg(x), "y": svg(y), "width": svg(width), "height": svg(height)]) {
            markup in
            markup.shape("rect", ["class": "card", "width": svg(width), "height": svg(boxHeight), "rx": "20"])
            let top = (textHeight - Size.icon) / 2
            PreviewIcon.draw(card.face, atX: Size.padding, y: top, side: Size.icon, into: &markup)
            drawLines(into: &markup)
            drawEdge(into: &markup)
            if isExpanded { drawMore(into: &markup) }
        }
        markup.newline()
    }

    private func drawLines(into markup: inout Markup) {
        let left = 2 * Size.padding + Size.icon
        let top = (textHeight - Double(lines.count) * Size.line) / 2
        for (index, line) in lines.enumerated() {
            let isBesideTime = index == 0 && (isExpanded || card.thumbnail == nil)
            let right = left + textWidth - (isBesideTime ? Size.time : 0)
            let x = line.direction == .leftToRight ? left : right
            markup.element(
                "text",
                [
                    "class": line.style, "x": svg(x), "y": svg(top + Double(index) * Size.line + 14.5),
                    "direction": line.direction.rawValue, "xml:lang": "und",
                ], text: line.text)
        }
    }

    /// The time, or in a banner the first attachment in its place.
    private func drawEdge(into markup: inout Markup) {
        let right = width - Size.padding
        guard let thumbnail = card.thumbnail, !isExpanded else {
            let top = (textHeight - Double(lines.count) * Size.line) / 2
            return markup.element(
                "text", ["class": "time", "x": svg(right), "y": svg(top + 14), "text-anchor": "end"], text: "now")
        }
        draw(
            picture: thumbnail, atX: right - Size.thumbnail, y: (textHeight - Size.thumbnail) / 2,
            width: Size.thumbnail, height: Size.thumbnail, into: &markup)
    }

    private func draw(
        picture type: String, atX x: Double, y: Double, width: Double, height: Double, into markup: inout Markup
    ) {
        let (w, h) = (svg(width), svg(height))
        markup.shape("rect", ["class": "thumb", "x": svg(x), "y": svg(y), "width": w, "height": h, "rx": "7"])
        markup.element(
            "text",
            ["class": "type", "x": svg(x + width / 2), "y": svg(y + height / 2 + 4), "text-anchor": "middle"],
            text: type)
    }

    private func drawMore(into markup: inout Markup) {
        if let thumbnail = card.thumbnail {
            draw(
                picture: thumbnail, atX: Size.padding, y: textHeight, width: width - 2 * Size.padding,
                height: Size.picture, into: &markup)
        }
        if card.actions.isEmpty { return }
        let top = boxHeight + Size.gap
        let height = Size.action * Double(card.actions.count)
        markup.shape("rect", ["class": "card", "y": svg(top), "width": svg(width), "height": svg(height), "rx": "16"])
        for (index, action) in card.actions.enumerated() {
            let y = top + Double(index) * Size.action
            if index > 0 {
                markup.shape("path", ["class": "line", "d": "M16 \(svg(y))H\(svg(width))"])
            }
            let room = action.note.isEmpty ? width - 32 : width * 0.5
            let title = Self.lines(action.title, "", 1, room).first
            let isRight = action.title.direction == .rightToLeft
            markup.element(
                "text",
                [
                    "class": action.isDestructive ? "danger" : "action", "x": svg(isRight ? 16 + room : 16),
                    "y": svg(y + Size.action / 2 + 5), "direction": action.title.direction.rawValue, "xml:lang": "und",
                ], text: title?.text ?? "")
            if action.note.isEmpty { continue }
            markup.element(
                "text",
                ["class": "note", "x": svg(width - 16), "y": svg(y + Size.action / 2 + 4), "text-anchor": "end"],
                text: action.note)
        }
    }
}
