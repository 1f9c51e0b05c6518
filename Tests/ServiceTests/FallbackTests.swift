import Foundation
import ModelKeychain
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
@testable import PushcryptService
import TestPhone
import Testing
import UserNotifications

/// The presentation of a push that does not open, and its report to the developer.
@Suite(.oneAtATime) struct FallbackTests {
    private let phone: TestPhone
    private let reports = Reports()

    init() throws { phone = try TestPhone() }

    private var configuration: NotificationServiceHandler.Configuration {
        var configuration = phone.configuration
        configuration.observe = reports.append
        return configuration
    }

    private static var clear: [String: Any] {
        [
            "aps": [
                "mutable-content": 1,
                "alert": ["title": "Bank", "subtitle": "Send", "body": "money", "launch-image": "x"],
                "sound": "alarm.caf", "category": "PAY", "badge": 9, "thread-id": "t", "target-content-id": "w",
            ], "url": "https://example.com",
        ]
    }

    /// A push with a hostile clear part around the given `ENCRYPTED_DATA`.
    private func request(_ data: Any?) throws -> UNNotificationRequest {
        var members = Self.clear
        members["ENCRYPTED_DATA"] = data
        return try TestPhone.request(ContiguousArray("{}".utf8), members: members)
    }

    private func sealedRequest() throws -> UNNotificationRequest {
        try TestPhone.request(try phone.seal(), members: Self.clear)
    }

    private func show(
        _ request: UNNotificationRequest, _ configuration: NotificationServiceHandler.Configuration? = nil
    ) async throws -> UNNotificationContent {
        try #require(await (configuration ?? self.configuration).show(request))
    }

