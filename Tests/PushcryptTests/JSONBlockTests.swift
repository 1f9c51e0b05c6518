import Pushcrypt
import Testing

/// Strings are read by words of 8 characters, which changes nothing of what is accepted, wherever a fault stands.
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
}
