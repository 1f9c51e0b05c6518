import Foundation
import ModelKeychain
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
@testable import PushcryptService
import TestPhone
import Testing
import UserNotifications
import Waiting

/// The presentation of a push that opens.
@Suite(.oneAtATime) struct OpenedTests {
    private let phone: TestPhone

    init() throws { phone = try TestPhone() }

    private func show(
        _ payload: String, clear: [String: Any] = [:], _ configuration: NotificationServiceHandler.Configuration? = nil
    ) async throws -> UNNotificationContent {
        let request = try TestPhone.request(try phone.seal(payload), members: clear)
        return try #require(await (configuration ?? phone.configuration).show(request))
    }

    @Test func everySealedFieldIsShown() async throws {
        let content = try await show(
            """
            {"aps":{"alert":{"title":"T","subtitle":"S","body":"B","launch-image":"launch"},"badge":7,
             "sound":{"critical":1,"name":"alarm.caf","volume":0.25},"thread-id":"thread","category":"INVITE",
             "interruption-level":"time-sensitive","relevance-score":0.5,"target-content-id":"window",
             "filter-criteria":"work"},"chat":"c41"}
            """)
        #expect(content.title == "T" && content.subtitle == "S" && content.body == "B")
        #expect(content.launchImageName == "launch")
        #expect(content.badge == 7)
        #expect(content.sound == .criticalSoundNamed(UNNotificationSoundName("alarm.caf"), withAudioVolume: 0.25))
        #expect(content.threadIdentifier == "thread" && content.categoryIdentifier == "INVITE")
        #expect(content.interruptionLevel == .timeSensitive && content.relevanceScore == 0.5)
        #expect(content.targetContentIdentifier == "window" && content.filterCriteria == "work")
        #expect(content.userInfo["chat"] as? String == "c41")
        #expect(content.userInfo.count == 2, "the app's, and the receiver's mark")
    }

    /// One transaction takes the message, hands it over and writes the journal; the app's change costs a second one.
    @Test(arguments: [false, true]) func aPlainPushIsOneWrite(_ isChanged: Bool) async throws {
        var configuration = phone.configuration
        if isChanged { configuration.change = { _, content, _ in content } }
        _ = try await show(TestPhone.payload, configuration)
        let before = try writes()
        _ = try await show(TestPhone.payload, configuration)
        #expect(try writes() == before + (isChanged ? 2 : 1))
        #expect(try ExtensionDatabase(in: phone.directory.path).journal.entries().map(\.code) == ["opened", "opened"])
    }

    /// The change counter of the file, which each transaction raises. (SQLite's file format, 1.3.7)
    private func writes() throws -> UInt32 {
        let file = try Data(contentsOf: phone.directory.appendingPathComponent("extension.db"))
        return file[24..<28].reduce(0) { $0 << 8 | UInt32($1) }
    }

