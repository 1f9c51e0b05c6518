import Testing

@testable import Pushcrypt

/// A genuine envelope of which a bit, the end or the last character changed. (`Docs/Format.md`, O-2.1 to O-4.3)
///
/// No expectation here is computed: the format says which byte is what, and what a fault in it is called.
@Suite struct EnvelopeFaultTests {
    private let phone: FormatFixture
    /// 309 bytes.
    private let small: Bytes
    /// 2869 bytes.
    private let large: Bytes
    /// 3826 characters.
    private let largeText: Bytes

    init() throws {
        phone = try FormatFixture()
        let small = try phone.seal(alertPayload()).envelope
        let large = try phone.seal(alertPayload(count: 2590)).envelope
        self.small = small.bytes
        (self.large, largeText) = (large.bytes, Bytes(large.text.utf8))
        try #require((self.small.count, self.large.count, largeText.count) == (309, 2869, 3826))
        try #require(phone.refusal(of: Bytes(small.text.utf8)) == nil && phone.refusal(of: largeText) == nil)
    }

    /// The code for a flipped bit of this byte: the suite, the recipient key id, everything else.
    private static func code(forByte index: Int) -> OpenError.Code {
        switch index {
        case 0: .unsupportedSuite
        case 1..<5: .unknownRecipientKey
        default: .authenticationFailed
        }
    }

    private func expectRefusal(ofBit bit: Int, in envelope: Bytes) {
        var bytes = envelope
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        let code = phone.refusal(of: Bytes(Base64URL.string(bytes.span).utf8))
        #expect(code == Self.code(forByte: bit / 8), "bit \(bit % 8) of byte \(bit / 8)")
    }

    @Test func everyFlippedBitOfASmallEnvelopeIsRefused() {
        for bit in 0..<309 * 8 { expectRefusal(ofBit: bit, in: small) }
    }

    @Test func aSampleOfFlippedBitsInALargeCiphertextIsRefused() {
        // A linear congruential generator of full period modulo 2^16; the same bits in every run.
        var state = 1
        for _ in 0..<1000 {
            state = (state * 25_173 + 13_849) % 65_536
            expectRefusal(ofBit: 37 * 8 + state % (2816 * 8), in: large)
        }
    }

    /// Where the rest has the length of a smaller bucket, only authentication is left to notice.
    @Test func everyTruncationOfALargeEnvelopeIsRefused() {
        let ofABucket = [412, 1436, 3484]
        // These have the length of a bucket too, but with unused bits, which are hardly ever zero.
        let ofABucketWithUnusedBits = [754, 2119, 2802]
        for length in 0..<3826 {
            let code = phone.refusal(of: Bytes(largeText.prefix(length)))
            if ofABucketWithUnusedBits.contains(length) {
                #expect(code == .malformedEnvelope || code == .authenticationFailed, "\(length) characters")
            } else {
                #expect(
                    code == (ofABucket.contains(length) ? .authenticationFailed : .malformedEnvelope),
                    "\(length) characters")
            }
        }
    }

    /// One text for each envelope: another last character has unused bits that are not zero, or another tag.
    @Test(arguments: [256, 512, 1024]) func noOtherLastCharacterOpens(_ bucket: Int) throws {
        let text = Bytes(try phone.seal(alertPayload(count: bucket - 99)).envelope.text.utf8)
        try #require(phone.refusal(of: text) == nil)
        for character in UInt8.min...UInt8.max where character != text.last {
            #expect(phone.refusal(of: text.dropLast() + [character]) != nil, "\(character)")
        }
    }
}
