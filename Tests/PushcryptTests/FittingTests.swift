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

    @Test func aCallHasMoreRoom() throws {
        #expect(try Self.seal(alertPayload(count: 4000)) { $0.pushType = .voip }.shortened == [.body: 639])
    }

    /// An ellipsis of three bytes, and the rest of the 2596 that the largest bucket holds beside a certificate.
    @Test(arguments: [(2597, 4), (2598, 5), (10_000, 7407)])
    func aBodyFillsTheLargestBucket(_ count: Int, _ removed: Int) throws {
        let sealed = try Self.seal(alertPayload(count: count))
        #expect(sealed.envelope.innerLength == 2816 && sealed.shortened == [.body: removed])
        #expect(try Self.body(of: sealed) == String(repeating: "x", count: count - 20 - removed) + "…")
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
}
