import Foundation
import Testing
import UserNotifications

/// Apple's table of attachments, and its errors.
@Suite struct AttachmentTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func code(_ url: URL, hint: String? = nil) -> UNError.Code? {
        let options = hint.map { [UNNotificationAttachmentOptionsTypeHintKey: $0] }
        do {
            _ = try UNNotificationAttachment(identifier: "a", url: url, options: options)
            return nil
        } catch {
            return (error as? UNError)?.code
        }
    }

    @Test(
        arguments: [
            ("aiff", "public.aiff-audio", 5_000_000), ("wav", "com.microsoft.waveform-audio", 5_000_000),
            ("mp3", "public.mp3", 5_000_000), ("m4a", "public.mpeg-4-audio", 5_000_000),
            ("jpg", "public.jpeg", 10_000_000), ("JPEG", "public.jpeg", 10_000_000),
            ("gif", "com.compuserve.gif", 10_000_000), ("png", "public.png", 10_000_000),
            ("mpg", "public.mpeg", 50_000_000), ("m2v", "public.mpeg-2-video", 50_000_000),
            ("mp4", "public.mpeg-4", 50_000_000), ("avi", "public.avi", 50_000_000),
        ] as [(String, String, UInt64)])
    func theExtensionDecidesTypeAndSize(pathExtension: String, type: String, limit: UInt64) throws {
        let largest = try scratch.file("largest.\(pathExtension)", size: limit)
        let tooLarge = try scratch.file("larger.\(pathExtension)", size: limit + 1)
        #expect(try UNNotificationAttachment(identifier: "a", url: largest).type == type)
        #expect(code(tooLarge) == .attachmentInvalidFileSize)
    }

    @Test func theTypeHintWinsOverTheExtension() throws {
        let file = try scratch.file("picture.tmp")
        #expect(code(file) == .attachmentUnrecognizedType)
        #expect(code(file, hint: "public.png") == nil)
        #expect(code(try scratch.file("picture.png"), hint: "com.adobe.pdf") == .attachmentUnrecognizedType)
    }

    @Test func whatIsNoFileIsRefused() throws {
        #expect(code(scratch.url.appendingPathComponent("missing.png")) == .attachmentInvalidURL)
        #expect(code(scratch.url) == .attachmentInvalidURL)
        #expect(code(try #require(URL(string: "https://example.com/a.png"))) == .attachmentInvalidURL)
    }

    @Test func aLinkToAFileIsTaken() throws {
        let link = scratch.url.appendingPathComponent("link.png")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: scratch.file("real.png"))
        #expect(code(link) == nil)
    }

    @Test func anEmptyIdentifierBecomesAUUID() throws {
        let attachment = try UNNotificationAttachment(identifier: "", url: scratch.file("a.png"), options: nil)
        #expect(UUID(uuidString: attachment.identifier) != nil)
    }

    @Test func theFileStaysWhereItIs() throws {
        let file = try scratch.file("a.png")
        let attachment = try UNNotificationAttachment(identifier: "a", url: file)
        #expect(attachment.url == file)
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test(
        arguments: [
            (UNError.Code.notificationsNotAllowed, 1), (.attachmentInvalidURL, 100), (.attachmentUnrecognizedType, 101),
            (.attachmentInvalidFileSize, 102), (.attachmentNotInDataStore, 103),
            (.attachmentMoveIntoDataStoreFailed, 104), (.attachmentCorrupt, 105), (.notificationInvalidNoDate, 1400),
            (.notificationInvalidNoContent, 1401), (.contentProvidingObjectNotAllowed, 1500),
            (.contentProvidingInvalid, 1501), (.badgeInputInvalid, 1600),
        ])
    func errorsHaveApplesDomainAndNumbers(code: UNError.Code, number: Int) {
        let error = UNError(code) as NSError
        #expect(error.domain == "UNErrorDomain" && error.code == number)
    }
}
