internal import PushcryptCommandKit

/// A scene as a self-contained SVG file, light or dark like the reader's screen.
///
/// SVG does not break lines, so they are broken here, by estimated widths. Lengths are in points, as a phone has them.
struct SVG {
    let text: String

    /// The drawing as a page of HTML.
    var page: String { "<!doctype html><meta charset=utf-8><title>A push, drawn by pushcrypt</title>\n" + text }

    init(_ scene: Scene) {
        let (margin, step) = (20, Panel.width + 20)
        let panels = scene.panels.map(\.drawing)
        let (width, height) = (margin + panels.count * step, 2 * margin + (panels.map(\.height).max() ?? 0))
        var text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
            + "viewBox=\"0 0 \(width) \(height)\" role=\"img\" aria-label=\"\(XML.escaped(Self.description(of: scene)))\" "
            + "xml:lang=\"en\"><style>\(Self.style)</style>"
        text += Piece.box("page", width: width, height: height).markup + "\n"
        for (index, panel) in panels.enumerated() {
            text += panel.at(margin + index * step, margin, "panel").markup + "\n"
        }
        self.text = text + "</svg>\n"
    }

    /// The description for readers who cannot see the drawing.
    private static func description(of scene: Scene) -> String {
        scene.panels.map { panel in
            let texts = [panel.card.title, panel.card.subtitle, panel.card.body].filter { !$0.isEmpty }
            var bidi = BidiLine()
            return "\(panel.heading): " + texts.map { bidi.closed($0.text) }.joined(separator: ", ")
        }.joined(separator: ". ")
    }

    // MARK: Style

    /// The colours of both appearances. Text has a contrast of at least 4.5 to its background.
    static let colours: [(classes: String, light: String, dark: String)] = [
        (".page", "#ffffff", "#0d1117"), (".wall", "#dce5f4", "#1b2338"), (".card", "#fbfcfe", "#2d323f"),
        (".thumb,.line", "#e3e8f1", "#3b4252"), (".heading,.title,.subtitle,.body,.value", "#15181e", "#f0f3f8"),
        (".remark,.label,.tag,.time,.type,.note,.name,.sealed", "#4a5568", "#aab5cb"),
        (".action", "#0b57c4", "#7db5ff"),
        (".danger", "#c01d1d", "#ff8a80"),
    ]

    /// The reader's system supplies the fonts, including those for other scripts and emoji.
    private static var style: String {
        let light = colours.map { "\($0.classes){fill:\($0.light)}" }.joined()
        let dark = colours.map { "\($0.classes){fill:\($0.dark)}" }.joined()
        return """
            text{font:15px -apple-system,BlinkMacSystemFont,'SF Pro Text','Segoe UI',Roboto,'Noto Sans','Helvetica Neue',\
            Arial,sans-serif;white-space:pre}.heading{font-size:19px;font-weight:700}.title,.subtitle{font-weight:600}\
            .remark,.label,.tag,.time{font-size:13px}.label,.type{font-weight:600}.type,.note,.name{font-size:11.5px}\
            .value,.sealed{font:11.5px ui-monospace,SFMono-Regular,Menlo,Consolas,'Noto Sans Mono','DejaVu Sans Mono',\
            monospace}\(light)@media (prefers-color-scheme:dark){\(dark)}
            """
    }
}

// MARK: Pieces

/// A piece of a drawing, and its height.
private struct Piece {
    private(set) var markup = ""
    var height = 0

    /// Adds a piece below.
    mutating func add(_ piece: Piece, _ name: String = "") {
        markup += piece.at(0, height, name).markup
        height += piece.height
    }

    /// Draws a piece over the others.
    mutating func draw(_ piece: Piece) { markup += piece.markup }

    /// The piece at another place.
    func at(_ x: Int, _ y: Int, _ name: String = "") -> Piece {
        let start = name.isEmpty ? "" : " class=\"\(name)\""
        return Piece(markup: "<g\(start) transform=\"translate(\(x) \(y))\">\(markup)</g>", height: height)
    }

