/// A scene as one SVG file.
///
/// SVG does not break lines, so they are broken here, by estimated widths.
struct SVGScene {
    private static let margin = 20.0
    private static let gap = 20.0

    let text: String

    init(_ scene: PreviewScene) {
        let panels = scene.panels.map(SVGPanel.init)
        let width = 2 * Self.margin + Double(panels.count) * (SVGPanel.width + Self.gap) - Self.gap
        let height = 2 * Self.margin + (panels.map(\.height).max() ?? 0)
        var markup = Markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        markup.element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "width": svg(width), "height": svg(height),
                "viewBox": "0 0 \(svg(width)) \(svg(height))", "role": "img", "aria-label": Self.description(of: scene),
                "xml:lang": "en",
            ]
        ) { markup in
            markup.style(Self.style)
            markup.shape("rect", ["class": "page", "width": svg(width), "height": svg(height)])
            for (index, panel) in panels.enumerated() {
                let x = Self.margin + Double(index) * (SVGPanel.width + Self.gap)
                panel.draw(atX: x, y: Self.margin, into: &markup)
            }
        }
        markup.newline()
        text = markup.text
    }

    /// The description for readers who cannot see the drawing.
    private static func description(of scene: PreviewScene) -> String {
        scene.panels.map { panel in
            let texts = [panel.card.title, panel.card.subtitle, panel.card.body].filter { !$0.isEmpty }
            var bidi = BidiLine()
            return "\(panel.heading): " + texts.map { bidi.closed($0.text) }.joined(separator: ", ")
        }.joined(separator: ". ")
    }

    private static var style: String {
        let names = ["page", "card", "wall", "bar", "thumb"]
        let colours = PreviewColours.rules { name, colour in
            switch name {
            case _ where names.contains(name): ".\(name){fill:\(colour)}"
            case "rule", "line": ".\(name){stroke:\(colour)}"
            case "ink": ".title,.body,.value{fill:\(colour)}"
            case "dim": ".tag,.time,.type,.note,.sealed{fill:\(colour)}"
            case "remark": ".remark,.name{fill:\(colour)}"
            default: ".\(name){fill:\(colour)}"
            }
        }
        return """
            text{font:15px \(PreviewColours.font);white-space:pre}.heading{font-size:19px;font-weight:700}\
            .remark{font-size:13px}.title{font-weight:600}.time,.label,.tag{font-size:13px}.label{font-weight:600}\
            .type{font-size:11px;font-weight:600}.note{font-size:12px}.name{font-size:11.5px}\
            .value,.sealed{font:11.5px \(PreviewColours.monospace)}.line,.rule{fill:none}.badge{fill:#d0021b}\
            .number{font-size:13px;font-weight:600;fill:#ffffff}\(colours)
            """
    }
}

/// A heading, a screen, and facts below it.
struct SVGPanel {
    static let width = 348.0

    private enum Size {
        static let inset = 12.0
        static let heading = 62.0
        static let label = 30.0
        static let fact = 17.0
        static let factFont = 11.5
        static let factName = 106.0
        static let seal = 92.0
        static let home = 78.0
    }

    private let panel: PreviewPanel
    private let banner: SVGCard
    private let expanded: SVGCard?
    private let facts: [(name: String, values: [String])]

    init(_ panel: PreviewPanel) {
        self.panel = panel
        let width = Self.width - 2 * Size.inset
        banner = SVGCard(panel.card, width: width, isExpanded: false)
        expanded = panel.card.hasMore ? SVGCard(panel.card, width: width, isExpanded: true) : nil
        let layout = LineLayout(
            width: (Self.width - Size.factName) / Size.factFont, maximumLines: 2,
            advance: { max(0.64, TextMetrics.regular($0)) })
        let name = LineLayout(width: (Size.factName - 8) / Size.factFont, maximumLines: 1, advance: TextMetrics.regular)
        facts = panel.facts.map { (name.lines(of: $0.name).lines[0], layout.lines(of: $0.value).lines) }
    }

