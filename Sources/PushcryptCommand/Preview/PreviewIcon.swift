/// The icon of an app that could be any: a speech bubble with a lock in it.
enum PreviewIcon {
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

/// A number that is not negative, with two digits after the point at most.
func svg(_ number: Double) -> String {
    let hundredths = Int(number * 100 + 0.5)
    let (whole, tenth, hundredth) = (hundredths / 100, hundredths / 10 % 10, hundredths % 10)
    if hundredth > 0 { return "\(whole).\(tenth)\(hundredth)" }
    return tenth > 0 ? "\(whole).\(tenth)" : "\(whole)"
}