    static func box(_ name: String, width: Int, height: Int, radius: Int = 0) -> Piece {
        let size = "width=\"\(width)\" height=\"\(height)\" rx=\"\(radius)\""
        return Piece(markup: "<rect class=\"\(name)\" \(size)/>", height: height)
    }

    /// A line of text that begins at a place, on the right if that is its direction; or that has its anchor there.
    static func text(
        _ text: String, _ name: String, _ x: Int, _ y: Int, anchor: String = "start",
        direction: PreviewText.Direction = .leftToRight
    ) -> Piece {
        let place = "x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\""
        // The language is unknown; librsvg leaves out a text whose language is empty.
        let writing = "direction=\"\(direction.rawValue)\" xml:lang=\"und\""
        return Piece(markup: "<text class=\"\(name)\" \(place) \(writing)>\(XML.escaped(text))</text>")
    }

    /// A person's face, or an app's icon: a speech bubble with a lock.
    static func icon(_ face: String?) -> Piece {
        guard let face else {
            return Piece(
                markup: """
                    <rect width="40" height="40" rx="9.5" fill="#3468e0"/><path fill="#ffffff" d="M20 8.5c-7.2 0-12.5 4.4-12.5 \
                    10.3 0 3.6 2 6.6 5.2 8.5l-1.5 5 6-3.4c.9.1 1.8.2 2.8.2 7.2 0 12.5-4.4 12.5-10.3S27.2 8.5 20 8.5z"/>\
                    <path fill="none" stroke="#3468e0" stroke-width="1.8" d="M16.8 18v-2a3.2 3.2 0 0 1 6.4 0v2M16 19h8v5h-8z"/>
                    """)
        }
        var piece = Piece(markup: "<rect width=\"40\" height=\"40\" rx=\"20\" fill=\"#c9d3e6\"/>")
        piece.draw(text(face, "face", 20, 25, anchor: "middle"))
        return piece
    }
}

extension Panel {
    fileprivate static let width = 348
    private static let inset = 12

    fileprivate var drawing: Piece {
        var wall = Piece()
        func add(_ piece: Piece, _ label: String, _ name: String) {
            wall.draw(.text(label, "label", Self.inset + 6, wall.height + 21))
            wall.height += 30
            wall.add(piece.at(Self.inset, 0), name)
        }
        let (banner, expanded) = (card.drawing(isExpanded: false), card.drawing(isExpanded: true))
        add(banner.piece, label, "banner")
        if expanded.shown != banner.shown { add(expanded.piece, "Expanded", "expanded") }
        if let sealed {
            var box = Piece.box("card", width: Card.width, height: 44, radius: 16)
            box.draw(.text(sealed, "sealed", 16, 27))
            add(box, "ENCRYPTED_DATA", "seal")
        }
        wall.height += Self.inset

        var panel = Piece()
        panel.draw(.text(heading, "heading", 2, 20))
        panel.draw(.text(remark, "remark", 2, 42))
        panel.height = 62
        panel.draw(Piece.box("wall", width: Self.width, height: wall.height, radius: 28).at(0, panel.height))
        panel.add(wall)
        panel.height += 8
        for fact in facts { panel.add(fact.drawing) }
        return panel
    }
}

extension Card {
    fileprivate static let width = 324

    private enum Size {
        static let padding = 13
        static let left = 66
        static let right = Card.width - padding
        static let line = 20
        static let font = 15.0
        static let thumbnail = 38
        static let picture = 132
        static let action = 42
    }

    /// A line of text with its style.
    private typealias Line = (text: String, name: String, direction: PreviewText.Direction)

