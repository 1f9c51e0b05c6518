internal import PushcryptCommandKit

/// Writes XML, or HTML that is also XML: elements are always balanced, and texts are escaped.
struct Markup {
    /// Names are constants of the program; values may be untrusted.
    typealias Attributes = KeyValuePairs<StaticString, String>

    private(set) var text: String

    /// Begins with the text before the first element.
    init(_ start: StaticString = "") { text = "\(start)" }

    /// Writes an element with its content.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], _ content: (inout Markup) -> Void) {
        begin(name, attributes)
        text += ">"
        content(&self)
        text += "</\(name)>"
    }

    /// Writes an element with a text.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], text: String) {
        element(name, attributes) { $0.text += XML.escaped(text) }
    }

    /// Writes an empty element: a shape of SVG, or a void element of HTML.
    mutating func shape(_ name: StaticString, _ attributes: Attributes) {
        begin(name, attributes)
        text += "/>"
    }

    /// Writes style rules, which are constants of the program and need no escaping.
    mutating func style(_ rules: String) {
        precondition(!rules.contains { $0 == "<" || $0 == "&" }, "style rules with markup in them")
        text += "<style>\(rules)</style>"
    }

    mutating func newline() { text += "\n" }

    private mutating func begin(_ name: StaticString, _ attributes: Attributes) {
        text += "<\(name)"
        for (name, value) in attributes { text += " \(name)=\"\(XML.escaped(value))\"" }
    }
}

// MARK: Colours

/// The colours of both appearances, by use. Text has a contrast of at least 4.5 to its background.
enum PreviewColours {
    typealias Colour = (name: String, light: String, dark: String)

    private static let colours: [Colour] = [
        ("page", "#ffffff", "#0d1117"), ("heading", "#15181e", "#f0f3f8"), ("remark", "#5a6270", "#9aa4b2"),
        ("rule", "#e3e6ec", "#262c36"), ("wall", "#dce5f4", "#1b2338"), ("label", "#4a5568", "#aab5cb"),
        ("card", "#fbfcfe", "#2d323f"), ("ink", "#16181d", "#f3f5f9"), ("dim", "#60656f", "#a9b0bd"),
        ("line", "#dfe3ea", "#434a5a"), ("action", "#0b57c4", "#7db5ff"), ("danger", "#c01d1d", "#ff8a80"),
        ("bar", "#c2cbdb", "#4c566c"), ("thumb", "#e3e8f1", "#3b4252"),
    ]

    /// Returns rules for light, and for dark where the reader's screen is; `rule` makes one of a colour's name and the colour.
    static func rules(_ rule: (_ name: String, _ colour: String) -> String) -> String {
        rules(\.light, rule) + "@media (prefers-color-scheme:dark){" + rules(\.dark, rule) + "}"
    }

    static func rules(
        _ colour: (Colour) -> String, _ rule: (_ name: String, _ colour: String) -> String
    ) -> String {
        colours.map { rule($0.name, colour($0)) }.joined()
    }

    /// The fonts of the reader's system, which also chooses those for other scripts and emoji.
    static let font =
        "-apple-system,BlinkMacSystemFont,'SF Pro Text','Segoe UI',Roboto,'Noto Sans','Helvetica Neue',Arial,sans-serif"
    static let monospace = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Noto Sans Mono','DejaVu Sans Mono',monospace"
}

// MARK: The icon

/// The icon of an app: a speech bubble with a lock in it.
enum PreviewIcon {
    /// Draws a person's face, with the icon on its edge, or the icon alone if there is none.
    static func draw(_ face: String?, atX x: Double, y: Double, side: Double, into markup: inout Markup) {
        guard let face else { return draw(atX: x, y: y, side: side, into: &markup) }
        let (centre, middle) = (x + side / 2, y + side / 2)
        markup.shape("circle", ["cx": svg(centre), "cy": svg(middle), "r": svg(side / 2), "fill": "#8e8e93"])
        markup.element(
            "text",
            [
                "x": svg(centre), "y": svg(middle + side * 0.13), "text-anchor": "middle", "fill": "#ffffff",
                "font-size": svg(side * 0.4), "aria-hidden": "true",
            ], text: face)
        draw(atX: x + side * 0.62, y: y + side * 0.62, side: side * 0.45, into: &markup)
    }

    static func draw(atX x: Double, y: Double, side: Double, into markup: inout Markup) {
        let place = "translate(\(svg(x)) \(svg(y))) scale(\(svg(side / 40)))"
        markup.element("g", ["transform": place, "aria-hidden": "true"]) { markup in
            markup.shape("rect", ["width": "40", "height": "40", "rx": "9.5", "fill": "#3468e0"])
            markup.shape(
                "path",
                [
                    "fill": "#ffffff",
                    "d":
                        "M20 8.5c-7.2 0-12.5 4.4-12.5 10.3 0 3.6 2 6.6 5.2 8.5l-1.5 5 6-3.4c.9.1 1.8.2 2.8.2 7.2 0 12.5-4.4 12.5-10.3S27.2 8.5 20 8.5z",
                ])
            markup.shape("rect", ["x": "15", "y": "18", "width": "10", "height": "7", "rx": "1.6", "fill": "#3468e0"])
            markup.shape(
                "path",
                ["d": "M16.8 18v-2a3.2 3.2 0 0 1 6.4 0v2", "fill": "none", "stroke": "#3468e0", "stroke-width": "1.8"])
        }
    }
}

/// Returns a number that is not negative, with at most two digits after the point.
func svg(_ number: Double) -> String {
    let hundredths = Int(number * 100 + 0.5)
    let (whole, tenth, hundredth) = (hundredths / 100, hundredths / 10 % 10, hundredths % 10)
    if hundredth > 0 { return "\(whole).\(tenth)\(hundredth)" }
    return tenth > 0 ? "\(whole).\(tenth)" : "\(whole)"
}
