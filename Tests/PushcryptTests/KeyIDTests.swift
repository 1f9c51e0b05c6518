import Testing

@testable import Pushcrypt

/// The four bytes that name a key: a hint, never an identity. (`Docs/Format.md`, K-1)
@Suite struct KeyIDTests {
    @Test(
        arguments: [(0, "00000000"), (1, "00000001"), (0x654d_b668, "654db668"), (.max, "ffffffff")]
            as [(UInt32, String)])
    func anIDIsWrittenWithAllItsDigits(_ value: UInt32, _ text: String) {
        #expect(KeyID(value: value).description == text && KeyID(text)?.value == value)
    }

    @Test(arguments: [
        "", "654db66", "654db6680", "654db66g", "0x54db66", "+54db668", "654db\u{ff18}", "-0000001", " 54db668",
    ])
    func whatHasNotEightDigitsIsNoID(_ text: String) {
        #expect(KeyID(text) == nil)
    }
}
