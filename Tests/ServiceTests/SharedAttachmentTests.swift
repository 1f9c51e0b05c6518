import Foundation
import Pushcrypt
import PushcryptReceiver
import TestPhone
import Testing
import UserNotifications

@testable import PushcryptService

/// The files of a content extension in the app group.
struct SharedAttachmentTests {
    private let phone: TestPhone

    init() throws { phone = try TestPhone() }

    private var shared: SharedAttachments { SharedAttachments(directory: phone.directory) }

    private func file(_ name: String, _ text: String) throws -> URL {
        let folder = phone.folder.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        return file
    }

    private func permissions(of file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    private func texts(_ identifier: String, _ shared: SharedAttachments? = nil) throws -> [String] {
        let request = UNNotificationRequest(identifier: identifier, content: UNNotificationContent(), trigger: nil)
        return try (shared ?? self.shared).files(of: request).map { try String(contentsOf: $0, encoding: .utf8) }
    }

    @Test func everyTypeOfFileIsHandedOn() async throws {
        let (photo, document) = (
            try SealedAttachment([1, 2, 3], at: "photo"),
            try SealedAttachment([4, 5], at: "document", type: "com.adobe.pdf", name: "a.pdf")
        )
        let sealed = ["photo": photo.sealed, "document": document.sealed]
        let reports = Reports()
        var configuration = phone.downloading(PlayedTransport { .bytes(sealed[$0] ?? []) })
        configuration.sharesAttachments = true
        configuration.observe = reports.append
        let request = try TestPhone.request(
            try phone.seal(attachments: [photo.reference, document.reference]), identifier: "../1")
        #expect(await configuration.show(request)?.attachments.count == 1)
        let files = shared.files(of: request)
        #expect(files.map(\.lastPathComponent) == ["photo.jpg", "a.pdf"])
        #expect(try files.map { try Data(contentsOf: $0) } == [Data([1, 2, 3]), Data([4, 5])])
        #expect(files.allSatisfy { $0.path.hasPrefix(phone.directory.path + "/attachments/") })
        for file in files {
            #expect(try permissions(of: file) == 0o600)
            #expect(try permissions(of: file.deletingLastPathComponent()) == 0o700)
        }
        #expect(reports.first?.outcome == .opened)
    }

    /// The same message again keeps its files and fetches none; another one under the identifier does not get them.
    @Test func aRepeatedNotificationKeepsItsFilesAndAnotherLosesThem() async throws {
        let photo = try SealedAttachment([1, 2, 3])
        let transport = PlayedTransport { _ in .bytes(photo.sealed) }
        var configuration = phone.downloading(transport)
        configuration.sharesAttachments = true
        let first = try phone.seal(attachments: [photo.reference])
        let second = try phone.seal(attachments: [photo.reference])
        for (json, identifier, files, fetches) in [
            (first, "1", 1, 1), (first, "1", 1, 1), (first, "2", 0, 1), (second, "1", 1, 2), (first, "1", 0, 2),
        ] as [(ContiguousArray<UInt8>, String, Int, Int)] {
            let request = try TestPhone.request(json, identifier: identifier)
            #expect(await configuration.show(request)?.body == "See you at 8")
            #expect(shared.files(of: request).count == files)
            #expect(transport.asked.count == fetches)
        }
    }

    @Test func unlessTheAppSaysSoNothingIsHandedOn() async throws {
        let photo = try SealedAttachment([1, 2, 3])
        let configuration = phone.downloading(PlayedTransport { _ in .bytes(photo.sealed) })
        let request = try TestPhone.request(try phone.seal(attachments: [photo.reference]))
        #expect(await configuration.show(request)?.attachments.count == 1)
        #expect(shared.files(of: request).isEmpty)
    }

    @Test func aNotificationThatReplacesAnotherReplacesItsFiles() throws {
        try shared.share([try file("a.txt", "one"), try file("a.txt", "two")], for: "1")
        #expect(try texts("1") == ["one", "two"])
        try shared.share([try file("b.txt", "three")], for: "1")
        #expect(try texts("1") == ["three"] && texts("2").isEmpty)
    }

    /// The relay chooses the identifier of the request.
    @Test(arguments: [true, false])
    func anotherPushUnderTheSameIdentifierDoesNotGetItsFiles(_ opens: Bool) async throws {
        try shared.share([try file("a.txt", "one")], for: "1")
        try shared.share([try file("a.txt", "two")], for: "2")
        var configuration = phone.configuration
        configuration.sharesAttachments = true
        let content = UNMutableNotificationContent()
        content.userInfo = ["ENCRYPTED_DATA": "Salted__"]
        let request =
            opens
            ? try TestPhone.request(try phone.seal(), identifier: "1")
            : UNNotificationRequest(identifier: "1", content: content, trigger: nil)
        let shown = await configuration.show(request)
        #expect(shown?.body == (opens ? "See you at 8" : "") && shown?.subtitle == (opens ? "" : "(Encrypted)"))
        #expect(try texts("1").isEmpty && texts("2") == ["two"])
    }

    /// Foundation cannot write every value that a system's parser may return.
    @Test func aPushThatIsNoJSONIsNotTheAppsOwn() {
        let odd: [AnyHashable: Any] = ["number": Double.infinity]
        for (marks, source) in [
            ([:], NotificationResponseValue.Source.app), (["aps": ["alert": "Pay?"]], .clear),
            (["ENCRYPTED_DATA": 7], .clear),
        ] as [([AnyHashable: Any], NotificationResponseValue.Source)] {
            let content = UNMutableNotificationContent()
            content.userInfo = odd.merging(marks) { a, _ in a }
            let value = NotificationResponseValue(
                requestIdentifier: "r", action: .open, userText: nil, userInfo: CustomKeys.json(content.userInfo),
                categoryIdentifier: "")
            #expect(value.source == source)
        }
    }

    @Test func theOldestGoWhenThereAreTooMany() throws {
        var shared = shared
        shared.maximumSize = 9
        for (number, identifier) in ["1", "2", "3"].enumerated() {
            try shared.share([try file("a.txt", "1234")], for: identifier)
            try age(identifier, seconds: Double(30 - 10 * number))
        }
        try shared.share([try file("a.txt", "1234")], for: "4")
        #expect(try ["1", "2", "3", "4"].map { try texts($0).count } == [0, 0, 1, 1])
        try shared.share([try file("a.txt", "1234567890")], for: "5")
        #expect(try texts("5").isEmpty, "too large by itself")
    }

    @Test func whatIsTooOldGoesWithTheNext() throws {
        try shared.share([try file("a.txt", "1")], for: "old")
        try shared.share([try file("a.txt", "2")], for: "young")
        try age("old", seconds: 604_801)
        try age("young", seconds: 604_700)
        try shared.share([try file("a.txt", "3")], for: "new")
        #expect(try ["old", "young", "new"].map { try texts($0).count } == [0, 1, 1])
    }

    /// Makes the files of a notification older.
    private func age(_ identifier: String, seconds: Double) throws {
        let request = UNNotificationRequest(identifier: identifier, content: UNNotificationContent(), trigger: nil)
        let place = try #require(shared.files(of: request).first).deletingLastPathComponent()
            .deletingLastPathComponent()
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: place.path)
    }
}
