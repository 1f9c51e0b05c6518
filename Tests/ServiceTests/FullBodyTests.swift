import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import TestPhone
import Testing
import UserNotifications
import Waiting

@testable import PushcryptService

/// A body that is too long for its push, with a scripted transport.
@Suite struct FullBodyTests {
    private static let short = "The beginning…"
    private static let text = "The beginning, and " + String(repeating: "the rest 🚲 ", count: 2000) + "the end."

    private let phone: TestPhone
    private let reports = Reports()
    private let clock = ManualClock()
    private let fullBody: FullBody
    private let photo: SealedAttachment

    init() throws {
        phone = try TestPhone()
        fullBody = try Self.fullBody(Self.text, by: phone.provider)
        photo = try SealedAttachment(SealedAttachment.plain(100_000))
    }

    private static func payload(_ body: String) -> String {
        #"{"aps":{"alert":{"title":"News","body":""# + body + #""},"sound":"default"},"chat":"c41"}"#
    }

    private static func fullBody(_ text: String, by provider: ProviderKey) throws -> FullBody {
        let sealer = Sealer(provider: provider, topic: TestPhone.topic)
        return try #require(
            try FullBody(of: payload(text).utf8, url: "https://files.example/body", by: sealer))
    }

    private func configuration(_ transport: PlayedTransport) -> NotificationServiceHandler.Configuration {
        var configuration = phone.downloading(transport)
        configuration.observe = reports.append
        configuration.clock = clock
        return configuration
    }

    private func request(_ attachments: [SealedAttachment] = []) throws -> UNNotificationRequest {
        try TestPhone.request(
            try phone.seal(
                Self.payload(Self.short), attachments: attachments.map(\.reference), fullBody: fullBody),
            identifier: "1")
    }

    /// Serves the body, and the photo for every other URL.
    private func transport(
        isImmediate: Bool = false, body: PlayedTransport.Play? = nil, photo: PlayedTransport.Play? = nil
    ) -> PlayedTransport {
        let plays = UncheckedSendableBox(
            (body: body ?? .bytes(fullBody.sealedFile), photo: photo ?? .bytes(self.photo.sealed)))
        return PlayedTransport(isImmediate: isImmediate) { $0 == "body" ? plays.value.body : plays.value.photo }
    }

    private func show(
        _ transport: PlayedTransport, _ attachments: [SealedAttachment] = []
    ) async throws -> UNNotificationContent {
        let request = try request(attachments)
        return try #require(await configuration(transport).show(request))
    }

    private var filesLeft: [String] {
        let folder = phone.folder.appendingPathComponent("pushcrypt-attachments", isDirectory: true)
        return (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    }

    // MARK: Success

    @Test(arguments: [false, true]) func theFullBodyIsShownAndItsFileIsGone(_ isImmediate: Bool) async throws {
        let content = try await show(transport(isImmediate: isImmediate))
        #expect(content.body == Self.text && content.title == "News" && content.attachments.isEmpty)
        #expect(!(content.userInfo["pushcrypt"] is [String: Any]) && content.userInfo["chat"] as? String == "c41")
        #expect(reports.first?.outcome == .opened && reports.first?.warnings == [])
        #expect(await eventually { filesLeft.isEmpty })
    }

    @Test(arguments: [false, true]) func itComesBesideAttachments(_ isImmediate: Bool) async throws {
        let transport = transport(isImmediate: isImmediate)
        let content = try await show(transport, [photo, photo])
        #expect(content.body == Self.text && content.attachments.map(\.identifier) == ["1", "2"])
        #expect(reports.first?.outcome == .opened && transport.asked.first == "body")
        #expect(
            filesLeft.filter { $0.hasSuffix("photo.jpg") }.count == 2 && !filesLeft.contains { $0.hasSuffix("body") })
    }

    @Test func theAppsChangeSeesItAndTheAttachments() async throws {
        var configuration = configuration(transport())
        configuration.change = { opened, content, _ in
            content.title = "\(opened.body?.count ?? 0) of \(content.body.count), \(content.attachments.count)"
            return content
        }
        let content = try #require(await configuration.show(try request([photo])))
        #expect(content.title == "14 of \(Self.text.count), 1" && content.attachments.count == 1)
    }

    // MARK: Failure

    @Test func whatIsCutLongerAnotherOrNotThereLeavesTheShortBody() async throws {
        var tampered = fullBody.sealedFile
        tampered[100] ^= 1
        let plays: [(PlayedTransport.Play, String)] = [
            (.bytes(tampered), "full body: authentication-failed"),
            (.bytes(ContiguousArray(fullBody.sealedFile.dropLast())), "full body: wrong-size"),
            (.bytes(fullBody.sealedFile + [0]), "full body: "), (.bytes([]), "full body: wrong-size"),
            (.bytes(try Self.fullBody("another", by: phone.provider).sealedFile), "full body: wrong-size"),
            (.fail("no network"), "full body: no network"),
        ]
        for (play, warning) in plays {
            let content = try await show(transport(body: play), [photo])
            #expect(content.body == Self.short && content.attachments.count == 1)
            #expect(reports.last?.outcome == .openedWithoutAttachment)
            #expect(reports.last?.warnings.first?.hasPrefix(warning) == true, "\(reports.last?.warnings ?? [])")
        }
    }

    @Test func whatIsLargerThanTheAppTakesIsNotFetched() async throws {
        let transport = transport()
        var configuration = configuration(transport)
        configuration.maximumAttachmentSize = 100
        #expect(await configuration.show(try request())?.body == Self.short)
        #expect(transport.asked.isEmpty && reports.first?.outcome == .openedWithoutAttachment)
    }

    // MARK: Time

    @Test func whenTheTimeIsUpTheShortBodyIsShown() async throws {
        let transport = transport(body: .stall(ContiguousArray(fullBody.sealedFile.prefix(1000))))
        let (service, handler) = (NotificationServiceHandler(configuration: configuration(transport)), Handler())
        service.handle(try request(), contentHandler: handler.handler)
        #expect(await eventually { transport.asked == ["body"] })
        #expect(handler.count == 0)
        clock.advance(milliseconds: 15_000)
        #expect(await handler.delivered()?.body == Self.short)
        #expect(await reports.next()?.outcome == .openedWithoutAttachment)
        #expect(await eventually { transport.cancelled == ["body"] && filesLeft.isEmpty })
    }

    /// The full body is shown, although a picture has not arrived.
    @Test(arguments: [15_000, nil]) func aStalledAttachmentDoesNotHoldTheBodyBack(_ milliseconds: UInt64?) async throws
    {
        let transport = transport(isImmediate: true, photo: .stall(ContiguousArray(photo.sealed.prefix(1000))))
        let (service, handler) = (NotificationServiceHandler(configuration: configuration(transport)), Handler())
        service.handle(try request([photo]), contentHandler: handler.handler)
        // The picture is requested once the body has arrived.
        #expect(await eventually { transport.asked.count == 2 && !filesLeft.contains { $0.hasSuffix("body") } })
        if let milliseconds { clock.advance(milliseconds: milliseconds) } else { service.timeWillExpire() }
        let content = try #require(await handler.delivered())
        #expect(content.body == Self.text && content.attachments.isEmpty && handler.count == 1)
        #expect(await reports.next()?.outcome == .openedWithoutAttachment)
        #expect(await eventually { filesLeft.isEmpty })
    }
}
