/// Which colours a drawing has.
enum PreviewAppearance: String, CaseIterable, Sendable {
    /// Those of the reader's screen.
    case auto
    case light, dark
    /// One drawing of each, one below the other.
    case both

    /// The scenes that are drawn, by the class that their colours go by.
    var classes: [String] { self == .both ? ["light", "dark"] : [rawValue] }
}

/// The colours of both appearances, by what they are for. Text has a contrast of at least 4.5 to what it stands on.
enum PreviewColours {
    private typealias Colour = (name: String, light: String, dark: String)

    private static let colours: [Colour] = [
        ("page", "#ffffff", "#0d1117"), ("heading", "#15181e", "#f0f3f8"), ("remark", "#5a6270", "#9aa4b2"),
        ("rule", "#e3e6ec", "#262c36"), ("wall", "#dce5f4", "#1b2338"), ("label", "#4a5568", "#aab5cb"),
        ("card", "#fbfcfe", "#2d323f"), ("ink", "#16181d", "#f3f5f9"), ("dim", "#60656f", "#a9b0bd"),
        ("line", "#dfe3ea", "#434a5a"), ("action", "#0b57c4", "#7db5ff"), ("danger", "#c01d1d", "#ff8a80"),
        ("bar", "#c2cbdb", "#4c566c"), ("thumb", "#e3e8f1", "#3b4252"),
    ]

    /// The rules for the scenes of an appearance: each `rule` takes the selector of a scene, a colour's name and the colour.
    static func rules(
        _ appearance: PreviewAppearance, _ rule: (_ scene: String, _ name: String, _ colour: String) -> String
    ) -> String {
        func rules(_ scene: String, _ colour: (Colour) -> String) -> String {
            colours.map { rule(scene, $0.name, colour($0)) }.joined()
        }
        let light = rules(appearance == .both ? ".light" : "", \.light)
        let dark = rules(appearance == .both ? ".dark" : "", \.dark)
        return switch appearance {
        case .auto: light + "@media (prefers-color-scheme:dark){" + dark + "}"
        case .light: light
        case .dark: dark
        case .both: light + dark
        }
    }

    /// The fonts of the reader's system; those for other scripts and for emoji are found by it.
    static let font =
        "-apple-system,BlinkMacSystemFont,'SF Pro Text','Segoe UI',Roboto,'Noto Sans','Helvetica Neue',Arial,sans-serif"
    static let monospace = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Noto Sans Mono','DejaVu Sans Mono',monospace"
}
