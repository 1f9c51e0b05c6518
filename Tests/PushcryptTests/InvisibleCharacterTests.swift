import Testing

@testable import Pushcrypt

/// Which characters no name of a device may have, and which a title loses. (`Docs/FormatRecords.md`, D-20;
/// `Docs/Format.md`, N-4 and N-9)
@Suite struct InvisibleCharacterTests {
    /// The list is closed, whatever Unicode this program was built with: 14.0 as Python 3.11 has it, and what 15.0 added.
    @Test func theListOfInvisibleCharactersIsTheFormats() {
        let found = (UInt32(0)...0x10ffff).compactMap(Unicode.Scalar.init).filter(\.isInvisible).map(\.value)
        let ranges: [ClosedRange<UInt32>] = [
            0...0x1f, 0x7f...0x9f, 0xad...0xad, 0x600...0x605, 0x61c...0x61c, 0x6dd...0x6dd, 0x70f...0x70f,
            0x890...0x891,
            0x8e2...0x8e2, 0x180e...0x180e, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x2064, 0x2066...0x206f,
            0xfeff...0xfeff, 0xfff9...0xfffb, 0x110bd...0x110bd, 0x110cd...0x110cd, 0x13430...0x1343f,
            0x1bca0...0x1bca3,
            0x1d173...0x1d17a, 0xe0001...0xe0001, 0xe0020...0xe007f,
        ]
        #expect(found == ranges.flatMap { Array($0) })
    }

    /// The list is closed: of all characters, these and no others.
    @Test func titlesLoseTheseCharacters() {
        let lost = (UInt32(0)...0x10ffff).compactMap(Unicode.Scalar.init).filter(\.isDroppedFromTitles).map(\.value)
        #expect(
            lost == [
                0x61c, 0x200b, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068,
                0x2069, 0xfeff,
            ])
        #expect("\u{202e}gpj.\u{200b}Anna\u{feff}".withoutInvisible == "gpj.Anna")
        // Characters that Persian and a family emoji need.
        for text in ["می\u{200c}خواهم", "👨\u{200d}👩\u{200d}👧", "", "Anna", "e\u{301}"] {
            #expect(text.withoutInvisible.unicodeScalars.elementsEqual(text.unicodeScalars))
        }
    }

    private func sender(_ member: String) throws -> CommunicationSender? {
        let payload = #"{"aps":{},"pushcrypt":{"sender":"# + member + "}}"
        return CommunicationSender.read(try JSONDocument(parsing: Bytes(payload.utf8)).root).sender
    }

    @Test func aPersonsNameIsShownWithoutThem() throws {
        let anna = try #require(
            try sender(#"{"name":"\u202eAn\u200bna","conversation":"c\u200b1","recipients":["B\u2069en"]}"#))
        #expect(anna.name == "Anna" && anna.recipients == ["Ben"] && anna.conversation == "c\u{200b}1")
        // The person's id in the app is not shown, and stays.
        #expect(anna.handle == "\u{202e}An\u{200b}na")
        #expect(try sender(#"{"name":"Anna","handle":"u\u200b1"}"#)?.handle == "u\u{200b}1")
        for member in [#"{"name":"\u200b"}"#, #"{"name":"Anna","recipients":["\ufeff\u2060"]}"#] {
            #expect(try sender(member) == nil)
        }
    }
}
