import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The structure of a drawing, whatever is in the payload.
@Suite struct PreviewDrawingTests {
    private static let elements: Set = ["svg", "style", "g", "rect", "path", "text"]

    private static let attributes: Set = [
        "xmlns", "width", "height", "viewBox", "role", "aria-label", "lang", "class", "x", "y", "rx", "d", "fill",
        "stroke",
        "stroke-width", "transform", "direction", "text-anchor",
    ]

    /// Texts that would be markup, end what they stand in, or act on what stands beside them.
    private static let hostileTexts = [
        "<script>alert(1)</script>", "</text></svg><script>alert(1)</script>", "]]>", "<![CDATA[x]]>", "<!-- x", "-->",
        "\"'`=/", "&amp;&#60;script&#62;", "</style><img src=x onerror=alert(1)>", "{}</title>",
        "<?xml version=\"1.0\"?>",
        "javascript:alert(1)", "\u{202e}evil\u{202d}", "\u{2067}open", "a\u{0}\u{1b}[2J\u{9b}\u{7f}",

        nonCharacters, "\u{feff}", "a\r\n\r\nb", String(repeating: "\n", count: 100),
        String(repeating: "W", count: 200),
        "Z" + String(repeating: "\u{334}", count: 100), String(repeating: "👨‍👩‍👧‍👦", count: 8),
    ]

    /// The compiler takes none of them in a literal.
    private static let nonCharacters = String(decoding: [0xFFFE, 0xFFFF, 0xFDD0] as [UInt16], as: UTF16.self)

    /// A payload with a text in every field that a drawing shows.
    private static func payload(_ text: String) throws -> String {
        let payload: [String: Any] = [
            "aps": [
                "alert": ["title": text, "subtitle": text, "body": text], "sound": "s" + text, "category": text,
                "thread-id": text, "badge": 3,
            ], "k" + text: text,
        ]
        return String(decoding: try JSONSerialization.data(withJSONObject: payload), as: UTF8.self)
    }

    private static func categories(_ text: String) throws -> TemporaryDirectory {
        let categories: [String: Any] = [
            "version": 1,
            "categories": [
                ["identifier": "MESSAGE", "actions": [["identifier": "A", "title": "t" + text]]] as [String: Any]
            ],
        ]
        let directory = try TemporaryDirectory()
        let json = try JSONSerialization.data(withJSONObject: categories)
        try directory.write(String(decoding: json, as: UTF8.self), to: "categories.json")
        return directory
    }

    @Test("A hostile text stays a text, in every field", arguments: hostileTexts)
    func hostile(text: String) throws {
        let source = try preview(Self.payload(text), "svg", ["--placeholder-title", "x" + text.filter { $0 != "\0" }])
        let drawing = try Drawing(source)
        #expect(Set(drawing.elements.compactMap(\.name)).isSubset(of: Self.elements))
        let names = drawing.elements.flatMap { $0.attributes ?? [] }.compactMap { $0.localName }
        #expect(Set(names).isSubset(of: Self.attributes), "\(Set(names).subtracting(Self.attributes))")
        for scalar in source.unicodeScalars where scalar != "\n" {
            #expect(!XML.isForbidden(scalar))
            #expect(!(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value))
        }
        #expect(!source.contains("<script") && !source.contains("url(") && !source.contains("@import"))
        #expect(drawing.elements.count { $0.name == "style" } == 1)
    }

    @Test("An action's title is a text, too", arguments: hostileTexts)
    func hostileAction(text: String) throws {
        let directory = try Self.categories(text)
        let payload = #"{"aps":{"alert":"x","category":"MESSAGE"}}"#
        let drawing = try drawing(payload, ["--categories", directory.file("categories.json")])
        let actions = try drawing.texts("action", in: "expanded", of: .phone)
        #expect(actions.count == 1 && actions[0].hasPrefix("t"))
        #expect(Set(drawing.elements.compactMap(\.name)).isSubset(of: Self.elements))
    }

    @Test("Whatever a text opens in the order of writing is closed where it ends", arguments: hostileTexts)
    func isolation(text: String) throws {
        func count(_ string: String, _ scalars: [UInt32]) -> Int {
            string.unicodeScalars.count { scalars.contains($0.value) }
        }
        for string in try drawing(Self.payload(text)).strings {
            #expect(count(string, [0x202A, 0x202B, 0x202D, 0x202E]) == count(string, [0x202C]))
            #expect(count(string, [0x2066, 0x2067, 0x2068]) == count(string, [0x2069]))
        }
    }

