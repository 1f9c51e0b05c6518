import Testing

@testable import Pushcrypt

/// A sealer that may shorten texts: what it seals fills the push that Apple takes, and is refused where nothing helps.
@Suite struct FittingTests {
    private static func seal(
        _ payload: String, fitting texts: [AlertText] = [.body], placeholder: Placeholder = .standard,
        _ change: (inout Sealer.Message) -> Void = { _ in }
    ) throws -> SealedPayload {
        var message = Sealer.Message([])
        message.fitting = texts
        change(&message)
        return try FormatFixture().seal(payload, like: message, placeholder: placeholder)
    }

    private static func body(of sealed: SealedPayload) throws -> String? {
        try FormatFixture().opener().open(sealed.json, at: FormatFixture.now).body
    }

    @Test func whatFitsIsNotTouched() throws {
        for count in [100, 2596] {
            let sealed = try Self.seal(alertPayload(count: count), fitting: AlertText.allCases)
            #expect(sealed == (try Self.seal(alertPayload(count: count), fitting: [])))
            #expect(sealed.shortened.isEmpty)
        }
    }

    /// An ellipsis of three bytes, and the rest of the 2596 that the largest bucket holds beside a certificate.
    @Test(arguments: [(2597, 4), (2598, 5), (10_000, 7407)])
    func aBodyFillsTheLargestBucket(_ count: Int, _ removed: Int) throws {
        let sealed = try Self.seal(alertPayload(count: count))
        #expect(sealed.envelope.innerLength == 2816 && sealed.shortened == [.body: removed])
        #expect(try Self.body(of: sealed) == String(repeating: "x", count: count - 20 - removed) + "…")
    }

    @Test func aCallHasMoreRoom() throws {
        let sealed = try Self.seal(alertPayload(count: 4000)) { $0.pushType = .voip }
        #expect(sealed.envelope.innerLength == 3584 && sealed.shortened == [.body: 4000 - 3364 + 3])
    }

    /// The certificate and attachments keep their room, the certificate also where there is none.
    @Test(arguments: [0, 1] as [UInt32]) func certificatesAndAttachmentsAreNotShortened(_ epoch: UInt32) throws {
        let fixture = try FormatFixture(epoch: epoch)
        var message = Sealer.Message(alertPayload(count: 2596).utf8)
        message.fitting = [.body]
        message.attachments = [try AttachmentReferenceTests.reference(url: "https://f.example/a", name: "0.jpg")]
        let sealed = try fixture.sealer.seal(message, to: fixture.device.publicKey, at: FormatFixture.now)
        // 215 bytes for the attachment, 3 for the ellipsis.
        #expect(sealed.shortened == [.body: 215 + 3])
        let opened = try fixture.opener().open(sealed.json, at: FormatFixture.now)
        #expect(opened.attachments.count == 1 && opened.body?.count == 2596 - 20 - 218 + 1)
    }

    /// A title of 500 bytes leaves room for the bucket of 2048; the text is shortened for that.
    @Test func aLongPlaceholderLeavesASmallerBucket() throws {
        let placeholder = try Placeholder(title: String(repeating: "t", count: 500))
        #expect(throws: SealError.self) {
            try Self.seal(alertPayload(count: 2500), fitting: [], placeholder: placeholder)
        }
        let sealed = try Self.seal(alertPayload(count: 2500), placeholder: placeholder)
        #expect(sealed.envelope.innerLength == 2560 && sealed.shortened == [.body: 2500 - 2340 + 3])
        #expect(sealed.maximumReencodedLength <= 4096)
        let longer = try Placeholder(title: String(repeating: "t", count: 600))
        let smaller = try Self.seal(alertPayload(count: 2500), placeholder: longer)
        #expect(smaller.envelope.innerLength == 2048 && smaller.shortened == [.body: 2500 - 1828 + 3])
    }

    @Test func whatDoesNotFitEvenThenIsRefusedAsItWas() throws {
        let long = #"{"aps":{"alert":{"title":"t","body":"b"}},"x":""# + String(repeating: "x", count: 3000) + "\"}"
        let error = try #require(#expect(throws: SealError.self) { try Self.seal(long, fitting: AlertText.allCases) })
        #expect(error.code == .payloadTooLarge && error.description.contains("has \(long.utf8.count) bytes"))
        let placeholder = try Placeholder(title: String(repeating: "t", count: 4000))
        let tooWide = try #require(
            #expect(throws: SealError.self) { try Self.seal(alertPayload(count: 2000), placeholder: placeholder) })
        #expect(tooWide.code == .pushTooLarge)
    }
}
