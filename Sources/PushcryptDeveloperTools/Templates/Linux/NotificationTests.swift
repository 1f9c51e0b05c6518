import DeviceSimulator
import Foundation
import PushcryptApp
import Testing

@testable import App
@testable import NotificationService

/// From the first launch to the first message, on a simulated phone.
@MainActor @Suite(.serialized) final class NotificationTests {
    /// The phone's Keychain, app groups and files. Each test has a new phone.
    private let phone = FileManager.default.temporaryDirectory.appendingPathComponent("phone-\(UUID())")
    let device = SimulatedDevice { NotificationService() }
    let provider = TestProvider()
    private let accounts: PushAccounts

    init() throws {
        setenv("PUSHCRYPT_BUNDLE_ID", "com.example.app", 1)
        setenv("PUSHCRYPT_KEYCHAIN", phone.appendingPathComponent("keychain").path, 1)
        setenv("PUSHCRYPT_APP_GROUPS", phone.appendingPathComponent("groups").path, 1)
        setenv("XDG_DATA_HOME", phone.appendingPathComponent("app").path, 1)
        accounts = PushAccounts(trust: .firstReply, channel: provider)
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
        let outcomes = await accounts.update(["anna"], token: Data([1, 2, 3]), alertsAreShown: true)
        return try #require(outcomes["anna"]).description
    }

    @Test func aSealedPushIsShownOpened() async throws {
        try await launch()
        let push = try await provider.push(title: "Table for two", body: "See you at 8")
        let outcome = await device.push(APNsPush(json: push))
        #expect(outcome.shown?.title == "Table for two")
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.faults.isEmpty, "\(outcome)")
    }

    @Test func aPushThatIsNotSealedIsMasked() async throws {
        try await launch()
        let push = #"{"aps":{"mutable-content":1,"alert":{"title":"Title","body":"In the clear"}}}"#
        #expect(await device.push(APNsPush(json: push)).shown?.body == "(Encrypted)")
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

    @Test(arguments: ["ar", "en", "es", "ja", "ko"])
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
        // The second registration reports the provider key that the phone trusts after the first reply.
        let first = "register(first); acknowledged; register(provider-changed); acknowledged"
        #expect(try await launch() == first)
        #expect(try await launch() == "nothing")
    }

    @Test func afterALogOutNothingOpens() async throws {
        try await launch()
        let push = try await provider.push(title: "Table for two", body: "See you at 8")
        try await accounts.logOut("anna")
        #expect(await device.push(APNsPush(json: push)).shown?.subtitle == "(Encrypted)")
    }

    @Test func theJournalSaysWhatCameOfAPush() async throws {
        try await launch()
        let push = try await provider.push(title: "Table for two", body: "See you at 8")
        _ = await device.push(APNsPush(json: push))
        let journal = try JournalExport(json: ContiguousArray(Push.journal()))
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

    func send(_ request: RegistrationRequest) throws -> Data {
        guard case .register = request.kind else {
            device = nil
            return Data()
        }
        let record = try DeviceRegistration(post: ContiguousArray(request.body))
        device = record
        return Data(RegistrationReply(.acknowledged(record.publicKey), provider: key.publicKey).json)
    }

    func push(title: String, body: String) throws -> String {
        try push(#"{"aps":{"alert":{"title":"\#(title)","body":"\#(body)"}},"chat":"c41"}"#)
    }

    func push(_ payload: String) throws -> String {
        let device = try #require(device)
        let sealer = Sealer(provider: key, topic: try #require(device.topic))
        let sealed = try sealer.seal(Sealer.Message(payload.utf8), to: device.publicKey, at: now)
        return String(decoding: sealed.json, as: UTF8.self)
    }

    private var now: Timestamp { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }
}
