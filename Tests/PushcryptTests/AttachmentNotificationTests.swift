import Testing

@testable import Pushcrypt

/// Attachments of a notification: how they get into a sealed payload, what room they take, and what comes out.
@Suite struct AttachmentNotificationTests {
    private static func references(_ count: Int, url: String = "https://f.example/a") throws -> [AttachmentReference] {
        try (0..<count).map { try AttachmentReferenceTests.reference(url: url, name: "\($0).jpg") }
    }

    private static func seal(
        _ payload: String, _ attachments: [AttachmentReference], _ change: (inout Sealer.Message) -> Void = { _ in }
    ) throws -> SealedPayload {
        let fixture = try FormatFixture()
        var message = Sealer.Message(payload.utf8)
        message.attachments = attachments
        change(&message)
        return try Sealer(provider: fixture.provider, topic: fixture.topic).seal(
            message, to: fixture.device.publicKey, at: FormatFixture.now)
    }

    private static func open(_ sealed: SealedPayload) throws -> OpenedNotification {
        try FormatFixture().opener().open(sealed.json, at: FormatFixture.now, as: sealed.pushType.sealableClass())
    }

    /// The rest of the payload keeps its bytes, and the reserved member stands behind it.
    @Test func thePayloadIsOtherwiseTheSame() throws {
        let payload = #"{"aps":{"alert":"x"},"n":[1.50E+2,-0],"e":{}}"#
        let opened = try Self.open(try Self.seal(payload, try Self.references(1)))
        let text = String(decoding: opened.payload, as: UTF8.self)
        #expect(
            text.hasPrefix(#"{"aps":{"alert":"x"},"n":[1.50E+2,-0],"e":{},"pushcrypt":{"attachments":[{"url":"https:"#))
        #expect(text.hasSuffix(#""name":"0.jpg"}]}}"#))
        #expect(opened.visibleMembers.map(\.name) == ["aps", "n", "e"])
        let without = try Self.open(try Self.seal(payload, []))
        #expect(String(decoding: without.payload, as: UTF8.self) == payload)
    }

    /// One reference here has 215 bytes: its own 184, and 31 around it.
    @Test func theBytesOfAttachmentsCount() throws {
        let one = try Self.references(1)
        #expect(one[0].json.count == 184)
        _ = try Self.seal(alertPayload(count: 2596 - 215), one)
        let error = try #require(
            #expect(throws: SealError.self) { try Self.seal(alertPayload(count: 2596 - 214), one) })
        #expect(error.code == .payloadTooLarge)
        for part in ["has 2597 bytes", "1 more than fit (2596)", "215 of them are its attachments"] {
            #expect(error.description.contains(part), "\(error)")
        }
    }

    /// Everything that can be sealed may have attachments: the app opens a call or a background push itself.
    @Test(arguments: [PushType.alert, .background, .voip]) func everyPushTypeMayHaveThem(_ type: PushType) throws {
        let opened = try Self.open(try Self.seal(alertPayload(), try Self.references(2)) { $0.pushType = type })
        #expect(opened.attachments.count == 2)
    }

    /// A pinned provider with another program may write what it likes; the text opens all the same.
    @Test func aDroppedAttachmentIsToldByItsPlace() throws {
        let list = AttachmentList(
            of: try JSONDocument(
                parsing: Bytes(#"{"aps":{},"pushcrypt":{"attachments":[{},{"url":"https://zebra@a"}]}}"#.utf8)
            ).root)
        #expect(list.dropped.map(\.code) == [.malformedReference, .malformedReference])
        #expect(list.dropped[0].description.hasPrefix("attachment 1: "))
        #expect(list.dropped[1].description.hasPrefix("attachment 2: "))
        #expect(!list.dropped[1].description.contains("zebra"))
    }
}