    /// The drawing of a view and its content; the expanded view is omitted if it shows no more than the banner.
    fileprivate func drawing(isExpanded: Bool) -> (piece: Piece, shown: [String]) {
        let thumbnail = isExpanded ? nil : thumbnail
        let room = Size.right - Size.left - (thumbnail == nil ? 0 : Size.thumbnail + Size.padding)
        // The time stands beside the first line.
        let firstRoom = thumbnail == nil ? room - 34 : room
        var lines: [Line] = tag.isEmpty ? [] : [(tag, "tag", .leftToRight)]
        for (text, name, maximum) in texts(isExpanded: isExpanded) where !text.isEmpty {
            let width = Double(lines.isEmpty ? firstRoom : room) / Size.font
            let advance = name == "body" ? TextMetrics.regular : TextMetrics.bold
            let broken = TextLayout(width: width, maximumLines: maximum, advance: advance).lines(of: text.text)
            lines += broken.map { ($0, name, text.direction) }
        }
        if lines.isEmpty { lines = [("(nothing to show)", "tag", .leftToRight)] }
        let height = max(lines.count, 2) * Size.line + 24
        let hasPicture = isExpanded && self.thumbnail != nil
        var card = Piece.box(
            "card", width: Self.width, height: hasPicture ? height + Size.picture + Size.padding : height, radius: 20)
        card.draw(.icon(face).at(Size.padding, height / 2 - 20))
        let first = (height - lines.count * Size.line) / 2 + 15
        for (index, line) in lines.enumerated() {
            let right = Size.left + (index == 0 ? firstRoom : room)
            card.draw(
                .text(
                    line.text, line.name, line.direction == .leftToRight ? Size.left : right,
                    first + index * Size.line, direction: line.direction))
        }
        if let thumbnail {
            let side = Size.thumbnail
            card.draw(Self.picture(thumbnail, side, side).at(Size.right - side, (height - side) / 2))
        } else {
            card.draw(.text("now", "time", Size.right, first, anchor: "end"))
        }
        if !isExpanded { return (card, lines.map(\.text)) }
        if let type = self.thumbnail {
            card.draw(Self.picture(type, Size.right - Size.padding, Size.picture).at(Size.padding, height))
        }
        if !actions.isEmpty {
            card.height += 8
            card.add(buttons)
        }
        return (card, lines.map(\.text) + [self.thumbnail].compactMap(\.self) + actions.map(\.title.text))
    }

    private static func picture(_ type: String, _ width: Int, _ height: Int) -> Piece {
        var picture = Piece.box("thumb", width: width, height: height, radius: 7)
        picture.draw(.text(type, "type", width / 2, height / 2 + 4, anchor: "middle"))
        return picture
    }

    private var buttons: Piece {
        var buttons = Piece.box("card", width: Self.width, height: actions.count * Size.action, radius: 16)
        for (index, action) in actions.enumerated() {
            var button = Piece()
            if index > 0 { button.draw(Piece.box("line", width: Self.width - 16, height: 1).at(16, 0)) }
            let (title, room) = (action.title, action.note.isEmpty ? Self.width - 32 : Self.width / 2)
            let layout = TextLayout(
                width: Double(room) / Size.font, maximumLines: 1, advance: TextMetrics.regular)
            button.draw(
                .text(
                    layout.lines(of: title.text)[0], action.isDestructive ? "danger" : "action",
                    title.direction == .leftToRight ? 16 : 16 + room, 26, direction: title.direction))
            button.draw(.text(action.note, "note", Self.width - 16, 25, anchor: "end"))
            buttons.draw(button.at(0, index * Size.action))
        }
        return buttons
    }
}

extension Fact {
    fileprivate var drawing: Piece {
        let (left, font) = (106, 11.5)
        let names = TextLayout(width: Double(left - 8) / font, maximumLines: 1, advance: TextMetrics.regular)
        let values = TextLayout(
            width: Double(Panel.width - left) / font, maximumLines: 2, advance: { max(0.64, TextMetrics.regular($0)) })
        var piece = Piece()
        piece.draw(.text(names.lines(of: name)[0], "name", 2, 16))
        for line in values.lines(of: value) {
            piece.height += 17
            piece.draw(.text(line, "value", left, piece.height - 1))
        }
        return piece
    }
}
