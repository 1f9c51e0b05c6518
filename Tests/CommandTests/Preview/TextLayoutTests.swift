import Testing

@testable import PushcryptCommand

/// Lines of a width, where every character is one wide, unless a test says otherwise.
@Suite struct TextLayoutTests {
    private static func lines(_ text: String, _ width: Double, _ maximum: Int = 9) -> [String] {
        TextLayout(width: width, maximumLines: maximum, advance: { _ in 1 }).lines(of: text)
    }

    @Test(
        "A line ends between words, and inside of one that is longer than a line",
        arguments: [
            ("", [""]), ("one", ["one"]), ("one two", ["one two"]), ("one two three", ["one two", "three"]),
            ("one  two", ["one  two"]), ("incomprehensible", ["incompre", "hensible"]),
            ("a incomprehensible", ["a", "incompre", "hensible"]), ("one two \nx", ["one two ", "x"]),
            ("a\n\nb", ["a", "", "b"]), ("12345678 9", ["12345678", "9"]), ("\n", ["", ""]),
        ])
    func lines(text: String, expected: [String]) {
        #expect(Self.lines(text, 8) == expected)
    }

    @Test(
        "What is too long ends in an ellipsis, which has room in the line",
        arguments: [
            ("one two three", 1, ["one two…"]), ("incomprehensible", 1, ["incompr…"]),
            ("one two three four", 2, ["one two", "three…"]), ("one two three", 2, ["one two", "three"]),
            ("one\ntwo", 1, ["one…"]), ("one two \nthree", 1, ["one two…"]), ("a\n\n\n\n", 3, ["a", "", "…"]),
        ])
    func cut(text: String, maximum: Int, expected: [String]) {
        #expect(Self.lines(text, 8, maximum) == expected)
    }

    @Test("A cut goes between characters as people see them, never through one")
    func clusters() {
        let family = "👨‍👩‍👧‍👦"
        #expect(Self.lines(String(repeating: family, count: 5), 3, 1) == [family + family + "…"])
        #expect(Self.lines("🇩🇪🇫🇷🇯🇵🇰🇷", 2, 1) == ["🇩🇪…"])
        #expect(Self.lines("e\u{301}e\u{301}e\u{301}e\u{301}", 3, 1) == ["e\u{301}e\u{301}…"])
        #expect(Self.lines("கொகொகொகொ", 3, 1) == ["கொகொ…"])
    }

    @Test(
        "Chinese and Japanese lines end between any two characters, but before punctuation; Korean ones between words")
    func wide() {
        let layout = TextLayout(width: 8, maximumLines: 9, advance: TextMetrics.columns)
        #expect(layout.lines(of: "회의가오후세시") == ["회의가오", "후세시"])
        #expect(layout.lines(of: "가 회의가오") == ["가", "회의가오"])
        #expect(layout.lines(of: "あ 予約が変更") == ["あ 予約", "が変更"])
        #expect(layout.lines(of: "予約が変。") == ["予約が", "変。"])
        #expect(layout.lines(of: "🚲🚲🚲🚲🚲") == ["🚲🚲🚲🚲", "🚲"])
    }

    @Test("A line that no character fits into has one all the same, so that it ends")
    func narrow() {
        #expect(Self.lines("abc", 0.5) == ["a", "b", "c"])
    }

    @Test(
        "The estimate is what a browser measured in Noto Sans at 100 points, or somewhat more",
        arguments: [
            ("Table for two", 652.0, 611.0), ("See you at 8", 597, 568), ("WWWW", 387, 372),
            ("The quick brown fox jumps over the lazy dog", 2220, 2093), ("naïve café", 508, 472),
            ("шестого ноября", 830, 787), ("نراكم في الساعة", 699, 699), ("שולחן לשניים", 552, 552),
            ("🚲🚲🚲", 374, 374),
        ])
    func estimates(text: String, bold: Double, regular: Double) {
        let width = { (advance: (Character) -> Double) in text.reduce(0) { $0 + 100 * advance($1) } }
        #expect((0.98...1.2).contains(width(TextMetrics.bold) / bold))
        #expect((0.98...1.2).contains(width(TextMetrics.regular) / regular))
    }
}
