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

    @Test func whatEachClientWritesIsCounted() {
        func length(_ json: String) -> Int { JSONText.maximumReencodedLength(of: Bytes(json.utf8).span) }
        // Of Python, PHP, Go, Gson and .NET, in this order; each text in the form of that client.
        for (json, written) in [
            (#"{"a":1,"b":["é,:"]}"#, #"{"a": 1, "b": ["\u00e9,:"]}"#), (#"["🚲/"]"#, #"["\ud83d\udeb2\/"]"#),
            ("[\"<>&\\b\\f\u{2028}\"]", #"["\u003c\u003e\u0026\u0008\u000c\u2028"]"#),
            (#"["'="]"#, #"["\u0027\u003d"]"#), ("[\"+`\\\"\u{7F}\"]", #"["\u002B\u0060\u0022\u007F"]"#),
            (#"["\uc0c8",true,-0.5]"#, #"["\uc0c8", true, -0.5]"#),
        ] { #expect(length(json) == written.utf8.count, "\(json)") }
    }

    /// The app opens these itself: anyone would see a placeholder. (S-2, S-3)
    @Test(arguments: [PushType.voip, .background]) func aPushForTheAppHasNoPlaceholder(_ type: PushType) throws {
        let loud = try Placeholder(title: "Ring", sound: .named("ring.caf"), clearFields: [.badge, .category])
        var message = Sealer.Message([])
        message.pushType = type
        let sealed = try FormatFixture().seal(
            #"{"aps":{"alert":"x","badge":3,"category":"C","content-available":1}}"#, like: message, placeholder: loud)
        #expect(jsonText(sealed.json).hasPrefix(#"{"aps":{"content-available":1},"ENCRYPTED_DATA":""#))
    }

    /// Received JSON counts in the same way, however it was written.
    @Test func aReceivedPushCountsLikeTheSealedOne() throws {
        let sealed = try FormatFixture().seal(alertPayload(), placeholder: Placeholder(title: "새 <메시지>/"))
        #expect(try ReceivedPush(sealed.json).maximumReencodedLength == sealed.maximumReencodedLength)
        let spread = Bytes(sealed.json.flatMap { $0 == UInt8(ascii: ":") ? [$0, UInt8(ascii: "\n")] : [$0] })
        #expect(try ReceivedPush(spread).maximumReencodedLength == sealed.maximumReencodedLength)
    }
}
