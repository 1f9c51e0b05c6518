import Foundation
import Intents
import ModelKeychain
import Pushcrypt
import PushcryptIntents
import TestPhone
import Testing
import UserNotifications
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService

/// The remains of an account after its log-out, on the phone and at its provider.
@Suite(.serialized, .oneAtATime) struct LogOutTests {
    private let app: TestApp
    private let server: TestServer

    init() throws {
        app = try TestApp()
        server = app.server
    }

    private func accounts() -> PushAccounts { app.accounts { $0.senders = .intents() } }

    private func update(_ names: [String], _ accounts: PushAccounts) async {
        for outcome in await accounts.update(names, token: TestApp.token, alertsAreShown: true).values {
            #expect(outcome.status == .registered)
        }
    }

    /// The disk is full, and the mark of a new installation cannot be written.
    @Test func aLogOutNeedsNoMark() async throws {
        await update(["anna"], accounts())
        let accounts = app.accounts {
            $0.mark = { () throws(KeyStoreError) in throw KeyStoreError(.diskFull, "") }
        }
        #expect(await accounts.update("anna").problem == "later disk-full")
        try await accounts.logOut("anna")
        #expect(try app.names.isEmpty)
        #expect(await eventually { server.users.isEmpty })
    }

    /// Each account may have its own server, and one may be gone for ever.
    @Test func aServerThatIsGoneDoesNotStopTheOthers() async throws {
        let accounts = accounts()
        await update(["anna", "ben", "cleo"], accounts)
        server.gone = ["anna"]
        for user in ["anna", "ben"] { try await accounts.logOut(user) }
        #expect(await eventually { server.users == ["anna", "cleo"] })
        // It comes back.
        server.gone = []
        await update(["cleo"], accounts)
        #expect(await eventually { server.users == ["cleo"] })
    }

    /// Another object of the app has sent the end while the record was under way: the late reply says that the device
    /// is there.
    @Test func anEndThatIsFasterThanTheRecordIsSentAgain() async throws {
        let key = server.key.publicKey
        func process() -> PushAccounts { app.accounts { $0.trust = { .provider(key) } } }
        let (first, second, gate) = (process(), process(), Gate())
        server.gate = gate
        async let outcome = first.update("anna")
        #expect(await gate.hasVisitors())
        server.gate = nil
        try await second.logOut("anna")
        // The server has never heard of the device.
        #expect(await eventually { (try? app.state.ends.isEmpty) == true })
        gate.open()
        #expect(await outcome.status != .registered)
        #expect(await eventually { server.requests == 3 && server.users.isEmpty })
        #expect(try app.state.accounts.isEmpty)
        withExtendedLifetime((first, second)) {}
    }

    /// The second update of the first object waits for its first, while the other object logs out.
    @Test func aLogOutByAnotherObjectEndsWhatWaits() async throws {
        final class Updates { var count = 0 }
        let (updates, gate) = (Locked(Updates()), Gate())
        let first = app.accounts {
            $0.appVersion = {
                updates.withLock { $0.count += 1 }
                return nil
            }
        }
        let second = accounts()
        server.gate = gate
        async let outcome = first.update("anna")
        #expect(await gate.hasVisitors())
        async let later = first.update("anna")
        #expect(await eventually { updates.withLock { $0.count } == 2 })
        server.gate = nil
        try await second.logOut("anna")
        gate.open()
        #expect(await outcome.status == .loggedOut)
        #expect(await later.status == .loggedOut)
        #expect(await eventually { server.users.isEmpty })
        #expect(try app.state.accounts.isEmpty)
        withExtendedLifetime((first, second)) {}
    }

    @Test func aLogOutThatTheStoreRefusesThrows() async throws {
        let accounts = accounts()
        await update(["anna"], accounts)
        app.phone.keychain.restart()
        await #expect(throws: LogOutProblem.self) { try await accounts.logOut("anna") }
        app.phone.keychain.unlock()
        try await accounts.logOut("anna")
        #expect(try app.names == [])
    }

    // MARK: The screen

