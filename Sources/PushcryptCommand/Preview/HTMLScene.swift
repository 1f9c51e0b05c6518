/// A scene as one HTML file, which is also XML. The browser breaks and cuts the lines.
struct HTMLScene {
    let text: String

    init(_ scene: PreviewScene) {
        var markup = Markup("<!DOCTYPE html>\n")
        markup.element("html", ["lang": "en", "dir": "ltr"]) { markup in
            markup.element("head") { markup in
                markup.shape("meta", ["charset": "utf-8"])
                // Nothing in a payload can make the browser load, run or send anything.
                markup.shape(
                    "meta",
                    [
                        "http-equiv": "Content-Security-Policy",
                        "content": "default-src 'none'; style-src 'unsafe-inline'",
                    ])
                markup.shape("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                markup.element("title", text: "A push: what the relay carries, what the phone shows, the fallback")
                markup.style(HTMLStyle.rules)
            }
            markup.newline()
            markup.element("body") { markup in
                markup.element("main", ["class": "scene"]) { markup in
                    for panel in scene.panels { Self.write(panel, to: &markup) }
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
                icon(card.face, side: 38, to: &markup)
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

    private static func icon(_ face: String? = nil, side: Double, to markup: inout Markup) {
        let length = svg(side)
        markup.element("svg", ["class": "icon", "width": length, "height": length, "aria-hidden": "true"]) { markup in
            PreviewIcon.draw(face, atX: 0, y: 0, side: side, into: &markup)
        }
    }
}

/// The style rules of the HTML.
enum HTMLStyle {
    static var rules: String { colours + scheme + scene + card + expanded + rest }

    /// Defines each colour as a property for the rules below.
    private static var colours: String {
        PreviewColours.rules { name, colour in ":root{--\(name):\(colour)}" }
    }

    /// Sets the appearance of the browser's own parts, such as scroll bars.
    private static let scheme = ":root{color-scheme:light dark}"

    private static let scene = """
        *{box-sizing:border-box;margin:0;padding:0}html{background:var(--page)}\
        body{font:15px/20px \(PreviewColours.font);-webkit-text-size-adjust:100%}\
        .scene{display:grid;grid-template-columns:repeat(3,minmax(0,348px));gap:20px;justify-content:center;\
        align-items:start;padding:20px;background:var(--page);color:var(--ink)}\
        .panel{min-width:0}\
        .heading{font-size:19px;line-height:26px;font-weight:700;color:var(--heading);padding:0 2px}\
        .remark{font-size:13px;color:var(--remark);padding:0 2px 14px}\
        .wall{background:var(--wall);border-radius:28px;padding:0 12px 12px}\
        .label{font-size:13px;line-height:20px;font-weight:600;color:var(--label);padding:8px 6px 4px}\
        @media (max-width:820px){.scene{display:block;max-width:388px;margin:0 auto}.panel{margin-bottom:32px}}
        """

    private static let card = """
        .card{position:relative;display:flex;flex-wrap:wrap;gap:0 13px;align-items:center;min-height:62px;padding:12px 13px;border-radius:20px;\
        background:var(--card);color:var(--ink);overflow:hidden}\
        .icon{flex:none;display:block}.texts{flex:1;min-width:0}\
        .title,.subtitle,.body{display:-webkit-box;-webkit-box-orient:vertical;overflow:hidden;overflow-wrap:anywhere;\
        white-space:pre-line;unicode-bidi:isolate;text-align:start}\
        .title,.subtitle{font-weight:600;-webkit-line-clamp:1;line-clamp:1}.body{-webkit-line-clamp:4;line-clamp:4}\
        .tag,.time{font-size:13px;color:var(--dim)}.time{position:absolute;right:13px;top:11px}\
        .texts:not(:has(+.thumb)) :first-child{padding-right:36px}\
        .thumb{flex:none;width:38px;height:38px;border-radius:6px;background:var(--thumb);color:var(--dim);\
        font-size:11px;font-weight:600;line-height:38px;text-align:center}
        """

    private static let expanded = """
        .expanded .title,.expanded .subtitle{-webkit-line-clamp:2;line-clamp:2}\
        .expanded .body{-webkit-line-clamp:16;line-clamp:16}\
        .expanded .texts :first-child{padding-right:36px}\
        .expanded .thumb{flex-basis:100%;height:132px;line-height:132px;margin-top:12px}\
        .actions{list-style:none;margin-top:8px;border-radius:16px;background:var(--card);overflow:hidden}\
        .actions li{display:flex;gap:12px;align-items:center;min-height:42px;padding:0 16px}\
        .actions li+li{border-top:1px solid var(--line)}\
        .action,.danger{flex:1;min-width:0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;unicode-bidi:isolate;\
        text-align:start}\
        .action{color:var(--action)}.danger{color:var(--danger)}\
        .note{flex:none;font-size:12px;color:var(--dim)}
        """

    private static let rest = """
        .seal{display:block;padding:16px}.bar{height:9px;border-radius:5px;background:var(--bar);margin-bottom:8px}\
        .sealed{font:11.5px/16px \(PreviewColours.monospace);color:var(--dim);overflow-wrap:anywhere}\
        .home{position:relative;width:max-content;padding:20px 6px 6px}\
        .badge{position:absolute;left:50px;top:11px;min-width:22px;height:22px;padding:0 6px;border-radius:11px;\
        background:#d0021b;color:#ffffff;font-size:13px;font-weight:600;line-height:22px;text-align:center}\
        .facts{display:grid;grid-template-columns:auto minmax(0,1fr);gap:0 12px;align-content:start;padding:12px 2px 0;\
        font-size:11.5px;line-height:17px}\
        dt{color:var(--remark);max-width:92px;overflow:hidden;text-overflow:ellipsis}\
        dd{font-family:\(PreviewColours.monospace);color:var(--ink);overflow-wrap:anywhere;unicode-bidi:isolate;\
        display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;line-clamp:2;overflow:hidden}
        """
}
