/// A scene as one SVG file.
///
/// SVG breaks no lines, so they are broken here, by estimated widths.
struct SVGScene {
    private static let margin = 20.0
    private static let gap = 20.0

    let text: String

    init(_ scene: PreviewScene, _ appearance: PreviewAppearance) {
        let panels = scene.panels.map(SVGPanel.init)
        let width = 2 * Self.margin + Double(panels.count) * (SVGPanel.width + Self.gap) - Self.gap
        let height = 2 * Self.margin + (panels.map(\.height).max() ?? 0)
        let total = height * Double(appearance.classes.count)
        var markup = Markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        markup.element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "width": svg(width), "height": svg(total),
                "viewBox": "0 0 \(svg(width)) \(svg(total))", "role": "img", "aria-label": Self.description(of: scene),
                "xml:lang": "en",
            ]
        ) { markup in
            markup.style(Self.style(appearance))
            for (index, name) in appearance.classes.enumerated() {
                let top = Double(index) * height
                markup.element("g", ["class": name, "transform": "translate(0 \(svg(top)))"]) { markup in
                    markup.shape("rect", ["class": "page", "width": svg(width), "height": svg(height)])
                    for (index, panel) in panels.enumerated() {
                        let x = Self.margin + Double(index) * (SVGPanel.width + Self.gap)
                        panel.draw(atX: x, y: Self.margin, into: &markup)
                    }
                }
            }
        }
        markup.newline()
        text = markup.text
    }

    /// What somebody is told who sees no drawing.
    private static func description(of scene: PreviewScene) -> String {
        scene.panels.map { panel in
            let texts = [panel.card.title, panel.card.subtitle, panel.card.body].filter { !$0.isEmpty }
            var bidi = BidiLine()
            return "\(panel.heading): " + texts.map { bidi.closed($0.text) }.joined(separator: ", ")
        }.joined(separator: ". ")
    }

    private static func style(_ appearance: PreviewAppearance) -> String {
        let names = ["page", "card", "wall", "bar", "thumb"]
        let colours = PreviewColours.rules(appearance) { scene, name, colour in
            switch name {
            case _ where names.contains(name): "\(scene) .\(name){fill:\(colour)}"
            case "rule", "line": "\(scene) .\(name){stroke:\(colour)}"
            case "ink": "\(scene) .title,\(scene) .body,\(scene) .value{fill:\(colour)}"
            case "dim": "\(scene) .tag,\(scene) .time,\(scene) .type,\(scene) .note,\(scene) .sealed{fill:\(colour)}"
            case "remark": "\(scene) .remark,\(scene) .name{fill:\(colour)}"
            default: "\(scene) .\(name){fill:\(colour)}"
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
