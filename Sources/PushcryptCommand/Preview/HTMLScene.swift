/// A scene as one HTML file, which is XML as well. The browser breaks and cuts the lines.
struct HTMLScene {
    let text: String

    init(_ scene: PreviewScene, _ appearance: PreviewAppearance) {
        var markup = Markup("<!DOCTYPE html>\n")
        markup.element("html", ["lang": "en", "dir": "ltr"]) { markup in
            markup.element("head") { markup in
                markup.shape("meta", ["charset": "utf-8"])
                // Whatever stands in a payload, nothing is loaded, run or sent.
                markup.shape(
                    "meta",
                    [
                        "http-equiv": "Content-Security-Policy",
                        "content": "default-src 'none'; style-src 'unsafe-inline'",
                    ])
                markup.shape("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                markup.element("title", text: "A push: what the relay carries, what the phone shows, the fallback")
                markup.style(HTMLStyle.rules(appearance))
            }
            markup.newline()
            markup.element("body") { markup in
                for name in appearance.classes {
                    markup.element("main", ["class": "scene \(name)"]) { markup in
                        for panel in scene.panels { Self.write(panel, to: &markup) }
                    }
                }
            }
        }
        markup.newline()
        text = markup.text
    }

    private static func write(_ panel: PreviewPanel, to markup: inout Markup) {
        markup.element("section", ["class": "panel \(panel.role)"]) { markup in
            markup.element("h1", ["class": "heading"], text: panel.heading)
            markup.element("p", ["class": "remark"], text: panel.remark)
            markup.element("div", ["class": "wall"]) { markup in
                markup.element("h2", ["class": "label"], text: panel.cardLabel)
                write(panel.card, "banner", to: &markup)
                if panel.card.hasMore {
                    markup.element("h2", ["class": "label"], text: "Expanded")
                    write(panel.card, "expanded", to: &markup)
                }
                if let seal = panel.seal { write(seal, to: &markup) }
                if let badge = panel.card.badge { write(badge: badge, to: &markup) }
            }
            markup.element("dl", ["class": "facts"]) { markup in
                for fact in panel.facts {
                    markup.element("dt", text: fact.name)
                    markup.element("dd", ["lang": "", "dir": "ltr"], text: fact.value)
                }
            }
        }
        markup.newline()
    }

    // MARK: A card

    private static func write(_ card: PreviewCard, _ name: String, to markup: inout Markup) {
        markup.element("article", ["class": name]) { markup in
            markup.element("div", ["class": "card"]) { markup in
                icon(side: 38, to: &markup)
                markup.element("div", ["class": "texts"]) { markup in
                    if let tag = card.tag { markup.element("p", ["class": "tag"], text: tag) }
                    write(card.title, "title", to: &markup)
                    write(card.subtitle, "subtitle", to: &markup)
                    write(card.body, "body", to: &markup)
                    if card.isEmpty { markup.element("p", ["class": "tag"], text: "(nothing to show)") }
                }
                if let thumbnail = card.thumbnail { markup.element("div", ["class": "thumb"], text: thumbnail) }
                if card.thumbnail == nil || name == "expanded" {
                    markup.element("div", ["class": "time"], text: "now")
                }
            }
            if name == "expanded", !card.actions.isEmpty {
                markup.element("ul", ["class": "actions"]) { markup in
                    for action in card.actions { write(action, to: &markup) }
                }
            }
        }
    }

    private static func write(_ text: PreviewText, _ name: String, to markup: inout Markup) {
        if text.isEmpty { return }
        let attributes: Markup.Attributes = ["class": name, "lang": "", "dir": text.direction.rawValue]
        markup.element("p", attributes, text: text.text)
    }

    private static func write(_ action: PreviewCard.Action, to markup: inout Markup) {
        markup.element("li") { markup in
            let name = action.isDestructive ? "danger" : "action"
            let attributes: Markup.Attributes = ["class": name, "lang": "", "dir": action.title.direction.rawValue]
            markup.element("span", attributes, text: action.title.text)
            markup.element("span", ["class": "note"], text: action.note)
        }
    }

    // MARK: Beside the card

    private static func write(_ seal: PreviewSeal, to markup: inout Markup) {
        markup.element("h2", ["class": "label"], text: "ENCRYPTED_DATA")
        markup.element("div", ["class": "card seal"]) { markup in
            for width in ["92%", "100%", "60%"] {
                markup.element("div", ["class": "bar", "style": "width:\(width)"]) { _ in }
            }
            markup.element("p", ["class": "sealed", "lang": "", "dir": "ltr"], text: seal.text)
        }
    }

    private static func write(badge: Int64, to markup: inout Markup) {
        markup.element("div", ["class": "home"]) { markup in
            icon(side: 52, to: &markup)
            if badge > 0 { markup.element("span", ["class": "badge"], text: badge > 9999 ? "9999+" : "\(badge)") }
        }
    }

    private static func icon(side: Double, to markup: inout Markup) {
        let length = svg(side)
        markup.element("svg", ["class": "icon", "width": length, "height": length, "aria-hidden": "true"]) { markup in
            PreviewIcon.draw(atX: 0, y: 0, side: side, into: &markup)
        }
    }
}