    /// Nothing of the account is left where another user can see it.
    @Test func logOutTakesEverythingOffTheScreen() async throws {
        let accounts = accounts()
        await update(["anna", "ben"], accounts)
        let face = try SealedAttachment(SealedAttachment.plain(1000), name: "a.jpg")
        let center = UNUserNotificationCenter.current()
        _ = try await center.requestAuthorization(options: [.alert])
        for user in ["anna", "ben"] {
            let content = try await show("Hello \(user)", to: user, with: face)
            try await center.add(
                UNNotificationRequest(identifier: "\(user) \(folder.path)", content: content, trigger: nil))
        }
        #expect(donations == ["Sender anna", "Sender ben"])
        #expect(shared == 2)

        try await accounts.logOut("anna")
        let left = await center.deliveredNotifications().map(\.request.identifier)
        #expect(!left.contains("anna \(folder.path)") && left.contains("ben \(folder.path)"))
        #expect(donations == ["Sender ben"])
        #expect(shared == 1)
    }

    /// The extension had opened the message when the keys went.
    @Test func whatIsBeingPreparedAtTheLogOutIsNotShown() async throws {
        let accounts = accounts()
        await update(["anna"], accounts)
        var configuration = app.phone.configuration
        let gate = Gate()
        configuration.change = { _, content, _ in
            await gate.waitUntilOpen()
            return content
        }
        let (service, handler) = (NotificationServiceHandler(configuration: configuration), Handler())
        service.handle(
            try TestPhone.request(server.seal("Hello anna", to: "anna"), identifier: "1"),
            contentHandler: handler.handler)
        #expect(await gate.hasVisitors())
        try await accounts.logOut("anna")
        gate.open()
        let content = try #require(await handler.delivered())
        #expect(content.body == "" && content.subtitle == "(Encrypted)" && content.userInfo.isEmpty)
    }

    /// A notification of the very moment of the log-out goes with the next update.
    @Test func anUpdateRemovesWhatNoAccountOwns() async throws {
        let accounts = accounts()
        await update(["anna"], accounts)
        let content = try await show("Hello anna", to: "anna", with: nil)
        try await accounts.logOut("anna")
        let center = UNUserNotificationCenter.current()
        _ = try await center.requestAuthorization(options: [.alert])
        let late = "late \(folder.path)"
        try await center.add(UNNotificationRequest(identifier: late, content: content, trigger: nil))
        await update(["ben"], accounts)
        #expect(await !center.deliveredNotifications().map(\.request.identifier).contains(late))
    }

    @Test func theChangeAndTheResponseKnowTheAccount() async throws {
        await update(["anna", "ben"], accounts())
        for user in ["anna", "ben"] {
            let seen = Locked(Seen())
            var configuration = app.phone.configuration
            configuration.change = { _, content, context in
                seen.withLock { $0.account = context.account }
                return content
            }
            let request = try TestPhone.request(server.seal("Hello", to: user))
            let content = try #require(await configuration.show(request))
            #expect(seen.withLock { $0.account } == user)
            #expect(content.mark?.account == user)
        }
    }

    /// The relay cannot say whose a push is.
    @Test func aForgedMarkIsNobodys() throws {
        let content = UNMutableNotificationContent()
        let mark = String(repeating: "a", count: 32) + " 1767225600000 anna"
        content.userInfo = ["aps": ["alert": "x"], "pushcrypt": mark]
        #expect(content.mark == nil)
        content.userInfo["aps"] = nil
        #expect(content.mark?.account == "anna")
    }

    // MARK: Parts

    private var folder: URL { app.phone.folder }

    private func show(_ text: String, to user: String, with face: SealedAttachment?) async throws
        -> UNNotificationContent
    {
        let transport = PlayedTransport { _ in face.map { .bytes($0.sealed) } ?? .fail("none") }
        var configuration = app.phone.downloading(transport)
        configuration.senders = .intents()
        configuration.sharesAttachments = true
        let push = try server.seal(
            text, to: user, attachments: face.map { [$0.reference] } ?? [],
            from: CommunicationSender(name: "Sender \(user)", handle: "\(folder.path)", conversation: "c"))
        let request = try TestPhone.request(push, identifier: user)
        return try #require(await configuration.show(request))
    }

    private var donations: Set<String> {
        Set(INInteraction.donations.values.filter { $0.hasPrefix("Sender ") })
    }

    private var shared: Int {
        let folder = app.phone.directory.appendingPathComponent("attachments")
        return (try? FileManager.default.contentsOfDirectory(atPath: folder.path).count) ?? 0
    }

    private final class Seen {
        var account = ""
    }
}
