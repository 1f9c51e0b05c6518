import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct TerminalTextTests {
    @Test(
        "Controls stand there in JSON's form instead of acting",
        arguments: [
            ("\u{1b}[2J", #"\u001b[2J"#), ("a\u{0}b", #"a\u0000b"#), ("bell\u{7}", #"bell\u0007"#),
            ("a\nb\r\tc", #"a\u000ab\u000d\u0009c"#), ("\u{7f}", #"\u007f"#),
            ("\u{80}\u{9b}31m\u{9f}", #"\u0080\u009b31m\u009f"#),
            ("\u{2028}\u{2029}", #"\u2028\u2029"#),
            ("\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}", #"\u202a\u202b\u202c\u202d\u202e"#),
            ("\u{2066}\u{2067}\u{2068}\u{2069}", #"\u2066\u2067\u2068\u2069"#),
            // A control after a base letter is in the letter's grapheme cluster for some renderers.
            ("e\u{301}\u{1b}", "e\u{301}" + #"\u001b"#), ("\u{d}\u{a}", #"\u000d\u000a"#),
        ])
    func visible(text: String, safe: String) {
        #expect(sanitized(forTerminal: text) == safe)
    }

    @Test(
        "Everything that only shows stays as it is",
        arguments: [
            "", "See you at 8", "🚲 — 내일 봐", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "مرحبا", "שלום\u{200f}!", "é", "\u{a0}", "\u{fffd}", #"\u001b"#,
            "~ ",
        ])
    func untouched(text: String) {
        #expect(Array(sanitized(forTerminal: text).unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test("A word of the person's own stands between quotes and is cut after 256 characters")
    func quotes() {
        #expect(quoted("a'b") == "'a'b'")
        #expect(quoted(String(repeating: "x", count: 256)) == "'" + String(repeating: "x", count: 256) + "'")
        #expect(quoted(String(repeating: "x", count: 257)) == "'" + String(repeating: "x", count: 256) + "…'")
    }
}
