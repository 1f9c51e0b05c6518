internal import Pushcrypt

extension IOSScaffold {
    /// A test of the built app, for Xcode.
    var projectTests: ScaffoldFile {
        ScaffoldFile(
            path: "Tests/ProjectTests.swift",
            text: #"""
                import DeviceSimulator
                import Foundation
                import PushcryptKeyStore
                import PushcryptService
                import XCTest

                @testable import App

                /// Whether the built app has what its extension needs, in a simulator or on a phone. The tests of `Linux` need neither.
                nonisolated final class ProjectTests: XCTestCase {
                    func testTheExtensionIsInTheAppAndFitsIt() throws {
                        let plugIns = try XCTUnwrap(Bundle.main.builtInPlugInsURL)
                        let appex = try XCTUnwrap(Bundle(url: plugIns.appendingPathComponent("NotificationService.appex")))
                        let info = try XCTUnwrap(appex.object(forInfoDictionaryKey: "NSExtension") as? [String: Any])
                        XCTAssertEqual(
                            info["NSExtensionPointIdentifier"] as? String, "com.apple.usernotifications.service")
                        XCTAssertEqual(
                            info["NSExtensionPrincipalClass"] as? String, "NotificationService.NotificationService")
                        XCTAssertFalse(((appex.object(forInfoDictionaryKey: "CFBundleDisplayName") as? String) ?? "").isEmpty)
                        let shared = ["CFBundleShortVersionString", "CFBundleVersion", SharedKeyStore.propertyListKey]
                        for key in shared {
                            let value = Bundle.main.object(forInfoDictionaryKey: key) as? String
                            XCTAssertNotNil(value)
                            XCTAssertEqual(appex.object(forInfoDictionaryKey: key) as? String, value)
                        }
                    }

                    func testTheKeychainGroupCanBeRead() throws {
                        _ = try SharedKeyStore.open().deviceKeys(named: nil)
                    }

                    func testTheAppGroupHasAFolder() throws {
                        _ = try PushRegistration.appGroup.journal()
                    }

                    func testAPushThatIsNotSealedIsMasked() async {
                        let device = SimulatedDevice { NotificationService() }
                        let push = #"{"aps":{"mutable-content":1,"alert":{"title":"Title","body":"In the clear"}}}"#
                        let outcome = await device.push(APNsPush(json: push))
                        XCTAssertNotNil(outcome.shown)
                        XCTAssertNotEqual(outcome.shown?.body, "In the clear")
                    }
                }

                """#)
    }

    /// A test of the other files, as a start for the app's tests.
    var tests: ScaffoldFile {
        let languages = StringTable.all.map { swiftLiteral($0.language) }.joined(separator: ", ")
        return ScaffoldFile(
            path: "Linux/Tests/NotificationTests.swift",
            text: ##"""
                import DeviceSimulator
                import Foundation
                import Pushcrypt
                import PushcryptKeyStore
                import PushcryptReceiver
                import PushcryptService
                import Testing

                @testable import App
                @testable import NotificationService

                /// From the first launch to the first message, on a simulated phone.
                @MainActor @Suite(.serialized) final class NotificationTests {
                    /// The phone's Keychain, app groups and files. Each test has a new phone.
                    private let phone = FileManager.default.temporaryDirectory.appendingPathComponent("phone-\(UUID())")
                    let device = SimulatedDevice { NotificationService() }
                    let provider = TestProvider()
                    private let registration: PushRegistration

                    init() throws {
                        setenv("PUSHCRYPT_KEYCHAIN", phone.appendingPathComponent("keychain").path, 1)
                        setenv("PUSHCRYPT_APP_GROUPS", phone.appendingPathComponent("groups").path, 1)
                        let file = EnrolmentFile(at: phone.appendingPathComponent("app/enrolment.json"))
                        registration = PushRegistration(provider: provider, firstTrust: { .firstReply }, file: { file })
                        device.app.strings = try Self.strings("en")
                    }

                    deinit { try? FileManager.default.removeItem(at: phone) }

                    /// The app's texts in a language.
                    private static func strings(_ language: String) throws -> [String: String] {
                        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                            .appendingPathComponent("../App/Localizable.xcstrings")
                        let catalogue = try JSONDecoder().decode(StringCatalogue.self, from: Data(contentsOf: file))
                        return catalogue.strings.compactMapValues { $0.localizations[language]?.stringUnit.value }
                    }

                    @discardableResult
                    func launch() async throws -> String {
                        try await registration.update(pushToken: Data([1, 2, 3]), alertsAreShown: true)
                    }

                    @Test func aSealedPushIsShownOpened() async throws {
                        try await launch()
                        let push = try await provider.push(title: "Table for two", body: "See you at 8")
                        let outcome = await device.push(APNsPush(json: push))
                        #expect(outcome.shown?.title == "Table for two")
                        #expect(outcome.shown?.body == "See you at 8")
                        #expect(outcome.faults.isEmpty, "\(outcome)")
                    }

                    @Test func aTamperedPushIsShownAsEncrypted() async throws {
                        try await launch()
                        var push = try await provider.push(title: "Table for two", body: "See you at 8")
                        let inside = push.index(push.endIndex, offsetBy: -100)
                        push.replaceSubrange(inside...inside, with: push[inside] == "A" ? "B" : "A")
                        let outcome = await device.push(APNsPush(json: push))
                        #expect(outcome.shown?.subtitle == "(Encrypted)")
                        #expect(outcome.shown?.body == "")
                        #expect(outcome.faults.isEmpty, "\(outcome)")
                    }

                    @Test(arguments: [\##(languages)])
                    func whatDoesNotOpenIsSaidInThePersonsLanguage(_ language: String) async throws {
                        let strings = try Self.strings(language)
                        device.app.strings = strings
                        try await launch()
                        let push = #"{"aps":{"mutable-content":1,"alert":{"title":"T"}},"ENCRYPTED_DATA":"AQ"}"#
                        let shown = await device.push(APNsPush(json: push)).shown
                        #expect(shown?.subtitle == strings["(Encrypted)"])
                        #expect(shown?.body == "")
                    }

                    @Test func aPhoneRegistersUntilTheProviderKnowsEverything() async throws {
                        #expect(try await launch() == "register; acknowledged")
                        // The provider key that the phone trusts after the first reply.
                        #expect(try await launch() == "register-again(provider-changed); acknowledged")
                        #expect(try await launch() == "nothing")
                    }

                    @Test func afterALogOutNothingOpens() async throws {
                        try await launch()
                        let push = try await provider.push(title: "Table for two", body: "See you at 8")
                        try await registration.logOut()
                        #expect(await provider.device == nil)
                        #expect(await device.push(APNsPush(json: push)).shown?.subtitle == "(Encrypted)")
                    }

                    @Test func theJournalSaysWhatCameOfAPush() async throws {
                        try await launch()
                        let push = try await provider.push(title: "Table for two", body: "See you at 8")
                        _ = await device.push(APNsPush(json: push))
                        let journal = try JournalExport(json: ContiguousArray(DeliveryJournal.json()))
                        #expect(journal.entries.map(\.code) == ["opened"])
                    }

                    // MARK: Responses

                    /// The app's view of a push that is shown and tapped.
                    private func tap(_ push: String) async throws -> ReceivedResponse {
                        let (responses, continuation) = AsyncStream.makeStream(of: ReceivedResponse.self)
                        let responder = NotificationResponder(configuration: NotificationResponses.configuration) {
                            continuation.yield($0)
                            return .done
                        }
                        device.center.delegate = responder
                        let outcome = await device.push(APNsPush(json: push))
                        _ = await device.respond(.tap, to: outcome.requestIdentifier)
                        continuation.finish()
                        var received: [ReceivedResponse] = []
                        for await response in responses { received.append(response) }
                        return try #require(received.first)
                    }

                    @Test func aTapOnAnOpenedNotificationGivesTheSealedCustomKeys() async throws {
                        try await launch()
                        let push = try await provider.push(title: "Table for two", body: "See you at 8")
                        let response = try await tap(push)
                        #expect(response.value.action == .open)
                        #expect(response.value.customKeys as? [String: String] == ["chat": "c41"])
                    }

                    @Test(arguments: ["", #","mutable-content":1"#])
                    func aTapOnAForgedPushGivesNone(_ member: String) async throws {
                        try await launch()
                        let push = #"{"aps":{"alert":{"title":"Table for two"}\#(member)},"chat":"forged"}"#
                        #expect(try await tap(push).value.customKeys.isEmpty)
                    }
                }

                /// The texts in Xcode's catalogue.
                private struct StringCatalogue: Decodable {
                    struct Text: Decodable { let localizations: [String: Localization] }
                    struct Localization: Decodable { let stringUnit: Unit }
                    struct Unit: Decodable { let value: String }

                    let strings: [String: Text]
                }

                /// A provider with one device.
                actor TestProvider: RegistrationChannel {
                    private(set) var device: DeviceRegistration?
                    private let key = ProviderKey()

                    func register(record: Data) throws -> Data {
                        let record = try DeviceRegistration(json: ContiguousArray(record))
                        device = record
                        let reply = RegistrationReply(.acknowledged(record.publicKey), provider: key.publicKey)
                        return Data(reply.json)
                    }

                    func withdraw(_ withdrawal: Data) throws {
                        let fields = try JSONDecoder().decode([String: String].self, from: withdrawal)
                        if device?.deviceID == fields["device"] { device = nil }
                    }

                    func push(title: String, body: String) throws -> String {
                        try push(#"{"aps":{"alert":{"title":"\#(title)","body":"\#(body)"}},"chat":"c41"}"#)
                    }

                    func push(_ payload: String) throws -> String {
                        let device = try #require(device)
                        let sealer = Sealer(provider: key, topic: try #require(device.topic))
                        let sealed = try sealer.seal(payload.utf8, to: device.publicKey, at: now)
                        return String(decoding: sealed.json, as: UTF8.self)
                    }

                    private var now: Timestamp { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }
                }

                """##)
    }

    /// A test of the content extension's view.
    var contentTests: ScaffoldFile {
        let category = categories.first ?? ""
        var payload = JSONWriter()
        payload.object { json in
            json.object(for: "aps") { json in
                json.object(for: "alert") { json in
                    json.string("Table for two", for: "title")
                    json.string("See you at 8", for: "body")
                }
                json.string(category, for: "category")
            }
        }
        return ScaffoldFile(
            path: "Linux/Tests/ContentExtensionTests.swift",
            text: #"""
                import DeviceSimulator
                import Testing
                import UIKit

                @testable import App
                @testable import NotificationContent

                // The texts that a user sees in an expanded notification.
                extension NotificationTests {
                    private static let payload =
                        \#(swiftLiteral(String(decoding: payload.bytes, as: UTF8.self)))

                    /// The texts of the view, from the top.
                    private func expand(_ push: String) async throws -> [String?]? {
                        try NotificationCategories.declared.register(on: device.center)
                        try device.install(
                            ContentExtension(categories: [\#(swiftLiteral(category))]) { NotificationViewController() })
                        let outcome = await device.push(APNsPush(json: push))
                        let expanded = try #require(device.expand(outcome.requestIdentifier))
                        let stack = expanded.viewController?.view.subviews.first as? UIStackView
                        return stack?.arrangedSubviews.compactMap { $0 as? UILabel }.map(\.text)
                    }

                    @Test func theViewShowsWhatWasSealed() async throws {
                        try await launch()
                        #expect(try await expand(provider.push(Self.payload)) == ["Table for two", "", "See you at 8"])
                    }

                    /// The system does not start the extension for a push without `mutable-content`.
                    @Test func theViewOfAForgedPushSaysThatItIsNotEncrypted() async throws {
                        #expect(try await expand(Self.payload) == ["Table for two", "", "(Encrypted)"])
                    }
                }

                """#)
    }
}
