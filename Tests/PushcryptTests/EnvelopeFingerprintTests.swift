import Testing

@testable import Pushcrypt

/// The digits by which provider and phone speak of one envelope. What is expected here was printed by `sha256sum`.
@Suite struct EnvelopeFingerprintTests {
    @Test(
        "Every text has a fingerprint, whether it is an envelope or not",
        arguments: [
            ("", "e3b0c442"), ("abc", "ba7816bf"), ("AQ", "408009a0"),
            // Zeros at the front are digits, too.
            ("886", "000f21ac"),
            // Apple's article shows this instead of an envelope: its bytes count, as UTF-8.
            ("Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw", "85cdaf02"),
        ])
    func known(text: String, digits: String) {
        #expect(EnvelopeFingerprint(of: text).description == digits)
    }

    @Test(
        "A push has the fingerprint of the string that it carries, and none without a string",
        arguments: [
            (#""abc""#, "ba7816bf"), (#""\u0061b\u0063""#, "ba7816bf"), (#""""#, "e3b0c442"), ("7", nil), ("null", nil),
            (#"["abc"]"#, nil),
        ])
    func pushes(value: String, digits: String?) throws {
        #expect(try push(value).fingerprint?.description == digits)
    }

    @Test("What has no ENCRYPTED_DATA has no fingerprint")
    func clear() throws {
        #expect(try ReceivedPush(#"{"aps":{"alert":"hi"}}"#.utf8).fingerprint == nil)
    }

    @Test("Eight lower-case digits are read back, and nothing else")
    func digits() {
        #expect(EnvelopeFingerprint("000f21ac") == EnvelopeFingerprint(value: 0x000f_21ac))
        #expect(EnvelopeFingerprint("ffffffff") == EnvelopeFingerprint(value: .max))
        for text in ["", "f21ac", "000F21AC", "+00f21ac", "000f21acd", "0000f21ac", "000f21ag", "０００f"] {
            #expect(EnvelopeFingerprint(text) == nil)
        }
    }

    private func push(_ value: String) throws -> ReceivedPush {
        try ReceivedPush(#"{"aps":{},"ENCRYPTED_DATA":\#(value)}"#.utf8)
    }
}