    /// The height of everything.
    var height: Double {
        Size.heading + screenHeight + 14 + Double(facts.reduce(0) { $0 + $1.values.count }) * Size.fact
    }

    private var screenHeight: Double {
        Size.inset + Size.label + banner.height + (expanded.map { Size.label + $0.height } ?? 0)
            + (panel.seal == nil ? 0 : Size.label + Size.seal) + (panel.card.badge == nil ? 0 : Size.home)
    }

    func draw(atX x: Double, y: Double, into markup: inout Markup) {
        let place = "translate(\(svg(x)) \(svg(y)))"
        markup.element("g", ["class": "panel \(panel.role)", "transform": place]) { markup in
            markup.element("text", ["class": "heading", "x": "2", "y": "20"], text: panel.heading)
            markup.element("text", ["class": "remark", "x": "2", "y": "42"], text: panel.remark)
            let width = svg(Self.width)
            markup.shape(
                "rect",
                ["class": "wall", "y": svg(Size.heading), "width": width, "height": svg(screenHeight), "rx": "28"])
            drawScreen(into: &markup)
            drawFacts(below: Size.heading + screenHeight, into: &markup)
        }
        markup.newline()
    }

    private func drawScreen(into markup: inout Markup) {
        var y = Size.heading
        label(panel.cardLabel, &y, into: &markup)
        banner.draw(atX: Size.inset, y: y, into: &markup, "banner")
        y += banner.height
        if let expanded {
            label("Expanded", &y, into: &markup)
            expanded.draw(atX: Size.inset, y: y, into: &markup, "expanded")
            y += expanded.height
        }
        if let seal = panel.seal {
            label("ENCRYPTED_DATA", &y, into: &markup)
            draw(seal, y: y, into: &markup)
            y += Size.seal
        }
        if let badge = panel.card.badge { draw(badge: badge, y: y, into: &markup) }
    }

    private func label(_ text: String, _ y: inout Double, into markup: inout Markup) {
        markup.element("text", ["class": "label", "x": svg(Size.inset + 6), "y": svg(y + 21)], text: text)
        y += Size.label
    }

    private func draw(_ seal: PreviewSeal, y: Double, into markup: inout Markup) {
        let width = Self.width - 2 * Size.inset
        markup.shape(
            "rect",
            [
                "class": "card", "x": svg(Size.inset), "y": svg(y), "width": svg(width), "height": svg(Size.seal),
                "rx": "20",
            ])
        for (index, part) in [0.92, 1.0, 0.6].enumerated() {
            markup.shape(
                "rect",
                [
                    "class": "bar", "x": svg(Size.inset + 16), "y": svg(y + 16 + Double(index) * 17),
                    "width": svg((width - 32) * part), "height": "9", "rx": "4.5",
                ])
        }
        markup.element(
            "text", ["class": "sealed", "x": svg(Size.inset + 16), "y": svg(y + Size.seal - 12)], text: seal.text)
    }

    /// The app's icon as it stands on the home screen.
    private func draw(badge: Int64, y: Double, into markup: inout Markup) {
        PreviewIcon.draw(atX: Size.inset + 6, y: y + 20, side: 52, into: &markup)
        if badge == 0 { return }
        let text = badge > 9999 ? "9999+" : "\(badge)"
        let width = max(22, 9 * Double(text.count) + 10)
        let right = Size.inset + 6 + 52 + 8 + max(0, width - 22)
        markup.shape(
            "rect",
            [
                "class": "badge", "x": svg(right - width), "y": svg(y + 12), "width": svg(width), "height": "22",
                "rx": "11",
            ])
        markup.element(
            "text",
            ["class": "number", "x": svg(right - width / 2), "y": svg(y + 27.5), "text-anchor": "middle"],
            text: text)
    }

    private func drawFacts(below top: Double, into markup: inout Markup) {
        var y = top + 24
        for fact in facts {
            markup.element("text", ["class": "name", "x": "2", "y": svg(y)], text: fact.name)
            for value in fact.values {
                markup.element("text", ["class": "value", "x": svg(Size.factName), "y": svg(y)], text: value)
                y += Size.fact
            }
        }
    }
}
