import Testing

@testable import Pushcrypt

@Suite struct JSONLimitTests {
    private func nested(_ depth: Int, _ open: String, _ close: String) -> String {
        String(repeating: open, count: depth) + "0" + String(repeating: close, count: depth)
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]")])
    func thirtyTwoLevelsAreAcceptedAndOneMoreIsNot(_ open: String, _ close: String) throws {
        let levels = open.count { $0 == "[" || $0 == "{" }
        let accepted = 32 / levels
        let remainder = String(repeating: "[", count: 32 % levels)
        let text = remainder + nested(accepted, open, close) + String(repeating: "]", count: 32 % levels)
        #expect(jsonRefusal(of: text) == nil)
        #expect(jsonRefusal(of: "[" + text + "]")?.code == .tooDeep)
    }

    @Test func theBracketThatIsTooMuchIsNamed() throws {
        let error = try #require(jsonRefusal(of: String(repeating: "[", count: 100_000)))
        #expect(error.code == .tooDeep && error.offset == 32)
    }

    @Test func whatStandsSideBySideIsNotDeep() throws {
        let row = "[" + Array(repeating: "[[]]", count: 10_000).joined(separator: ",") + "]"
        #expect(try JSONDocument(row).root.elements.count == 10_000)
    }

    @Test func theMaximumIsAcceptedAndOneByteMoreIsNot() throws {
        func string(of count: Int) -> ContiguousArray<UInt8> {
            [0x22] + ContiguousArray(repeating: 0x61, count: count - 2) + [0x22]
        }
        #expect(jsonRefusal(of: string(of: 100), maximumBytes: 100) == nil)
        let error = try #require(jsonRefusal(of: string(of: 101), maximumBytes: 100))
        #expect(error.code == .tooLarge && error.offset == 100)
        #expect(jsonRefusal(of: string(of: 1_048_576)) == nil)
        #expect(jsonRefusal(of: string(of: 1_048_577))?.code == .tooLarge)
        #expect(jsonRefusal(of: string(of: 1_048_577), maximumBytes: .max) == nil)
    }

    @Test(arguments: [0x00, 0x22, 0x5B, 0x7B, 0xFF] as [UInt8])
    func eightMebibytesOfNonsenseAreRefused(_ byte: UInt8) throws {
        var bytes = ContiguousArray(repeating: byte, count: 8 << 20)
        #expect(jsonRefusal(of: bytes)?.code == .tooLarge)
        #expect(jsonRefusal(of: bytes, maximumBytes: .max) != nil)
        bytes[0] = 0x22
        #expect(jsonRefusal(of: bytes, maximumBytes: .max) != nil)
    }
}

@Suite struct JSONDuplicateNameTests {
    @Test(arguments: [
        (#"{"a":1,"a":2}"#, 7), (#"{"a":1,"a":1}"#, 7), (#"{"":1,"":1}"#, 6), (#"{"a":1,"b":2,"a":3,"b":4}"#, 13),
        (#"[{"x":{"a":1,"a":2}}]"#, 13), (#"{"a":{"b":1},"c":[],"a":{}}"#, 20), (#"{"a":1,"\u0061":2}"#, 7),
        (#"{"\u0061":1,"a":2}"#, 12), (#"{"\/":1,"/":2}"#, 8), (#"{"\n":1,"\u000A":2}"#, 8),
        (#"{"\u00e9":1,"é":2}"#, 12), (#"{"\uc548":1,"안":2}"#, 12), (#"{"\ud83d\ude00":1,"😀":2}"#, 18),
        (#"{"\u0000":1,"\u0000":2}"#, 12), (#"{"\\":1,"\u005c":2}"#, 8),
    ])
    func aNameThatIsThereBeforeIsRefusedHoweverItIsWritten(_ text: String, _ offset: Int) throws {
        let error = try #require(jsonRefusal(of: text))
        #expect(error.code == .duplicateName)
        #expect(error.offset == offset)
    }

    @Test(arguments: [
        #"{"a":1,"A":2}"#, #"{"a":1,"a ":2}"#, #"{"a":1,"":2}"#, #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":2}]"#,
        #"{"a":1,"b":{"a":2},"c":[{"a":3}]}"#, #"{"a":"a","b":"a"}"#, #"{"\\u0061":1,"a":2}"#, #"{"\u0000":1,"":2}"#,
    ])
    func differentNamesAreNot(_ text: String) {
        #expect(jsonRefusal(of: text) == nil)
    }

    /// Swift's `String` calls these pairs equal; their bytes are not.
    @Test(arguments: [("\u{E9}", "e\u{301}"), ("\u{C5}", "\u{212B}"), ("\u{AC00}", "\u{1100}\u{1161}")])
    func namesThatAreOnlyCanonicallyEquivalentAreDifferent(_ composed: String, _ decomposed: String) throws {
        #expect(composed == decomposed)
        let object = try JSONDocument("{\"\(composed)\":1,\"\(decomposed)\":2}").root
        #expect(object[composed]?.integer == 1)
        #expect(object[decomposed]?.integer == 2)
        #expect(try JSONDocument("{\"\(composed)\":1}").root[decomposed] == nil)
    }

    @Test(arguments: [2, 3, 11, 12, 100, 20_000])
    func theOneNameThatRepeatsAmongManyIsFound(_ count: Int) throws {
        let members = (0..<count).map { "\"name \($0)\":\($0)" }.joined(separator: ",")
        #expect(jsonRefusal(of: ContiguousArray("{\(members)}".utf8), maximumBytes: .max) == nil)
        for repeated in [0, count / 2, count - 1] {
            let text = ContiguousArray("{\(members),\"n\\u0061me \(repeated)\":0}".utf8)
            let error = try #require(jsonRefusal(of: text, maximumBytes: .max))
            #expect(error.code == .duplicateName)
            #expect(error.offset == members.utf8.count + 2)
        }
    }
}
