internal import Pushcrypt

extension IOSScaffold {
    /// A test of all the rest: what the app's own tests begin with.
    var tests: ScaffoldFile {
        ScaffoldFile(
            path: "Tests/NotificationTests.swift",
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
                @Suite(.serialized) final class NotificationTests {
                    /// What stands for the phone's Keychain, its app groups and the app's files; each test has a new phone.
                    private let phone = FileManager.default.temporaryDirectory.appendingPathComponent("phone-\(UUID())")
                    private let device = SimulatedDevice { NotificationService() }
                    private let provider = TestProvider()
                    private let registration: PushRegistration

                    init() {
                        setenv("PUSHCRYPT_KEYCHAIN", phone.appendingPathComponent("keychain").path, 1)
                        setenv("PUSHCRYPT_APP_GROUPS", phone.appendingPathComponent("groups").path, 1)
                        let file = EnrolmentFile(at: phone.appendingPathComponent("app/enrolment.json"))
                        registration = PushRegistration(provider: provider, firstTrust: { .reply }, file: { file })
                    }

                    deinit { try? FileManager.default.removeItem(at: phone) }

                    @discardableResult
                    private func launch() async throws -> String {
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

                    @Test func aPhoneRegistersUntilTheProviderKnowsEverything() async throws {
                        #expect(try await launch() == "register; acknowledged")
                        // Whom the phone believes, after the first reply.
                        #expect(try await launch() == "register-again(sender-changed); acknowledged")
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
                }

                /// A provider with one device.
                actor TestProvider: RegistrationChannel {
                    private(set) var device: DeviceRegistration?
                    private let sender = SenderKey()

                    func register(record: Data, pushToken: Data) throws -> Data {
                        let record = try DeviceRegistration(json: ContiguousArray(record), at: now)
                        device = record
                        let reply = RegistrationReply(.acknowledged(record.publicKey), sender: sender.publicKey)
                        return Data(reply.json)
                    }

                    func withdraw(device id: String) {
                        if device?.deviceID == id { device = nil }
                    }

                    func push(title: String, body: String) throws -> String {
                        let device = try #require(device)
                        let sealer = Sealer(sender: sender, topic: try #require(device.topic))
                        let payload = #"{"aps":{"alert":{"title":"\#(title)","body":"\#(body)"}}}"#
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
        var push = JSONWriter()
        push.object { json in
            json.object(for: "aps") { json in
                json.object(for: "alert") { json in
                    json.string("Table for two", for: "title")
                    json.string("See you at 8", for: "body")
                }
                json.string(category, for: "category")
            }
        }
        return ScaffoldFile(
            path: "Tests/ContentExtensionTests.swift",
            text: #"""
                import DeviceSimulator
                import Testing
                import UIKit

                @testable import App
                @testable import NotificationContent

                /// What a person sees of a notification that was opened up.
                @MainActor @Suite struct ContentExtensionTests {
                    @Test func theViewShowsTitleAndBody() async throws {
                        let device = SimulatedDevice()
                        device.center.setNotificationCategories(NotificationCategories.all)
                        try device.install(
                            ContentExtension(categories: [\#(swiftLiteral(category))]) { NotificationViewController() })
                        let push = \#(swiftLiteral(String(decoding: push.bytes, as: UTF8.self)))
                        let outcome = await device.push(APNsPush(json: push))
                        let expanded = try #require(device.expand(outcome.requestIdentifier))
                        let stack = expanded.viewController?.view.subviews.first as? UIStackView
                        let labels = stack?.arrangedSubviews.compactMap { $0 as? UILabel }
                        #expect(labels?.map(\.text) == ["Table for two", "See you at 8"])
                    }
                }

                """#)
    }
}
