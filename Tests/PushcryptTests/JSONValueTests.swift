import Testing

@testable import Pushcrypt

@Suite struct JSONValueTests {
    @Test(
        arguments: [
            ("{}", .object), ("[]", .array), ("\"\"", .string), ("0", .number), ("-1", .number), ("true", .bool),
            ("false", .bool), ("null", .null),
        ] as [(String, JSONValue.Kind)])
    func aValueAnswersOnlyForItsKind(_ text: String, _ kind: JSONValue.Kind) throws {
        let value = try JSONDocument(" " + text + "\n").root
        #expect(value.kind == kind)
        #expect((value.string != nil) == (kind == .string))
        #expect((value.integer != nil) == (kind == .number))
        #expect((value.double != nil) == (kind == .number))
        #expect(value.members.isEmpty && value.elements.isEmpty)
        #expect(value[""] == nil)
    }

    @Test func elementsAndMembersAreInTheOrderOfTheText() throws {
        let root = try JSONDocument(#"[ 1 , [2,[3]] , {"b":4,"a":[5,{"c":6}],"\u0063":7} , "x" ]"#).root
        #expect(root.elements.map(\.kind) == [.number, .array, .object, .string])
        #expect(root.members.isEmpty)
        let object = root.elements[2]
        #expect(object.members.map(\.name) == ["b", "a", "c"])
        #expect(object.members.map(\.value).map { jsonText($0.raw) } == ["4", #"[5,{"c":6}]"#, "7"])
        #expect(object.elements.isEmpty)
        #expect(object["a"]?.elements[1]["c"]?.integer == 6)
        #expect(object["a"].map { jsonText($0.written) } == #"[5,{"c":6}]"#)
        #expect(object["c"]?.integer == 7)
    }

    @Test func aNameIsFoundHoweverItIsWritten() throws {
        let root = try JSONDocument(#"{"\u0061ps":1,"a\/b":2,"\ud83d\ude00":3,"":4,"\\":5}"#).root
        #expect(root["aps"]?.integer == 1)
        #expect(root["a/b"]?.integer == 2)
        #expect(root["😀"]?.integer == 3)
        #expect(root[""]?.integer == 4)
        #expect(root["\\"]?.integer == 5)
        #expect(root["ap"] == nil && root["apss"] == nil && root[#"\u0061ps"#] == nil)
    }

    @Test(arguments: [
        (#""""#, ""), (#""a b""#, "a b"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0041\u00e9\u00E9\uD55C""#, "A\u{E9}\u{E9}한"), (#""\u0000\u007f\u0080""#, "\0\u{7F}\u{80}"),
        (#""\ud83d\ude00\uD83D\uDE00""#, "😀😀"), (#""\ud800\udc00""#, "\u{10000}"), (#""\udbff\udfff""#, "\u{10FFFF}"),
        (#""\ue000\uffff\u07ff\u0800""#, "\u{E000}\u{FFFF}\u{7FF}\u{800}"),
        ("\"é한🚲\u{7F}\u{FFFE}\"", "é한🚲\u{7F}\u{FFFE}"), (#""\\u0041""#, "\\u0041"),
        ("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"),
    ])
    func aStringIsUnescaped(_ json: String, _ expected: String) throws {
        let string = try #require(try JSONDocument(json).root.string)
        #expect(Array(string.utf8) == Array(expected.utf8))
    }

    @Test(
        arguments: [
            ("0", 0, 0), ("-0", nil, -0.0), ("7", 7, 7), ("-12", -12, -12), ("1.0", nil, 1), ("1e2", nil, 100),
            ("1E-2", nil, 0.01), ("0.1", nil, 0.1), ("0.30000000000000004", nil, 0.30000000000000004),
            ("9223372036854775807", 9_223_372_036_854_775_807, 0x1p63), ("9223372036854775808", nil, 0x1p63),
            ("-9223372036854775808", -9_223_372_036_854_775_808, -0x1p63), ("-9223372036854775809", nil, -0x1p63),
            ("12345678901234567890", nil, 12_345_678_901_234_567_168),
            ("1e-400", nil, 0), ("1E400", nil, nil), ("-1E400", nil, nil),
        ] as [(String, Int64?, Double?)])
    func aNumberIsReadWithoutGuessing(_ json: String, _ integer: Int64?, _ double: Double?) throws {
        let value = try JSONDocument(json).root
        #expect(value.integer == integer)
        #expect(integer == nil || value.wholeNumber == integer)
        #expect(value.double?.bitPattern == double?.bitPattern)
        #expect(jsonText(value.raw) == json && jsonText(value.minified()) == json)
    }
}

@Suite struct JSONWholeNumberTests {
    @Test(
        arguments: [
            ("3", 3), ("3.0", 3), ("3e0", 3), ("30E-1", 3), ("0.3e1", 3), ("-0", 0), ("-0.0", 0), ("-3.0", -3),
            ("1e3", 1000),
            ("2.5", nil), ("1e-400", 0), ("1e400", nil), ("\"3\"", nil), ("true", nil), ("null", nil), ("[3]", nil),
            ("9223372036854775807", .max), ("9223372036854775808", nil), ("9007199254740991.0", 9_007_199_254_740_991),
            ("9007199254740992.0", nil), ("-9007199254740992.0", nil), ("1e16", nil),
        ] as [(String, Int64?)])
    func aWholeNumberCountsHoweverItIsWritten(_ json: String, _ expected: Int64?) throws {
        #expect(try JSONDocument(json).root.wholeNumber == expected)
    }

    @Test(
        arguments: [
            ("1", true), ("1.0", true), ("1e0", true), ("true", true), ("0", false), ("-0", false), ("false", false),
            ("2", nil), ("-1", nil), ("0.5", nil), ("\"1\"", nil), ("\"true\"", nil), ("null", nil), ("{}", nil),
            ("[1]", nil),
        ] as [(String, Bool?)])
    func aFlagIsOneOrZeroOrTrueOrFalse(_ json: String, _ expected: Bool?) throws {
        #expect(try JSONDocument(json).root.flag == expected)
    }

    @Test func aMemberThatIsNullIsNone() throws {
        let root = try JSONDocument(#"{"a":null,"b":[null],"c":false}"#).root
        #expect(root.member("a") == nil && root.member("d") == nil && root["b"]?.member("a") == nil)
        #expect(root.member("b")?.kind == .array && root.member("c")?.bool == false)
    }
}

@Suite struct JSONBytesTests {
    @Test func theDocumentKeepsItsBytesAndEachValueItsPlace() throws {
        let json = " { \"a\" : [ 1 , \"x\\u0020\" ] , \"b\":1.0 }\r\n"
        let document = try JSONDocument(json)
        #expect(jsonText(document.bytes) == json)
        #expect(document.root.range == 1..<json.utf8.count - 2)
        let array = try #require(document.root["a"])
        #expect(jsonText(array.raw) == "[ 1 , \"x\\u0020\" ]")
        #expect(array.range == 9..<26)
        #expect(jsonText(array.minified()) == "[1,\"x \"]")
        #expect(jsonText(array.elements[1].raw) == "\"x\\u0020\"")
        #expect(jsonText(array.elements[1].minified()) == "\"x \"")
    }

    @Test(arguments: [
        ("{}", "{}"), (" { \t\r\n } ", "{}"), ("[ ]", "[]"), (" 1 ", "1"), ("[ [ ] , { } ]", "[[],{}]"),
        ("{ \"a b\" : \"c  d\" }", "{\"a b\":\"c  d\"}"),
        ("[ 1.0 , 1E400 , -0 , 12345678901234567890 ]", "[1.0,1E400,-0,12345678901234567890]"),
        (#"[ "\u0041\/ \" " , true,false , null ]"#, #"["A/ \" ",true,false,null]"#),
        (#"{ "\u0061\u000A" : "\\u0041 \\\u0022\u001F\u007f" }"#, "{\"a\\n\":\"\\\\u0041 \\\\\\\"\\u001f\u{7f}\"}"),
        (#"[ "\uD83D\uDEB2" , "a\u00e9" , "b" ]"#, #"["🚲","aé","b"]"#),
        ("{\n  \"z\": 1,\n  \"a\": [\n    2\n  ]\n}\n", "{\"z\":1,\"a\":[2]}"),
        ("[\"é 한\u{A0}🚲\" ]", "[\"é 한\u{A0}🚲\"]"),
    ])
    func theFewestBytesAreWithoutWhiteSpaceAndEscapes(_ json: String, _ expected: String) throws {
        let root = try JSONDocument(json).root
        #expect(jsonText(root.minified()) == expected)
        var output: ContiguousArray<UInt8> = [0x3E]
        root.appendMinified(to: &output)
        #expect(jsonText(output) == ">" + expected)
    }
}
