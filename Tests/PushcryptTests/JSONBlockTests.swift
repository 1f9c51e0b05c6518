import Pushcrypt
import Testing

/// Strings are read by words of 8 characters, small objects are compared name by name: neither may change what is
/// accepted, wherever in a word, or between which names, the fault stands.
@Suite struct JSONBlockTests {
    static let places = Array(0...70)

    /// A string of 71 bytes, one of which is this one.
    private static func string(with byte: UInt8, at place: Int) -> ContiguousArray<UInt8> {
        var text = ContiguousArray(repeating: UInt8(ascii: "a"), count: 73)
        text[0] = UInt8(ascii: "\"")
        text[72] = UInt8(ascii: "\"")
        text[1 + place] = byte
        return text
    }

    @Test(arguments: places)
    func controlsAreSeenAtEveryPlaceOfALongString(place: Int) {
        for byte in UInt8(0)..<0x20 {
            let error = jsonRefusal(of: Self.string(with: byte, at: place))
            #expect(error?.code == .controlCharacter)
            #expect(error?.offset == 1 + place)
        }
    }

    @Test(arguments: places)
    func bytesAboveASCIIAreSeenAtEveryPlaceOfALongString(place: Int) {
        for byte in UInt8(0x80)...0xFF {
            let error = jsonRefusal(of: Self.string(with: byte, at: place))
            #expect(error?.code == .invalidUTF8)
            #expect(error?.offset == 1 + place)
        }
    }

    @Test(arguments: places)
    func everyOtherByteStandsForItself(place: Int) throws {
        for byte in UInt8(0x20)...0x7F where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
            let text = Self.string(with: byte, at: place)
            let value = try JSONDocument(parsing: text).root
            #expect(value.string == String(decoding: text.dropFirst().dropLast(), as: UTF8.self))
        }
    }

    @Test(arguments: places)
    func aQuoteEndsALongStringAnywhere(place: Int) throws {
        #expect(jsonRefusal(of: Self.string(with: UInt8(ascii: "\""), at: place))?.code == .trailingBytes)
        let letters = String(repeating: "a", count: place)
        let items = try JSONDocument("[\"\(letters)\",\"\(letters)\"]").root.elements
        #expect(items.map(\.string) == [letters, letters])
    }

    @Test(arguments: places)
    func escapesAreReadAnywhereInALongString(place: Int) throws {
        let before = String(repeating: "a", count: place)
        let after = String(repeating: "b", count: 70 - place)
        #expect(try JSONDocument("\"\(before)\\u00e9\(after)\"").root.string == "\(before)é\(after)")
        #expect(try JSONDocument("\"\(before)\\n\(after)\"").root.string == "\(before)\n\(after)")
        #expect(jsonRefusal(of: "\"\(before)\\x\(after)\"")?.code == .invalidEscape)
    }

    @Test(arguments: 2...12)
    func twoEqualNamesAreSeenAmongFewAndMany(count: Int) {
        for later in 1..<count {
            for earlier in 0..<later {
                var names = (0..<count).map { "\"n\($0)\"" }
                // The same name, written otherwise.
                names[later] = "\"\\u006e\(earlier)\""
                let text = "{" + names.map { "\($0):{}" }.joined(separator: ",") + "}"
                let error = jsonRefusal(of: text)
                #expect(error?.code == .duplicateName)
                // {"n0":{},"n1":{},…: names of one digit take 8 bytes, the two of two digits 9.
                #expect(error?.offset == 1 + later * 8 + max(0, later - 10))
            }
        }
    }

    @Test(arguments: 0...12)
    func differentNamesAreTakenHoweverManyTheyAre(count: Int) throws {
        let names = (0..<count).map { String(repeating: "n", count: $0) }
        let text = "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        #expect(try JSONDocument(text).root.members.map(\.name) == names)
    }
}
