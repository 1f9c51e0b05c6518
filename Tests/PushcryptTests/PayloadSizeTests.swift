import Testing

@testable import Pushcrypt

/// The room for a placeholder, and the length of a push that a client writes again; the kit has the limits.
/// (`Docs/Format.md`, S-4 to S-6)
@Suite struct PayloadSizeTests {
    /// A payload that seals before the first rotation seals after it: with a certificate, this payload needs the largest bucket.
    @Test(arguments: [0, 1] as [UInt32]) func aRotationShrinksNoPlaceholder(_ epoch: UInt32) throws {
        let fixture = try FormatFixture(epoch: epoch)
        func seal(_ count: Int) throws -> SealedPayload {
            try fixture.seal(
                alertPayload(count: 2341), placeholder: Placeholder(title: String(repeating: "x", count: count)))
        }
        #expect(try seal(170).envelope.innerLength == (epoch == 0 ? 2560 : 2816))
        #expect(throws: SealError(.pushTooLarge, "")) { try seal(171) }
    }

    /// Received JSON counts in the same way, however it was written.
    @Test func aReceivedPushCountsLikeTheSealedOne() throws {
        let sealed = try FormatFixture().seal(alertPayload(), placeholder: Placeholder(title: "새 <메시지>/"))
        #expect(try ReceivedPush(sealed.json).maximumReencodedLength == sealed.maximumReencodedLength)
        let spread = Bytes(sealed.json.flatMap { $0 == UInt8(ascii: ":") ? [$0, UInt8(ascii: "\n")] : [$0] })
        #expect(try ReceivedPush(spread).maximumReencodedLength == sealed.maximumReencodedLength)
    }
}
