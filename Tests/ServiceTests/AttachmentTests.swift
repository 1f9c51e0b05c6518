import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import TestPhone
import Testing
import UserNotifications
import Waiting

@testable import PushcryptService

/// Attachments of a notification, with a scripted transport.
@Suite struct AttachmentTests {
    private let phone: TestPhone
    private let reports = Reports()
    private let clock = ManualClock()
    private let photo: SealedAttachment
    private let plain = SealedAttachment.plain(200_000)

    init() throws {
        phone = try TestPhone()
        photo = try SealedAttachment(plain)
    }

    private var folder: URL { phone.folder.appendingPathComponent("pushcrypt-attachments", isDirectory: true) }

    private func configuration(_ transport: PlayedTransport) -> NotificationServiceHandler.Configuration {
        var configuration = phone.downloading(transport)
        configuration.observe = reports.append
        configuration.clock = clock
        return configuration
    }

    private func request(_ attachments: [SealedAttachment], identifier: String = "1") throws -> UNNotificationRequest {
        try TestPhone.request(try phone.seal(attachments: attachments.map(\.reference)), identifier: identifier)
    }

    private func show(
        _ attachments: [SealedAttachment], _ transport: PlayedTransport
    ) async throws -> UNNotificationContent {
        let request = try request(attachments)
        return try #require(await configuration(transport).show(request))
    }

