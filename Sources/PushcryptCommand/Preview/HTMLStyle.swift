/// How the HTML looks.
enum HTMLStyle {
    static func rules(_ appearance: PreviewAppearance) -> String {
        colours(appearance) + scheme(appearance) + scene + card + expanded + rest
    }

    /// Each colour is a property that the rules below name.
    private static func colours(_ appearance: PreviewAppearance) -> String {
        PreviewColours.rules(appearance) { scene, name, colour in
            "\(scene.isEmpty ? ":root" : scene){--\(name):\(colour)}"
        }
    }

    /// Also for what a browser draws by itself, such as scroll bars.
    private static func scheme(_ appearance: PreviewAppearance) -> String {
        switch appearance {
        case .auto: ":root{color-scheme:light dark}"
        case .light, .both: ":root{color-scheme:light}"
        case .dark: ":root{color-scheme:dark}"
        }
    }

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
