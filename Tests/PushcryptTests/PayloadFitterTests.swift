import Testing

@testable import Pushcrypt

/// Texts that are cut between characters until a payload fits.
@Suite struct PayloadFitterTests {
    private static func fit(_ payload: String, _ length: Int, _ texts: [AlertText] = [.body]) -> (
        String, [AlertText: Int]
    )? {
        PayloadFitter(Bytes(payload.utf8), maximumLength: length, shortening: texts).map {
            (String(decoding: $0.payload, as: UTF8.self), $0.removed)
        }
    }

    private static func body(_ text: String) -> String { #"{"aps":{"alert":{"body":""# + text + #""}}}"# }

    /// The bytes around the text of `body`.
    private static let around = 29

    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        /// The most bytes for the text, its ellipsis included.
        let room: Int
        let shortened: String
        let removed: Int

        init(_ text: String, _ room: Int, _ shortened: String, _ removed: Int) {
            (self.text, self.room, self.shortened, self.removed) = (text, room, shortened, removed)
        }

        var testDescription: String { "\(text.prefix(20)) in \(room)" }
    }

    static let cases = [
        Case("See you at eight", 16, "See you at eight", 0), Case("See you at eight", 15, "See you at e…", 4),
        Case("See you at eight", 14, "See you at…", 6), Case("See you at eight", 13, "See you at…", 6),
        Case("See you at eight", 12, "See you a…", 7), Case("See you at eight", 4, "S…", 15),
        Case("See you at eight", 3, "…", 16),
        // Characters of two, three and four bytes.
        Case("ééééé", 9, "ééé…", 2), Case("ééééé", 8, "éé…", 3), Case("새소식입니다", 17, "새소식입…", 2),
        Case("새소식입니다", 14, "새소식…", 3), Case("🚲🚲🚲🚲", 15, "🚲🚲🚲…", 1), Case("🚲🚲🚲🚲", 14, "🚲🚲…", 2),
        // Clusters: a family of 25 bytes, flags of 8, a letter with marks, a syllable in its parts, a skin tone, a keycap,
        // a line break of two, a conjunct of Devanagari.
        Case("a👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 50, "a👨‍👩‍👧‍👦…", 1), Case("a👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 28, "a…", 2),
        Case("🇰🇷🇩🇪🇫🇷", 23, "🇰🇷🇩🇪…", 1), Case("🇰🇷🇩🇪🇫🇷", 18, "🇰🇷…", 2), Case("🇰🇷🇩🇪🇫🇷", 11, "🇰🇷…", 2),
        Case("e\u{301}e\u{301}e\u{301}", 8, "e\u{301}…", 2),
        Case("각\u{1112}\u{1161}\u{11ab}글자", 15, "각\u{1112}\u{1161}\u{11ab}…", 2),
        Case("각\u{1112}\u{1161}\u{11ab}글자", 14, "각…", 3), Case("ab👍🏽cd", 11, "ab…", 3), Case("ab👍🏽cdef", 13, "ab👍🏽…", 4),
        Case("1️⃣2️⃣3️⃣", 17, "1️⃣2️⃣…", 1), Case("नमस्ते नमस्ते", 36, "नमस्ते नम…", 1),
        // Escaped characters stay escaped, and are not cut.
        Case(#"\u0061\u0062\u0063\u0064"#, 22, #"\u0061\u0062\u0063…"#, 1),
        Case(#"\u0061\u0062\u0063\u0064"#, 20, #"\u0061\u0062…"#, 2),
        Case(#"ab\n\n\ncd"#, 9, "ab…", 5), Case(#"\"\\\/\"x"#, 8, #"\"\\…"#, 3),
        Case(#"\ud83d\udeb2\ud83d\udeb2"#, 20, #"\ud83d\udeb2…"#, 1), Case(#"\ud83d\udeb2\ud83d\udeb2"#, 14, "…", 2),
        Case(#"e\u0301e\u0301e\u0301"#, 19, #"e\u0301e\u0301…"#, 1), Case(#"a\r\nb\u00e9éx"#, 13, #"a\r\nb…"#, 3),
        // Nothing to see is not kept at the end.
        Case("a      b      c", 12, "a      b…", 7), Case("    abcdefgh", 6, "…", 12),
        Case("    abcdefgh", 8, "    a…", 7),
        // A text that is no longer than an ellipsis stays.
        Case("abc", 3, "abc", 0),
    ]

    @Test(arguments: cases) func aTextIsCutBetweenItsCharacters(_ test: Case) throws {
        let room = Self.around + test.room
        let (payload, removed) = try #require(Self.fit(Self.body(test.text), room))
        #expect(payload == Self.body(test.shortened))
        #expect(removed == (test.removed == 0 ? [:] : [.body: test.removed]))
        #expect(payload.utf8.count <= room)
    }

    /// A cluster of any length is one character.
    @Test func aClusterThatDoesNotFitGoesAltogether() throws {
        let tower = "Z" + String(repeating: "\u{301}", count: 2000)
        #expect(try #require(Self.fit(Self.body("ab" + tower), 100)) == (Self.body("ab…"), [.body: 1]))
        #expect(try #require(Self.fit(Self.body(tower), 100)) == (Self.body("…"), [.body: 1]))
    }

    @Test(arguments: [("abc", 2), ("ab", 1), ("", -1), ("See you at eight", 2)])
    func whatDoesNotFitEvenThenIsNotShortened(_ text: String, _ room: Int) {
        #expect(Self.fit(Self.body(text), Self.around + room) == nil)
    }

    // MARK: Which texts

    private static let three = #"{"aps":{"alert":{"title":"aaaaaaaaaa","subtitle":"bbbbbbbbbb","body":"cccccccccc"}}}"#
    private static let full = three.utf8.count

    @Test(
        arguments: [
            ([AlertText.body], 5, ["aaaaaaaaaa", "bbbbbbbbbb", "cc…"], [.body: 8]),
            ([.title], 5, ["aa…", "bbbbbbbbbb", "cccccccccc"], [.title: 8]),
            ([.title, .body], 1, ["aaaaaa…", "bbbbbbbbbb", "cccccccccc"], [.title: 4]),
            ([.body, .title], 6, ["aaaaaaaaaa", "bbbbbbbbbb", "c…"], [.body: 9]),
            ([.body, .title], 7, ["aaaaaa…", "bbbbbbbbbb", "c…"], [.body: 9, .title: 4]),
            ([.body, .body], 5, ["aaaaaaaaaa", "bbbbbbbbbb", "cc…"], [.body: 8]),
            ([.body, .subtitle, .title], 18, ["a…", "b…", "c…"], [.body: 9, .subtitle: 9, .title: 9]),
            ([.body, .subtitle, .title], 19, ["a…", "b…", "…"], [.body: 10, .subtitle: 9, .title: 9]),
            ([.title, .subtitle, .body], 21, ["…", "…", "…"], [.body: 10, .subtitle: 10, .title: 10]),
        ] as [([AlertText], Int, [String], [AlertText: Int])])
    func textsAreShortenedInTheOrderGiven(
        _ order: [AlertText], _ excess: Int, _ texts: [String], _ removed: [AlertText: Int]
    ) throws {
        let (payload, lost) = try #require(Self.fit(Self.three, Self.full - excess, order))
        #expect(
            payload
                == #"{"aps":{"alert":{"title":"\#(texts[0])","subtitle":"\#(texts[1])","body":"\#(texts[2])"}}}"#
        )
        #expect(lost == removed)
    }

    @Test func noOtherTextIsTouched() {
        #expect(Self.fit(Self.three, Self.full - 8, [.body]) == nil)
        #expect(Self.fit(Self.three, Self.full - 22, AlertText.allCases) == nil)
        #expect(Self.fit(Self.three, Self.full - 1, []) == nil)
    }

    @Test(arguments: [
        #"{"aps":{"alert":{"loc-key":"aaaaaaaaaa","body":1}}}"#, #"{"aps":{"alert":{"title":"aaaaaaaaaa"}}}"#,
        #"{"aps":{"badge":1},"body":"aaaaaaaaaa"}"#, #"{"aps":{"alert":{"body":""}},"x":"aaaaaaaaaa"}"#,
    ])
    func wherethereIsNoSuchTextNothingIsShortened(_ payload: String) {
        #expect(Self.fit(payload, payload.utf8.count - 1) == nil)
    }

    @Test func anAlertThatIsAStringIsABody() throws {
        let payload = #"{"aps":{"alert":"See you at eight"}}"#
        let (short, removed) = try #require(Self.fit(payload, payload.utf8.count - 3, [.title, .body]))
        #expect(short == #"{"aps":{"alert":"See you at…"}}"#)
        #expect(removed == [.body: 6])
    }

    /// Numbers, escapes and the order of the rest are the caller's.
    @Test func theRestKeepsItsBytes() throws {
        let payload =
            #"{"n":1.50e+2,"\u0061ps":{"alert":{"b\u006fdy":"xxxxxxxxxxxxxxxxxxxx","t":"\/"},"badge":0},"z":[1E400,"\u00e9"]}"#
        let (short, _) = try #require(Self.fit(payload, payload.utf8.count - 10))
        #expect(
            short
                == #"{"n":1.50e+2,"\u0061ps":{"alert":{"b\u006fdy":"xxxxxxx…","t":"\/"},"badge":0},"z":[1E400,"\u00e9"]}"#
        )
    }

    // MARK: Any text at all

    /// Every length, for a text of every kind of cluster: what is kept is a beginning of the text in whole characters, it is
    /// the longest, and it is never more than there is room for.
    @Test func theLongestBeginningIsKept() throws {
        let text = "Grüße 👨‍👩‍👧‍👦🇰🇷e\u{301}\u{327} 한\u{1112}\u{1161} 👍🏽! \u{600}5 क्षि\r\nx"
        let escaped = text.replacing("\r\n", with: "\\r\\n")
        let characters = Array(text)
        for room in 3..<escaped.utf8.count {
            let (payload, removed) = try #require(Self.fit(Self.body(escaped), Self.around + room))
            let kept = try #require(ReceivedBody(payload).text?.dropLast())
            let count = characters.count - (removed[.body] ?? 0)
            #expect(String(kept).unicodeScalars.elementsEqual(String(characters[..<count]).unicodeScalars))
            #expect(payload.utf8.count <= Self.around + room)
            // One more that can be seen would not have fitted.
            let next =
                characters[..<count].count
                + (characters[count...].firstIndex { !$0.isWhitespace }.map { $0 - count } ?? 0) + 1
            let longer = String(characters.prefix(next)).replacing("\r\n", with: "\\r\\n")
            #expect(longer.utf8.count + 3 > room || next > characters.count)
        }
    }

    private struct ReceivedBody {
        let text: String?

        init(_ payload: String) throws {
            text = try JSONDocument(parsing: Bytes(payload.utf8)).root["aps"]?["alert"]?["body"]?.string
        }
    }

    /// A mebibyte of each kind, in linear time.
    @Test(
        arguments: [
            "x", "🇰🇷", "👨‍👩‍👧‍👦", "\u{200d}", "क्ष", "\\ud83d\\udeb2",
        ])
    func aMebibyteIsShortened(_ unit: String) throws {
        let text = "See you " + String(repeating: unit, count: (1 << 20) / unit.utf8.count)
        let start = processorSeconds()
        let (payload, removed) = try #require(Self.fit(Self.body(text), 2596))
        #expect(processorSeconds() - start < 60)
        #expect(payload.utf8.count <= 2596 && payload.hasPrefix(#"{"aps":{"alert":{"body":"See you"#))
        #expect((removed[.body] ?? 0) > 0)
    }
}
