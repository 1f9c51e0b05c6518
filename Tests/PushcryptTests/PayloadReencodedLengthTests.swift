import Testing

@testable import Pushcrypt

/// The longest that a client may make of JSON when it parses it and writes it again. (`Docs/Format.md`, S-4)
@Suite struct PayloadReencodedLengthTests {
    /// Minified JSON, what a client makes of it, and the client.
    struct Rewrite: Sendable, CustomTestStringConvertible {
        let json: String
        let rewritten: String
        let testDescription: String

        init(_ json: String, _ rewritten: String, _ client: String) {
            self.json = json
            self.rewritten = rewritten
            testDescription = client
        }
    }

    private static func length(of json: String) -> Int { JSONText.maximumReencodedLength(of: Bytes(json.utf8).span) }

    /// Each of these does one thing only, so that the widest form is this client's.
    @Test(arguments: [
        Rewrite(#"{"a":1,"b":[1,2],"c":{}}"#, #"{"a": 1, "b": [1, 2], "c": {}}"#, "Python: spaces after separators"),
        Rewrite(#"["a,b:c"]"#, #"["a,b:c"]"#, "separators in a string stay"),
        Rewrite(#"["새 메시지"]"#, #"["\uc0c8 \uba54\uc2dc\uc9c0"]"#, "Python: three bytes of UTF-8 become six characters"),
        Rewrite(#"["é"]"#, #"["\u00e9"]"#, "Python: two bytes of UTF-8"),
        Rewrite(#"["🚲"]"#, #"["\ud83d\udeb2"]"#, "Python: four bytes of UTF-8 become two halves"),
        Rewrite("[\"\u{2028}\"]", #"["\u2028"]"#, "Go: the line separator"),
        Rewrite(#"["https://example.com/"]"#, #"["https:\/\/example.com\/"]"#, "PHP: slashes"),
        Rewrite(#"["a<b>&c"]"#, #"["a\u003cb\u003e\u0026c"]"#, "Go: what HTML uses"),
        Rewrite(#"["it's=x"]"#, #"["it\u0027s\u003dx"]"#, "Gson: the apostrophe and the equals sign"),
        Rewrite(#"["2+2`"]"#, #"["2\u002B2\u0060"]"#, ".NET: the plus sign and the grave accent"),
        Rewrite(#"["say \"at 8\""]"#, #"["say \u0022at 8\u0022"]"#, ".NET: the quotation mark"),
        Rewrite(#"["\b\f"]"#, #"["\u0008\u000c"]"#, "Go: backspace and form feed"),
        Rewrite("[\"\u{7F}\"]", #"["\u007F"]"#, ".NET: the delete character"),
        Rewrite(#"["\uc0c8\ud83d\udeb2"]"#, #"["\uc0c8\ud83d\udeb2"]"#, "escapes that stay escapes"),
        Rewrite(#"[true,false,null,-1.5,0.25]"#, #"[true, false, null, -1.5, 0.25]"#, "numbers and words stay"),
        Rewrite("[]", "[]", "nothing"),
    ])
    func theWidestFormIsThatOfTheWidestClient(_ rewrite: Rewrite) {
        #expect(Self.length(of: rewrite.json) == rewrite.rewritten.utf8.count)
    }

    /// A client that unescapes makes the text shorter, not longer.
    @Test(arguments: [
        (#"["\u0041\u00e9"]"#, #"["Aé"]"#), (#"["\/"]"#, #"["/"]"#), (#"["\\"]"#, #"["\\"]"#), (#"["\n"]"#, #"["\n"]"#),
        (#"{"score":1e+2}"#, #"{"score": 1e+2}"#),
    ])
    func noFormIsCountedTooShort(_ json: String, _ rewritten: String) {
        #expect(Self.length(of: json) >= rewritten.utf8.count)
    }

    /// Received JSON counts in the same way, however it was written.
    @Test func aReceivedPushCountsLikeTheSealedOne() throws {
        let sealed = try FormatFixture().seal(alertPayload(), placeholder: Placeholder(title: "새 <메시지>/"))
        #expect(try ReceivedPush(sealed.json).maximumReencodedLength == sealed.maximumReencodedLength)
        let spread = Bytes(sealed.json.flatMap { $0 == UInt8(ascii: ":") ? [$0, UInt8(ascii: "\n")] : [$0] })
        #expect(try ReceivedPush(spread).maximumReencodedLength == sealed.maximumReencodedLength)
    }
}