    @Test(
        arguments: [
            (#""default""#, UNNotificationSound.default),
            (#""bell.caf""#, UNNotificationSound(named: UNNotificationSoundName("bell.caf"))),
            (#"{"name":"bell.caf"}"#, UNNotificationSound(named: UNNotificationSoundName("bell.caf"))),
            (#"{"critical":1,"name":"default","volume":0.5}"#, .defaultCriticalSound(withAudioVolume: 0.5)),
            (#"{"critical":1}"#, .defaultCriticalSound(withAudioVolume: 1)),
        ].map { UncheckedSendableBox($0) })
    func everyKindOfSoundIsHeard(_ sound: UncheckedSendableBox<(String, UNNotificationSound)>) async throws {
        let content = try await show(#"{"aps":{"alert":{"body":"B"},"sound":\#(sound.value.0)}}"#)
        #expect(content.sound == sound.value.1)
    }

    @Test(arguments: ["passive", "active", "time-sensitive", "critical"].enumerated().map { ($0, $1) })
    func everyInterruptionLevelIsItself(_ number: Int, _ name: String) async throws {
        let content = try await show(#"{"aps":{"alert":{"body":"B"},"interruption-level":"\#(name)"}}"#)
        #expect(content.interruptionLevel.rawValue == UInt(number))
    }

    /// The replay guard refuses a folder that others can access.
    @Test func aFolderThatTheAppMadeInTheUsualWayIsOfUse() async throws {
        let path = phone.directory.path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let reports = Reports()
        var configuration = phone.configuration
        configuration.observe = reports.append
        _ = try await show(#"{"aps":{"alert":{"body":"B"}}}"#, configuration)
        #expect(reports.first?.outcome == .opened && reports.first?.warnings == [])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
    }

    // MARK: Duplicates

    @Test func theAppIsToldOfADuplicateAndItsFilesAreNotFetched() async throws {
        let photo = try SealedAttachment([1, 2, 3])
        let transport = PlayedTransport { _ in .bytes(photo.sealed) }
        let told = Told()
        var configuration = phone.downloading(transport)
        configuration.change = { opened, content, _ in
            told.append(opened.isDuplicate)
            return content
        }
        let json = try phone.seal(
            #"{"aps":{"alert":{"body":"B"},"badge":3,"category":"CHAT"}}"#, attachments: [photo.reference])
        for (identifier, files, category) in [("1", 1, "CHAT"), ("1", 0, "CHAT"), ("2", 0, "")] {
            let request = try TestPhone.request(json, identifier: identifier)
            let content = try #require(await configuration.show(request))
            #expect(content.attachments.count == files && content.categoryIdentifier == category)
            #expect(content.badge == (files == 1 ? 3 : nil))
        }
        #expect(told.values == [false, false, true] && transport.asked.count == 1)
    }

    private final class Told: Sendable {
        private final class State {
            var values: [Bool] = []
        }

        private let state = Locked(State())

        var values: [Bool] { state.withLock { $0.values } }

        func append(_ value: Bool) { state.withLock { $0.values.append(value) } }
    }

    // MARK: Retired keys

    /// Adds a retired key that ended so many hours ago; returns its id.
    private func retire(hoursAgo hours: UInt64) throws -> KeyID {
        let key = try #require(try phone.deviceKeys.last).keyID
        try phone.keys.change { (state) throws(KeyStoreError) in
            try state.rotate(at: phone.now)
            try state.confirm(grace: .seconds(0), at: phone.now.subtracting(.hours(hours)))
        }
        return key
    }

    @Test func aRetiredKeyIsDeletedAfterADeliveryInOneChange() async throws {
        let (old, recent) = (try retire(hoursAgo: 25), try retire(hoursAgo: 23))
        let writes = phone.keychain.writes.count
        let (service, gate, handler) = (
            NotificationServiceHandler(configuration: phone.configuration), Gate(), Handler()
        )
        phone.keychain.before(.update) { gate.pass() }
        service.handle(try TestPhone.request(try phone.seal()), contentHandler: handler.handler)
        #expect(await handler.delivered()?.body == "See you at 8")
        #expect(await gate.hasVisitors() && phone.keychain.writes.count == writes, "the delivery does not wait for it")
        gate.open()
        #expect(await eventually { (try? phone.deviceKeys.map(\.keyID).contains(old)) == false })
        #expect(phone.keychain.writes.count == writes + 1)
        #expect(try phone.deviceKeys.contains { $0.keyID == recent })
    }

    @Test func aClockThatIsAheadDeletesNothing() async throws {
        _ = try retire(hoursAgo: 1)
        let writes = phone.keychain.writes.count
        var configuration = phone.configuration
        configuration.now = { [phone] in phone.now.adding(.days(29)) }
        let reports = Reports()
        configuration.observe = reports.append
        #expect(try await show(TestPhone.payload, configuration).body == "See you at 8")
        #expect(reports.first?.outcome == .opened)
        try await Task.sleep(nanoseconds: 50_000_000)
        #expect(phone.keychain.writes.count == writes)
    }

    @Test func aPushThatDoesNotOpenDeletesNothing() async throws {
        _ = try retire(hoursAgo: 72)
        let writes = phone.keychain.writes.count
        let request = try TestPhone.request(ContiguousArray("{}".utf8), members: ["ENCRYPTED_DATA": "AQ"])
        _ = try #require(await phone.configuration.show(request))
        try await Task.sleep(nanoseconds: 50_000_000)
        #expect(phone.keychain.writes.count == writes)
    }

    @Test func customMembersKeepTheirTypes() async throws {
        let content = try await show(
            #"{"aps":{"alert":{"body":"B"}},"i":9007199254740993,"d":0.1,"t":true,"n":null,"a":[1,{"b":"c"}],"u":"ü\u0000"}"#
        )
        let info = content.userInfo
        #expect(info.count == 6, "the receiver's mark is one, and the system takes no null")
        #expect(info["i"] as? Int64 == 9_007_199_254_740_993)
        #expect(info["d"] as? Double == 0.1)
        #expect(info["t"] as? Bool == true)
        #expect(info["n"] == nil)
        let array = try #require(info["a"] as? [Any])
        #expect(array[0] as? Int == 1 && (array[1] as? [String: String]) == ["b": "c"])
        #expect(info["u"] as? String == "ü\u{0}")
    }

    @Test func nothingOfTheClearPartIsLeft() async throws {
        let content = try await show(
            #"{"aps":{"alert":{"body":"B"}}}"#,
            clear: [
                "aps": [
                    "alert": ["title": "Bank", "subtitle": "Send", "body": "money"], "sound": "alarm.caf", "badge": 9,
                    "category": "PAY", "thread-id": "t", "target-content-id": "w",
                ], "url": "https://example.com",
            ])
        let expected = UNMutableNotificationContent()
        expected.body = "B"
        // The receiver's mark: the message, when it expires, and its account.
        let mark = try #require(content.userInfo["pushcrypt"] as? String)
        #expect(mark.hasSuffix(" default") && mark.count == 54 && content.userInfo.count == 1)
        expected.userInfo = ["pushcrypt": mark]
        #expect(content == expected)
    }

    @Test func textsAreLookedUpInTheAppsLanguage() async throws {
        UNUserNotificationCenter.current().addStrings(["INVITE_\(phone.folder.lastPathComponent)": "%@ lädt dich ein"])
        let content = try await show(
            #"{"aps":{"alert":{"loc-key":"INVITE_\#(phone.folder.lastPathComponent)","loc-args":["Ann"]}}}"#)
        #expect(content.body == "Ann lädt dich ein")
    }
}
