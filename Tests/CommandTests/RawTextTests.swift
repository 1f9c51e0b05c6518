import Testing

@testable import PushcryptCommandKit

@Suite struct RawTextTests {
    /// Every byte alone, in text, and what looks like a sequence and is none.
    private static let samples: [[UInt8]] =
        (1...255).map { [$0] } + (1...255).map { [0x61, $0, 0x62] }
        + [
            [], Array("für 아이폰 👩‍👧".utf8), [0xC3, 0x28], [0xE2, 0x82], [0xF0, 0x9F, 0x92], [0xED, 0xA0, 0x80],
            [0xC0, 0xAF],
            // Characters for private use, which stand for bytes here: the text of an argument must not become another's.
            Array("\u{10FF80}".utf8), Array("\u{10FFFF}x".utf8), Array("\u{10FF7F}".utf8), Array("\u{FFFD}".utf8),
        ]

    @Test("The bytes of an argument come back as they were", arguments: samples)
    func roundTrip(bytes: [UInt8]) {
        let text = RawText.text(bytes)
        #expect(RawText.path(text).map(UInt8.init(bitPattern:)) == bytes + [0])
        #expect(RawText.isText(text) == (String(validating: bytes, as: UTF8.self).map(Self.isUsual) ?? false))
    }

    private static func isUsual(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0.value >= 0x10FF80 }
    }

    @Test("UTF-8 is read as it is, and other bytes are shown as such")
    func shown() {
        #expect(RawText.text(Array("für".utf8)) == "für")
        #expect(quoted(RawText.text([0x61, 0xFF, 0x62])) == #"'a\xffb'"#)
    }

    @Test("A name that is not UTF-8 is refused, and a file's is used as it is")
    func kinds() throws {
        let odd = RawText.text([0x61, 0xFF])
        let refused = try outcome(["device", "add", odd])
        #expect(
            refused
                == Outcome(
                    exit: .usage, output: "", messages: #"pushcrypt: error: ID is not UTF-8 text: 'a\xff'"# + "\n"))
        #expect(try outcome(["send", "--to", odd]).messages.contains("--to is not UTF-8 text"))
        #expect(try outcome(["join", "t", odd]).exit == .done)
    }
}
