import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct PreviewTextTests {
    @Test(
        "The first letter says where a text begins",
        arguments: [
            ("Table", "ltr"), ("", "ltr"), ("8 🚲", "ltr"), ("שולחן", "rtl"), ("طاولة", "rtl"), ("8 — طاولة", "rtl"),
            ("(שולחן) two", "rtl"), ("two שולחן", "ltr"), ("日本語", "ltr"), ("ܐܒܓ", "rtl"), ("ߒߞߏ", "rtl"),
            ("\u{200f}Table", "rtl"), ("\u{200e}שולחן", "ltr"), ("\u{61c}8", "rtl"),
            // Isolated text does not count (UAX #9, P2).
            ("\u{2068}שולחן\u{2069} two", "ltr"), ("\u{2066}two\u{2069} שולחן", "rtl"),
        ])
    func direction(text: String, expected: String) {
        #expect(PreviewText(text).direction.rawValue == expected)
    }

    @Test(
        "Line breaks are one, and what cannot be written down is seen",
        arguments: [
            ("a\r\nb\rc\u{85}d\u{2028}e\u{2029}f\u{b}g", "a\nb\nc\nd\ne\nf\ng"), ("a\tb", "a b"),
            ("\u{1b}[2J", #"\u001b[2J"#), ("a\u{0}b\u{7f}\u{9b}", #"a\u0000b\u007f\u009b"#),
            (String(decoding: [0xFFFE, 0xFFFF, 0xFDD0] as [UInt16], as: UTF16.self), #"\ufffe\uffff\ufdd0"#),
            ("👨‍👩‍👧‍👦 e\u{301} \u{fffd}", "👨‍👩‍👧‍👦 e\u{301} \u{fffd}"),
        ])
    func controls(text: String, expected: String) {
        #expect(Array(PreviewText(text).text.unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test("A line closes the overrides, embeddings and isolates that it opens, and the next opens them again")
    func bidi() {
        var line = BidiLine()
        #expect(line.closed("a\u{202e}b\u{2067}c") == "a\u{202e}b\u{2067}c\u{2069}\u{202c}")
        #expect(line.closed("d\u{2069}e") == "\u{202e}\u{2067}d\u{2069}e\u{202c}")
        #expect(line.closed("f\u{202c}g") == "\u{202e}f\u{202c}g")
        #expect(line.closed("h") == "h")
        // A closing character without an opening one does nothing; an isolate that ends also closes everything inside it.
        #expect(line.closed("\u{202c}\u{2069}i") == "\u{202c}\u{2069}i")
        #expect(line.closed("\u{2068}\u{202e}j\u{2069}k") == "\u{2068}\u{202e}j\u{2069}k")
        #expect(line.closed("l") == "l")
    }

    @Test("An override that goes over the end of a line is closed there, also where the text is cut")
    func lines() {
        let layout = TextLayout(width: 4, maximumLines: 2) { ["\u{202e}", "\u{202c}"].contains($0) ? 0 : 1 }
        #expect(
            layout.lines(of: "\u{202e}abcdefghijkl") == [
                "\u{202e}abcd\u{202c}", "\u{202e}efg…\u{202c}",
            ])
    }
}

@Suite struct XMLTests {
    @Test(
        "Whatever markup would take for its own becomes a reference, and what XML has no form for the replacement character"
    )
    func escaping() {
        #expect(
            XML.escaped("\"'<>&]]></p><script>&amp;\u{202e}\u{2068}x")
                == "&quot;&#39;&lt;&gt;&amp;]]&gt;&lt;/p&gt;&lt;script&gt;&amp;amp;&#8238;&#8296;x")
        #expect(XML.escaped("a\u{0}b\u{1b}c\u{9b}d\u{7f}\ne") == "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}\ne")
    }
}
