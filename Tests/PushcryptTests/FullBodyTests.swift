import Testing

@testable import Pushcrypt

/// A body that is too long for its push travels as a sealed file. (`Docs/FormatFiles.md`, Full body)
@Suite struct FullBodyTests {
    private let fixture: FormatFixture
    private let sealer: Sealer
    private static let text = String(repeating: "새 소식 👨‍👩‍👧‍👦 \"\\ \n", count: 500)

    init() throws {
        fixture = try FormatFixture()
        sealer = Sealer(provider: fixture.provider, topic: fixture.topic)
    }

    private static func payload(_ text: String) -> String {
        var json = JSONWriter()
        json.object { json in
            json.object(for: "aps") { json in
                json.object(for: "alert") { json in
                    json.string("News", for: "title")
                    json.string(text, for: "body")
                }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func fullBody(_ payload: String, url: String = "https://f.example/b") throws(AttachmentError) -> FullBody? {
        try FullBody(of: payload.utf8, url: url, by: sealer)
    }

    private func opened(_ payload: String, _ fullBody: FullBody?) throws -> OpenedNotification {
        var message = Sealer.Message(payload.utf8)
        (message.fullBody, message.fitting) = (fullBody, [.body])
        let sealed = try sealer.seal(message, to: fixture.device.publicKey, at: FormatFixture.now)
        return try fixture.opener().open(sealed.json, at: FormatFixture.now)
    }

    @Test func theFullTextComesOutAndAShortOneIsThereWithoutIt() throws {
        let payload = Self.payload(Self.text)
        let fullBody = try #require(try fullBody(payload))
        let opened = try opened(payload, fullBody)
        #expect(try opened.fullBody(opening: fullBody.sealedFile.span) == Self.text)
        let short = try #require(opened.body)
        #expect(short.hasSuffix("…") && Self.text.hasPrefix(short.dropLast()) && short.utf8.count > 1500)
        #expect(opened.title == "News" && opened.attachments.isEmpty && opened.droppedAttachments.isEmpty)
        #expect(opened.fullBody?.url == "https://f.example/b")
        #expect(opened.visibleMembers.map(\.name) == ["aps"])
    }

    /// The reference has the members of an attachment's, behind the payload and before attachments.
    @Test func itStandsInTheReservedMember() throws {
        let fullBody = try #require(try fullBody(alertPayload()))
        var message = Sealer.Message(alertPayload().utf8)
        message.attachments = [try AttachmentReferenceTests.reference(url: "https://f.example/a", name: "0.jpg")]
        message.fullBody = fullBody
        let sealed = try sealer.seal(message, to: fixture.device.publicKey, at: FormatFixture.now)
        let opened = try fixture.opener().open(sealed.json, at: FormatFixture.now)
        let text = String(decoding: opened.payload, as: UTF8.self)
        #expect(
            text.hasPrefix(#"{"aps":{"alert":"See you at 8"},"pushcrypt":{"body":{"url":"https://f.example/b","key":""#)
        )
        // "See you at 8" has 12 bytes; a sealed file has 21 more.
        #expect(text.contains(#","size":33,"sha256":""#))
        #expect(
            text.contains(#","type":"public.plain-text","name":"body"},"attachments":[{"url":"https://f.example/a","#))
        #expect(opened.attachments.count == 1 && opened.fullBody != nil)
    }

    @Test func aBodyHasAtMost64KiB() throws {
        let longest = String(repeating: "x", count: 65_536)
        let fullBody = try #require(try fullBody(alertPayload(longest)))
        #expect(fullBody.sealedFile.count == 65_557)
        #expect(try opened(alertPayload(longest), fullBody).fullBody(opening: fullBody.sealedFile.span) == longest)
        let error = try #require(
            #expect(throws: AttachmentError.self) { try self.fullBody(alertPayload(longest + "x")) })
        #expect(error.code == .bodyTooLong && error.description.contains("65537 bytes"))
    }

    @Test(arguments: [
        #"{"aps":{"alert":{"title":"x"}}}"#, #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":{"body":""}}}"#,
        #"{"aps":{"alert":{"loc-key":"K","body":"x"}}}"#, #"{"aps":{"badge":1}}"#, "{}", "", "[",
    ])
    func whatHasNoBodyToShowHasNoFullOne(_ payload: String) throws {
        #expect(try fullBody(payload) == nil)
    }

    @Test(arguments: ["http://f.example/b", "https://", "f.example", ""]) func itsPlaceIsHTTPS(_ url: String) throws {
        let error = try #require(
            #expect(throws: AttachmentError.self) { try fullBody(alertPayload(), url: url) })
        #expect(error.code == .malformedReference)
    }

    /// One key for each text, whatever the random source does.
    @Test func everyFileHasAKeyOfItsOwn() throws {
        let files = try (0..<3).map { _ in try #require(try fullBody(alertPayload())) }
        #expect(Set(files.map(\.sealedFile)).count == 3)
        let opened = try opened(alertPayload(), files[0])
        let other = files[1].sealedFile
        let error = #expect(throws: AttachmentError.self) { try opened.fullBody(opening: other.span) }
        #expect(error?.code == .authenticationFailed)
    }

    @Test func withoutOneNoFileIsOpened() throws {
        let opened = try opened(alertPayload(), nil)
        let nothing = Bytes()
        let error = #expect(throws: AttachmentError.self) { try opened.fullBody(opening: nothing.span) }
        #expect(error?.code == .malformedReference)
    }
}