    @Test("Nothing is loaded: the only address is the name of SVG")
    func selfContained() throws {
        let text = try preview(#"{"aps":{"alert":"x"}}"#)
        #expect(text.components(separatedBy: "://").count == 2)
        #expect(text.hasPrefix(#"<svg xmlns="http://www.w3.org/2000/svg""#))
    }

    @Test("A page of HTML is a title and the drawing")
    func page() throws {
        let payload = #"{"aps":{"alert":"<b>x"}}"#
        let lines = try preview(payload, "html").split(separator: "\n", maxSplits: 1).map(String.init)
        #expect(
            lines == [
                "<!doctype html><meta charset=utf-8><title>A push, drawn by pushcrypt</title>", try preview(payload),
            ])
    }

    @Test("A text has its direction and says that nobody knows its language")
    func direction() throws {
        let drawing = try drawing(
            #"{"aps":{"alert":{"title":"طاولة لشخصين","subtitle":"שולחן","body":"Table"}}}"#)
        let texts = try ["title", "subtitle", "body"].flatMap { try drawing.elements($0, in: "banner", of: .phone) }
        let expected = ["طاولة لشخصين": "rtl", "שולחן": "rtl", "Table": "ltr"]
        #expect(texts.count == 3)
        for text in texts {
            #expect(text.value("direction") == expected[text.stringValue ?? ""])
            // librsvg leaves out a text whose language is empty.
            #expect(text.value("xml:lang") == "und")
        }
    }

    @Test("A banner has one line of each title and four of the text, and the expanded view has more")
    func lines() throws {
        let words = String(repeating: "many words ", count: 30) + "at last"
        let drawing = try drawing(
            #"{"aps":{"alert":{"title":"\#(words)","subtitle":"\#(words)","body":"\#(words)"}}}"#)
        for name in ["title", "subtitle"] {
            let banner = try drawing.texts(name, in: "banner", of: .phone)
            #expect(banner.count == 1 && banner[0].hasSuffix("…"))
        }
        let body = try drawing.texts("body", in: "banner", of: .phone)
        #expect(body.count == 4 && body[3].hasSuffix("…"))
        #expect(words.hasPrefix(body.joined(separator: " ").dropLast()))
        let expanded = try drawing.texts("body", in: "expanded", of: .phone)
        #expect(expanded.count > 4)
        #expect(expanded.joined(separator: " ") == words)
    }

    @Test("Nothing more is shown expanded where there is no more")
    func short() throws {
        let drawing = try drawing(#"{"aps":{"alert":{"title":"a","body":"b"}}}"#)
        #expect(!drawing.elements.contains { $0.value("class") == "expanded" })
    }

    /// How to draw it again is in Docs/Contributing.md.
    @Test("The picture in README.md is what the command draws now")
    func picture() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Docs/pictures")
            .standardized
        func text(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
        }
        let categories = folder.appending(path: "categories.json").path
        #expect(try preview(text("payload.json"), "svg", ["--categories", categories]) == text("preview.svg"))
    }

    /// WCAG 2.1, contrast ratio.
    @Test("Text can be read: its contrast to what it stands on is at least 4.5, in both appearances")
    func contrast() throws {
        func luminance(_ colour: String) -> Double {
            let channels = stride(from: 1, to: 7, by: 2).map { index -> Double in
                let start = colour.index(colour.startIndex, offsetBy: index)
                let value = Double(Int(colour[start..<colour.index(start, offsetBy: 2)], radix: 16) ?? 0) / 255
                return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]
        }
        func colours(_ name: String) throws -> [Double] {
            let colour = try #require(SVG.colours.first { $0.classes.split(separator: ",").contains(".\(name)") })
            return [luminance(colour.light), luminance(colour.dark)]
        }
        for (text, ground) in [
            ("heading", "page"), ("remark", "page"), ("value", "page"), ("label", "wall"), ("body", "card"),
            ("tag", "card"),
            ("type", "thumb"), ("action", "card"), ("danger", "card"),
        ] {
            for (one, other) in zip(try colours(text), try colours(ground)) {
                let ratio = (max(one, other) + 0.05) / (min(one, other) + 0.05)
                #expect(ratio >= 4.5, "\(text) on \(ground): \(ratio)")
            }
        }
    }
}