    /// Nothing but the clear title, the clear sound, and these two texts.
    private func fallback(subtitle: String = "", body: String = "") -> UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = "Bank"
        content.subtitle = subtitle
        content.body = body
        content.sound = UNNotificationSound(named: UNNotificationSoundName("alarm.caf"))
        return content
    }

    // MARK: Pushes

    @Test(arguments: [nil, 7, true, ["AQ"], ["a": 1], NSNull()].map { UncheckedSendableBox<Any?>($0) })
    func whatIsNotSealedHasTheBodyEncrypted(_ data: UncheckedSendableBox<Any?>) async throws {
        #expect(try await show(try request(data.value)) == fallback(body: "(Encrypted)"))
        #expect(reports.first?.code == "not-encrypted" && reports.first?.keyState == JournalEntry.KeyState.none)
    }

    @Test(arguments: ["", "AQ", "Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw", String(repeating: "A", count: 5000)])
    func whatIsNoEnvelopeHasTheSubtitleEncrypted(_ data: String) async throws {
        #expect(try await show(try request(data)) == fallback(subtitle: "(Encrypted)"))
        let report = try #require(reports.first)
        #expect(["malformed-envelope", "unsupported-suite"].contains(report.code))
        #expect(report.fingerprint == EnvelopeFingerprint(of: data))
    }

    @Test func theOriginalSoundIsKeptAndNoneIsMade() async throws {
        let silent = UNMutableNotificationContent()
        silent.title = "Bank"
        let request = UNNotificationRequest(identifier: "1", content: silent, trigger: nil)
        #expect(try await show(request).sound == nil)
        let loud = try self.request(nil)
        #expect(try await show(loud).sound === loud.content.sound)
    }

    @Test func bothTextsMayBeLocalised() async throws {
        let key = phone.folder.lastPathComponent
        UNUserNotificationCenter.current().strings["A\(key)"] = "(Verschlüsselt)"
        var configuration = self.configuration
        configuration.texts = FallbackTexts(
            couldNotOpen: .localized(key: "A\(key)", arguments: []), notEncrypted: .plain("Nicht verschlüsselt"))
        #expect(try await show(try request("AQ"), configuration) == fallback(subtitle: "(Verschlüsselt)"))
        #expect(try await show(try request(nil), configuration) == fallback(body: "Nicht verschlüsselt"))
    }

    @Test func aClearPushPassesOnlyWhereTheAppSaysSo() async throws {
        var configuration = self.configuration
        configuration.mayPassInTheClear = { $0.userInfo["url"] as? String == "https://example.com" }
        let request = try request(nil)
        #expect(try await show(request, configuration) === request.content)
        #expect(reports.first?.code == "passed")
        configuration.mayPassInTheClear = { _ in false }
        #expect(try await show(request, configuration) == fallback(body: "(Encrypted)"))
    }

    @Test func clearPushesPassUntilAMoment() async throws {
        var configuration = self.configuration
        let now = Double(configuration.now().milliseconds) / 1000
        let request = try request(nil)
        configuration.passInTheClear(until: Date(timeIntervalSince1970: now + 3600))
        #expect(try await show(request, configuration) === request.content)
        #expect(try await show(try self.request("AQ"), configuration) == fallback(subtitle: "(Encrypted)"))
        configuration.passInTheClear(until: Date(timeIntervalSince1970: now - 3600))
        #expect(try await show(request, configuration) == fallback(body: "(Encrypted)"))
    }

    @Test func nobodyIsAskedWhetherADamagedPushMayPass() async throws {
        var configuration = self.configuration
        configuration.mayPassInTheClear = { _ in true }
        #expect(try await show(try request("AQ"), configuration) == fallback(subtitle: "(Encrypted)"))
        #expect(try await show(try request(7), configuration) == fallback(body: "(Encrypted)"))
    }

    // MARK: Keys

    /// A phone that nobody has unlocked since it started rings once, whatever comes.
    @Test func beforeTheFirstUnlockOneFallbackRings() async throws {
        let pushes = [try sealedRequest(), try sealedRequest()]
        phone.keychain.restart()
        let center = UNUserNotificationCenter.current()
        _ = try await center.requestAuthorization(options: [.alert])
        let first = try await show(pushes[0])
        #expect(first.sound != nil && first.interruptionLevel == .active)
        try await center.add(UNNotificationRequest(identifier: phone.folder.path, content: first, trigger: nil))
        let second = try await show(pushes[1])
        #expect(second.sound == nil && second.interruptionLevel == .passive && second.subtitle == "(Encrypted)")
        // A push that does not open for another reason rings.
        phone.keychain.unlock()
        #expect(try await show(try request("AQ")).sound != nil)
        center.removeDeliveredNotifications(withIdentifiers: [phone.folder.path])
    }

    @Test func keysThatAreLockedMissingOrCorruptAreThreeOutcomesAndChangeNothing() async throws {
        let request = try sealedRequest()
        let before = phone.keychain.data
        phone.keychain.restart()
        let locked = try await show(request)
        #expect(locked.userInfo as? [String: String] == ["pushcrypt": "locked"])
        #expect(locked.subtitle == "(Encrypted)" && locked.body == "" && locked.mark == nil)
        #expect(reports.last?.code == "store-locked" && reports.last?.keyState == .locked)
        phone.keychain.unlock()
        #expect(phone.keychain.data == before)

        phone.keychain.replaceData { $0.dropLast() + [$0[$0.count - 1] ^ 1] }
        #expect(try await show(request) == fallback(subtitle: "(Encrypted)"))
        #expect(reports.last?.code == "corrupt-store" && reports.last?.keyState == .corrupt)

        try phone.keys.discard()
        #expect(try await show(request) == fallback(subtitle: "(Encrypted)"))
        #expect(reports.last?.code == "store-missing" && reports.last?.keyState == .missing)
        #expect(phone.keychain.data.isEmpty)
    }

    @Test func aKeyOfAnotherPhoneIsUnknown() async throws {
        let other = try TestPhone()
        #expect(
            try await show(try TestPhone.request(try other.seal(), members: Self.clear))
                == fallback(subtitle: "(Encrypted)"))
        #expect(reports.last?.code == "unknown-recipient-key" && reports.last?.keyState == .unknown)
    }

    private struct Secret: Error {
        let password = "hunter2"
    }

    @Test func aKeySourceThatFailsIsNotQuoted() async throws {
        var configuration = self.configuration
        configuration.keys = { throw Secret() }
        #expect(try await show(try sealedRequest(), configuration) == fallback(subtitle: "(Encrypted)"))
        #expect(reports.last?.code == "input-output" && reports.last?.keyState == .unreadable)
        #expect(!"\(String(describing: reports.last))".contains("hunter2"))
    }

    @Test func theKeysOfAnUnsealedPushAreNotAskedFor() async throws {
        var configuration = self.configuration
        configuration.keys = {
            Issue.record("asked for keys")
            throw Secret()
        }
        #expect(try await show(try request(nil), configuration) == fallback(body: "(Encrypted)"))
    }

    // MARK: Files

    @Test func withoutADirectoryAMessageIsStillShown() async throws {
        var configuration = self.configuration
        configuration.directory = { try AppGroup(identifier: "group.not.there", topic: TestPhone.topic).directory() }
        #expect(try await show(try sealedRequest(), configuration).body == "See you at 8")
        #expect(reports.last?.warnings.first?.contains("no app group group.not.there") == true)
    }

    @Test func aDirectoryThatIsAFileStopsNothing() async throws {
        try Data().write(to: phone.directory)
        #expect(try await show(try sealedRequest()).body == "See you at 8")
        #expect(reports.last?.warnings.isEmpty == false)
    }

    @Test func theJournalHasARowForEachDeliveryWhenTheHandlerIsCalled() async throws {
        let journal = ExtensionDatabase(in: phone.directory.path).journal
        let service = NotificationServiceHandler(configuration: phone.configuration)
        let sealed = try sealedRequest()
        for (request, codes) in [
            (sealed, ["opened"]), (try request(nil), ["opened", "not-encrypted"]),
            (try request("AQ"), ["opened", "not-encrypted", "malformed-envelope"]),
        ] {
            let (handler, rows) = (Handler(), Rows())
            service.handle(request) { content in
                rows.set((try? journal.entries()) ?? [])
                handler.handler(content)
            }
            _ = try #require(await handler.delivered())
            #expect(rows.value.map(\.code) == codes)
        }
        let first = try #require(try journal.entries().first)
        #expect(first.keyState == .active)
        let text = try #require(sealed.content.userInfo["ENCRYPTED_DATA"] as? String)
        #expect(first.fingerprint == EnvelopeFingerprint(of: text))
    }

    // MARK: Base class

    private final class Service: EncryptedNotificationService {
        nonisolated(unsafe) static var next: NotificationServiceHandler.Configuration?

        override var configuration: NotificationServiceHandler.Configuration { unsafe Self.next ?? super.configuration }
    }

    @Test func aSubclassOfTheBaseClassOpensPushes() async throws {
        unsafe Service.next = configuration
        let (service, handler) = (Service(), Handler())
        service.didReceive(try sealedRequest(), withContentHandler: handler.handler)
        #expect(await handler.delivered()?.body == "See you at 8")
        service.serviceExtensionTimeWillExpire()
        #expect(handler.count == 1)
    }

    @Test func aSubclassThatSaysNothingShowsTheFallback() async throws {
        let (service, handler) = (EncryptedNotificationService(), Handler())
        service.didReceive(try sealedRequest(), withContentHandler: handler.handler)
        #expect(await handler.delivered() == fallback(subtitle: "(Encrypted)"))
    }
}
