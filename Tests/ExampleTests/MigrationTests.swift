import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService
import Testing
import UserNotifications

@testable import Migration

/// The claims of Docs/Migrating.md, with its extensions. A dummy replaces the old scheme.
@Suite(.serialized, .timeLimit(.minutes(20))) final class MigrationTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("migration-\(UUID())")
    private let provider = ProviderKey()
    private let topic: Topic

    /// The extensions find keys and files through a phone's environment variables.
    init() throws {
        topic = try Topic("com.example.app")
        setenv("PUSHCRYPT_BUNDLE_ID", "com.example.app", 1)
        setenv("PUSHCRYPT_KEYCHAIN", folder.appendingPathComponent("keychain").path, 1)
        setenv("PUSHCRYPT_APP_GROUPS", folder.appendingPathComponent("groups").path, 1)
        try SharedKeyStore.open(for: topic).change { (state) throws(KeyStoreError) in
            try state.add(topic: topic, at: now)
            try state.pin(ProviderPin(provider.publicKey))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var now: Timestamp { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }

    /// A guide's extension, and its provider's push in the old form.
    struct Guide: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Before the date, and after it.
        let before, after: @Sendable () -> UNNotificationServiceExtension
        /// After `aps`.
        let old: String
        /// The text that the app shows.
        let title: String
        let clear = #""alert":{"title":"Clear","body":"clear"}"#

        var push: APNsPush { APNsPush(json: #"{"aps":{"mutable-content":1,\#(clear)}\#(old)}"#) }
    }

    static let guides = [
        Guide(
            testDescription: "plain", before: { PlainAndSealedBefore() }, after: { PlainAndSealedAfter() }, old: "",
            title: "Clear"),
        Guide(
            testDescription: "web push", before: { WebPushAndSealedBefore() }, after: { WebPushAndSealedAfter() },
            old: #","web-push":"Ann""#, title: "Ann"),
    ]

    @Test(arguments: guides)
    func aSealedPushIsOpened(_ guide: Guide) async throws {
        let payload = #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}}}"#
        let key = try SharedKeyStore.open(for: topic).state().accounts[0].keys[0].publicKey
        let sealed = try Sealer(provider: provider, topic: topic).seal(Sealer.Message(payload.utf8), to: key, at: now)
        let outcome = await SimulatedDevice(serviceExtension: guide.before).push(APNsPush(sealed.json))
        #expect(outcome.shown?.title == "Table for two")
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.deliveries == 1)
        #expect(outcome.faults.isEmpty, "\(outcome)")
    }

    @Test(arguments: guides)
    func theOldFormIsShownUntilTheDate(_ guide: Guide) async {
        let outcome = await SimulatedDevice(serviceExtension: guide.before).push(guide.push)
        #expect(outcome.shown?.title == guide.title)
        #expect(outcome.shown?.body != "(Encrypted)")
        #expect(outcome.deliveries == 1)
        #expect(outcome.faults.isEmpty, "\(outcome)")
    }

    @Test(arguments: guides)
    func theOldFormIsMaskedAfterTheDate(_ guide: Guide) async {
        let outcome = await SimulatedDevice(serviceExtension: guide.after).push(guide.push)
        #expect(outcome.shown?.title == "Clear")
        #expect(outcome.shown?.body == "(Encrypted)")
        #expect(outcome.deliveries == 1)
    }

    /// An envelope beside the old form takes precedence, and this one does not open.
    @Test(arguments: guides)
    func theOldFormIsNoWayAroundTheNewOne(_ guide: Guide) async {
        let push = #"{"aps":{"mutable-content":1,\#(guide.clear)}\#(guide.old),"ENCRYPTED_DATA":"AQ"}"#
        let outcome = await SimulatedDevice(serviceExtension: guide.before).push(APNsPush(json: push))
        #expect(outcome.shown?.subtitle == "(Encrypted)")
        #expect(outcome.shown?.body == "")
        #expect(outcome.deliveries == 1)
    }

    @Test(arguments: guides.dropFirst())
    func aPushOfNeitherFormIsMasked(_ guide: Guide) async {
        for old in ["", #","web-push":7"#] {
            let push = #"{"aps":{"mutable-content":1,\#(guide.clear)}\#(old)}"#
            let outcome = await SimulatedDevice(serviceExtension: guide.before).push(APNsPush(json: push))
            #expect(outcome.shown?.body == "(Encrypted)")
            #expect(outcome.deliveries == 1)
        }
    }
}

private final class PlainAndSealedBefore: PlainAndSealed {
    override class var takesTheOldForm: Bool { true }
}

private final class PlainAndSealedAfter: PlainAndSealed {
    override class var takesTheOldForm: Bool { false }
}

private final class WebPushAndSealedBefore: WebPushAndSealed {
    override class var takesTheOldForm: Bool { true }
}

private final class WebPushAndSealedAfter: WebPushAndSealed {
    override class var takesTheOldForm: Bool { false }
}