    private var filesLeft: [String] {
        (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    }

    /// Waits until no file is left: cleaning up does not delay a delivery.
    private func becomesEmpty() async -> Bool { await eventually { filesLeft.isEmpty } }

    // MARK: Success

    @Test(arguments: [1, 4095, 65_537, 1 << 20], [false, true])
    func anAttachmentIsShownHoweverItsPiecesCome(_ piece: Int, _ isImmediate: Bool) async throws {
        let plain = SealedAttachment.plain(piece == 1 ? 3000 : 200_000)
        let photo = try SealedAttachment(plain)
        let content = try await show(
            [photo], PlayedTransport(isImmediate: isImmediate) { _ in .bytes(photo.sealed, piece: piece) })
        let attachment = try #require(content.attachments.first)
        #expect(attachment.type == "public.jpeg" && attachment.url.lastPathComponent == "photo.jpg")
        #expect(try Data(contentsOf: attachment.url) == Data(plain))
        #expect(content.body == "See you at 8" && reports.first?.outcome == .opened)
        #expect(!(content.userInfo["pushcrypt"] is [String: Any]))
    }

    @Test func anEmptyFileIsAFile() async throws {
        let empty = try SealedAttachment([])
        let content = try await show([empty], PlayedTransport { _ in .bytes(empty.sealed) })
        #expect(try Data(contentsOf: try #require(content.attachments.first).url).isEmpty)
    }

    @Test func eightComeInTheirOrderAndTwoAtATime() async throws {
        let files = try (0..<8).map { try SealedAttachment(SealedAttachment.plain($0 + 1), at: "\($0)") }
        let sealed = files.map(\.sealed)
        let gate = Gate()
        let transport = PlayedTransport { path in
            // The first one comes last.
            if path == "0" { gate.pass() }
            if path == "7" { gate.open() }
            return .bytes(sealed[Int(path) ?? 0])
        }
        let content = try await show(files, transport)
        #expect(try content.attachments.map { try Data(contentsOf: $0.url).count } == Array(1...8))
        #expect(transport.mostAtOnce == 2 && transport.asked.count == 8)
    }

    // MARK: Failure

    /// A bad attachment between two good ones.
    private func showWithBadOne(_ bad: SealedAttachment, _ play: PlayedTransport.Play) async throws
        -> UNNotificationContent
    {
        let sealed = photo.sealed
        let play = UncheckedSendableBox(play)
        let transport = PlayedTransport { $0 == "bad" ? play.value : .bytes(sealed) }
        return try await show([photo, bad, photo], transport)
    }

    @Test func whatIsNotTheFileDropsItselfAlone() async throws {
        let bad = try SealedAttachment(plain, at: "bad")
        let tampered = [("authentication-failed", 100), ("not-a-sealed-file", 0), ("authentication-failed", 200_060)]
            .map { code, position in
                var bytes = bad.sealed
                bytes[position] ^= 1
                return (code, PlayedTransport.Play.bytes(bytes))
            }
        let others: [(String, PlayedTransport.Play)] = [
            ("", .bytes(ContiguousArray(bad.sealed.dropLast()))), ("", .bytes(bad.sealed + [0])),
            ("", .bytes(photo.sealed)), ("", .bytes([])), ("no network", .fail("no network")),
        ]
        for (code, play) in tampered + others {
            let content = try await showWithBadOne(bad, play)
            #expect(content.attachments.map(\.identifier) == ["1", "3"] && content.body == "See you at 8")
            #expect(reports.last?.outcome == .openedWithoutAttachment)
            #expect(reports.last?.warnings.first?.hasPrefix("attachment 2: \(code)") == true)
            #expect(await eventually { !filesLeft.contains { $0.hasSuffix("partial") } })
        }
    }

    @Test func whatTheSystemDoesNotShowIsDropped() async throws {
        let document = try SealedAttachment(plain, at: "bad", type: "com.adobe.pdf", name: "a.pdf")
        let content = try await showWithBadOne(document, .bytes(document.sealed))
        #expect(content.attachments.map(\.identifier) == ["1", "3"])
        #expect(reports.first?.outcome == .openedWithoutAttachment)
    }

    @Test func aFileThatIsTooLargeForTheAppIsNotFetched() async throws {
        let sealed = photo.sealed
        let transport = PlayedTransport { _ in .bytes(sealed) }
        var configuration = configuration(transport)
        // A film of 50 MB, the system's limit, and its tags.
        #expect(configuration.maximumAttachmentSize >= 50_013_000)
        configuration.maximumAttachmentSize = UInt64(sealed.count - 1)
        let content = try #require(await configuration.show(try request([photo])))
        #expect(content.attachments == [] && content.body == "See you at 8")
        #expect(transport.asked.isEmpty)
    }

    /// An extension may use 24 MB in all. With a file of 8 MB, anything kept of each piece shows.
    @Test func aLargeFileIsOpenedInThreeMegabytes() throws {
        let film = try SealedAttachment(ContiguousArray(repeating: 7, count: 8_000_000))
        let download = AttachmentDownload(film.reference, in: folder.appendingPathComponent("film"))
        let before = try resident()
        var most = before
        for start in stride(from: 0, to: film.sealed.count, by: 1 << 16) {
            let piece = film.sealed[start..<min(start + (1 << 16), film.sealed.count)]
            try #require(download.receive(Data(piece)))
            most = max(most, try resident())
        }
        #expect(most - before <= 3_000_000)
        let file = try download.finish(nil).get()
        #expect(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize == 8_000_000)
    }

    /// The bytes of this process that are in memory.
    private func resident() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .ascii).split(separator: " ")[1]
        return try #require(Int(pages)) * 4096
    }

    // MARK: Time

    @Test func whenTheTimeForAttachmentsIsUpWhatHasComeIsShown() async throws {
        let sealed = photo.sealed
        let half = ContiguousArray(sealed.prefix(sealed.count / 2))
        let transport = PlayedTransport { $0 == "bad" ? .stall(half) : .bytes(sealed) }
        let (service, handler) = (NotificationServiceHandler(configuration: configuration(transport)), Handler())
        service.handle(try request([photo, try SealedAttachment(plain, at: "bad")]), contentHandler: handler.handler)
        for name in ["partial", "photo.jpg"] {
            #expect(await eventually { filesLeft.contains { $0.hasSuffix(name) } })
        }
        #expect(handler.count == 0)
        clock.advance(milliseconds: 15_000)
        #expect(await handler.delivered()?.body == "See you at 8")
        #expect(await handler.delivered()?.attachments.map(\.identifier) == ["1"])
        let report = await reports.next()
        #expect(report?.outcome == .openedWithoutAttachment)
        #expect(report?.warnings == ["attachment 2: the download was stopped"])
        #expect(
            await eventually { transport.cancelled.contains("bad") && !filesLeft.contains { $0.hasSuffix("partial") } })
    }

    @Test(arguments: [true, false])
    func expiryAndReleaseShowTheTextAndLeaveNoFile(_ expires: Bool) async throws {
        let sealed = photo.sealed
        let half = ContiguousArray(sealed.prefix(100_000))
        let transport = PlayedTransport { $0 == "bad" ? .stall(half) : .bytes(sealed) }
        var service: NotificationServiceHandler? = NotificationServiceHandler(configuration: configuration(transport))
        let handler = Handler()
        service?.handle(
            try request([photo, try SealedAttachment(plain, at: "bad")]), contentHandler: handler.handler)
        // One has come, and one is on its way.
        for name in ["partial", "photo.jpg"] {
            #expect(await eventually { filesLeft.contains { $0.hasSuffix(name) } })
        }
        if expires { service?.timeWillExpire() } else { service = nil }
        #expect(handler.count == 1)
        #expect(await handler.delivered()?.body == "See you at 8")
        #expect(await becomesEmpty())
    }

    @Test func whatAProcessThatWasEndedLeftBehindIsRemoved() async throws {
        let (old, young) = (folder.appendingPathComponent("old"), folder.appendingPathComponent("young"))
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        for (place, age) in [(old, 121.0), (young, 120.0)] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Data("left".utf8).write(to: place.appendingPathComponent("partial"))
            try FileManager.default.setAttributes(
                [.modificationDate: now.addingTimeInterval(-age)], ofItemAtPath: place.path)
        }
        let sealed = photo.sealed
        var configuration = configuration(PlayedTransport { _ in .bytes(sealed) })
        configuration.attachmentFolder = AttachmentFolder(phone.folder, now: { now })
        #expect(await configuration.show(try request([photo]))?.attachments.count == 1)
        #expect(!FileManager.default.fileExists(atPath: old.path))
        #expect(FileManager.default.fileExists(atPath: young.path), "another delivery may be at it")
    }
}
