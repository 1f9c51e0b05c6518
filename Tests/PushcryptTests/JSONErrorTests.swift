import Pushcrypt
import Testing

@Suite struct JSONErrorTests {
    typealias Case = (text: String, code: JSONError.Code, offset: Int)

    static let cases: [Case] = [
        ("", .unexpectedEnd, 0), (" \t\r\n", .unexpectedEnd, 4), ("{", .unexpectedEnd, 1),
        ("{\"a\"", .unexpectedEnd, 4), ("{\"a\":", .unexpectedEnd, 5), ("{\"a\":1", .unexpectedEnd, 6),
        ("{\"a\":1,", .unexpectedEnd, 7), ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2),
        ("[1,", .unexpectedEnd, 3), ("\"ab", .unexpectedEnd, 3), (#""\"#, .unexpectedEnd, 2),
        (#""\u12"#, .unexpectedEnd, 5), (#""\ud83d"#, .unexpectedEnd, 7), (#""\ud83d\"#, .unexpectedEnd, 8),
        (#""\ud83d\u"#, .unexpectedEnd, 9), ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2),
        ("1e", .unexpectedEnd, 2), ("1e-", .unexpectedEnd, 3), ("tru", .unexpectedEnd, 3),

        ("x", .unexpectedByte, 0), ("'a'", .unexpectedByte, 0), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
        ("NaN", .unexpectedByte, 0), ("True", .unexpectedByte, 0), ("trux", .unexpectedByte, 3),
        ("nul\0", .unexpectedByte, 3), ("]", .unexpectedByte, 0), ("[1 2]", .unexpectedByte, 3),
        ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("[1}", .unexpectedByte, 2),
        ("[1x]", .unexpectedByte, 2), ("{]", .unexpectedByte, 1), ("{a:1}", .unexpectedByte, 1),
        ("{1:1}", .unexpectedByte, 1), ("{\"a\" 1}", .unexpectedByte, 5), ("{\"a\":1,}", .unexpectedByte, 7),
        ("{\"a\":1;}", .unexpectedByte, 6), ("{,}", .unexpectedByte, 1), ("{\"a\"::1}", .unexpectedByte, 5),
        ("/**/1", .unexpectedByte, 0), ("\u{A0}1", .unexpectedByte, 0), ("\u{B}1", .unexpectedByte, 0),
        ("[\u{C}1]", .unexpectedByte, 1), ("[\u{FEFF}1]", .unexpectedByte, 1), ("é", .unexpectedByte, 0),

        ("01", .invalidNumber, 1), ("-01", .invalidNumber, 2), ("00.5", .invalidNumber, 1), ("-x", .invalidNumber, 1),
        ("[-]", .invalidNumber, 2), ("[1.]", .invalidNumber, 3), ("1.e5", .invalidNumber, 2),
        ("[1e]", .invalidNumber, 3), ("1e+x", .invalidNumber, 3), ("-.5", .invalidNumber, 1),
        ("[1E 5]", .invalidNumber, 3),

        (#""\x41""#, .invalidEscape, 1), (#""a\U0041""#, .invalidEscape, 2), (#""\'""#, .invalidEscape, 1),
        (#""\u12""#, .invalidEscape, 1), (#""\u12g4""#, .invalidEscape, 1), (#""\u+123""#, .invalidEscape, 1),
        (#""\ud83d\u12x4""#, .invalidEscape, 7), ("\"\\\n\"", .invalidEscape, 1), ("{\"\\a\":1}", .invalidEscape, 2),

        (#""\ud800""#, .loneSurrogate, 1), (#""\udbff""#, .loneSurrogate, 1), (#""\udc00""#, .loneSurrogate, 1),
        (#""a\ud83dx""#, .loneSurrogate, 2), (#""\ud83d\n""#, .loneSurrogate, 1),
        (#""\ud83d\ud83d""#, .loneSurrogate, 1), (#""\ud83d\u0041""#, .loneSurrogate, 1),
        (#""\ud83d\ue000""#, .loneSurrogate, 1), (#""\ude00\ud83d""#, .loneSurrogate, 1),
        (#"{"\udfff":1}"#, .loneSurrogate, 2),

        ("\"\0\"", .controlCharacter, 1), ("\"a\tb\"", .controlCharacter, 2), ("\"a\nb\"", .controlCharacter, 2),
        ("\"\u{1F}\"", .controlCharacter, 1), ("{\"a\u{1}\":0}", .controlCharacter, 3),

        ("{} {}", .trailingBytes, 3), ("1 1", .trailingBytes, 2), ("nullx", .trailingBytes, 4),
        ("[]]", .trailingBytes, 2), ("0x10", .trailingBytes, 1), ("1.5.2", .trailingBytes, 3),
        ("\"\"\"", .trailingBytes, 2), ("{}\0", .trailingBytes, 2), ("1//", .trailingBytes, 1),

        ("\u{FEFF}{}", .byteOrderMark, 0), ("\u{FEFF}", .byteOrderMark, 0),
    ]

    @Test(arguments: cases) func aRefusalSaysWhatIsWrongAndWhere(_ expected: Case) throws {
        let error = try #require(jsonRefusal(of: expected.text))
        #expect(error.code == expected.code)
        #expect(error.offset == expected.offset)
    }

    @Test(arguments: [[0xFF, 0xFE, 0x7B, 0], [0xFE, 0xFF, 0, 0x7B]] as [ContiguousArray<UInt8>])
    func aByteOrderMarkOfUTF16IsNamed(_ bytes: ContiguousArray<UInt8>) throws {
        #expect(jsonRefusal(of: bytes)?.code == .byteOrderMark)
    }

    @Test func theCodeIsWhatMakesErrorsEqual() throws {
        let first = try #require(jsonRefusal(of: "["))
        let second = try #require(jsonRefusal(of: "[[["))
        #expect(first == second)
        #expect(first.offset != second.offset)
        #expect(try first != #require(jsonRefusal(of: "]")))
    }

    @Test func theDescriptionNamesTheCodeAndThePlaceAndNothingOfTheText() throws {
        let error = try #require(jsonRefusal(of: #"{"secret":"zebra",x}"#))
        #expect(error.code.description == "unexpected-byte")
        #expect(error.description == "not JSON: correct the byte at this offset (unexpected-byte, byte 18)")
    }

    /// Cut text lacks its end, and nothing else is wrong: also inside a character, an escape, a number.
    @Test func everyTruncationEndsTooEarly() throws {
        let document = ContiguousArray(
            #"{"aps":{"alert":{"title":"a\"\u00e9\ud83d\ude00é내🚲"},"badge":-1.5e+10,"x":[true,false,null]}}"#.utf8)
        #expect(jsonRefusal(of: document) == nil)
        for length in document.indices {
            let error = try #require(jsonRefusal(of: ContiguousArray(document.prefix(length))))
            #expect(error.code == .unexpectedEnd && error.offset == length)
        }
    }
}
