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

/// The app's accounts, with the file, the Keychain and a channel.
@Suite(.serialized) struct PushAccountsTests {
    private let phone: TestPhone
    private let server = TestServer()
    private let clock = ManualClock()

    init() throws {
        phone = try TestPhone()
        // The phone's own key is of no account here.
        try phone.keys.purgeEverything()
    }

    private func accounts(_ change: (inout AccountSettings) -> Void = { _ in }) -> PushAccounts {
        let (phone, clock) = (phone, clock)
        var settings = AccountSettings(
            directory: { phone.directory }, topic: { TestPhone.topic }, trust: { .firstReply })
        settings.senders = .intents()
        settings.store = { phone.keys }
        settings.file = { EnrolmentFile(at: phone.folder.appendingPathComponent("app/enrolment.json")) }
        (settings.clock, settings.now) = (clock, { phone.now })
        change(&settings)
        return PushAccounts(settings, channel: server)
    }

    private func update(_ names: [String], _ accounts: PushAccounts) async -> [String: String] {
        await accounts.update(names, token: Data([1, 2, 3]), alertsAreShown: true).mapValues(\.description)
    }

    @Test func oneUpdateTellsTheProviderEverything() async throws {
        let accounts = accounts()
        let first = "register; acknowledged; register-again(provider-changed); acknowledged"
        #expect(await update(["anna", "ben"], accounts) == ["anna": first, "ben": first])
        #expect(server.users == ["anna", "ben"])
        #expect(await update(["anna", "ben"], accounts) == ["anna": "nothing", "ben": "nothing"])
        #expect(server.requests == 4)
        // Another process, with the same file.
        #expect(await update(["anna"], self.accounts()) == ["anna": "nothing"])
        #expect(await update([], accounts) == [:])
    }

    /// An update waits for the system before it is queued, and a log-out does not.
    @Test func anUpdateThatWasAskedForBeforeALogOutRegistersNobody() async throws {
        let accounts = accounts()
        let call = CallOrder.now
        #expect(await update(["anna"], accounts)["anna"] != nil)
        try await accounts.logOut("anna")
        #expect(CallOrder.isLoggedOut("anna", since: call) && !CallOrder.isLoggedOut("anna", since: CallOrder.now))
        let late = await accounts.registrations.update(
            ["anna", "ben"], token: Data([1]), alertsAreShown: true, since: call)
        #expect(late["anna"]?.status == .loggedOut && late["ben"]?.status == .registered)
        #expect(try phone.keys.deviceKeys().map(\.name) == ["ben"])
        // After the next log-in it is another call.
        #expect(await update(["anna"], accounts)["anna"]?.hasPrefix("register") == true)
    }

    @Test func aLogOutThatWasOfflineIsSentWhenNobodyIsLoggedIn() async throws {
        let accounts = accounts()
        _ = await update(["anna"], accounts)
        server.fails = true
        try await accounts.logOut("anna")
        while server.requests < 3 { await Task.yield() }
        server.fails = false
        // The phone may hear of the failure only after this update, and then posts at the next.
        for _ in 0..<100 where !server.users.isEmpty {
            #expect(await update([], accounts) == [:])
            try await Task.sleep(nanoseconds: 10_000_000)
        }
        #expect(server.users.isEmpty)
    }

    /// Each account may have its own server, and one may be gone for ever.
    @Test func aServerThatIsGoneDoesNotStopTheOthers() async throws {
        let accounts = accounts()
        _ = await update(["anna", "ben", "cleo"], accounts)
        server.gone = ["anna"]
        for user in ["anna", "ben"] { try await accounts.logOut(user) }
        await eventually { server.users == ["anna", "cleo"] }
        #expect(server.users == ["anna", "cleo"])
        // It comes back.
        server.gone = []
        _ = await update(["cleo"], accounts)
        await eventually { server.users == ["cleo"] }
        #expect(server.users == ["cleo"])
    }

    @Test func anUpdateWithoutTheAppGroupSaysSoAndRegistersNobody() async throws {
        let accounts = accounts { $0.directory = { throw AppGroup.Missing(identifier: "group.com.example") } }
        let outcome = try #require(
            await accounts.update(["anna"], token: Data([1, 2, 3]), alertsAreShown: true)["anna"])
        guard case .blocked(let obstacle) = outcome.status else { throw Unexpected(outcome) }
        #expect(obstacle.code == "not-configured")
        #expect(outcome.description.contains("add it to the App Groups capability"), "\(outcome)")
        #expect(server.requests == 0)
        #expect(try phone.keys.deviceKeys().isEmpty)
    }

    @Test func aLogOutWithoutTheAppGroupSaysSo() async throws {
        _ = await update(["anna"], accounts())
        struct NoGroup: Error {}
        let wrong = accounts { $0.directory = { throw NoGroup() } }
        await #expect(throws: LogOutProblem.self) { try await wrong.logOut("anna") }
        #expect(try phone.keys.deviceKeys().isEmpty)
    }

    @Test func whatTheAppHasWrongIsReported() async throws {
        let wrong = accounts { $0.topic = { try Topic("") } }
        let outcome = await wrong.update(["anna"], token: Data([1]), alertsAreShown: true)["anna"]
        guard case .blocked = outcome?.status else { throw Unexpected(outcome) }
        let nameless = await accounts().update([""], token: Data([1]), alertsAreShown: true)[""]
        guard case .blocked(let obstacle) = nameless?.status, obstacle.code == "invalid-name" else {
            throw Unexpected(nameless)
        }
    }

    /// A profile is a property list inside a signature; the App Store's app has none.
    @Test func theProfileSaysWhereTheTokenIsValid() {
        func profile(_ value: String) -> Data {
            Data([0x30, 0x82, 0xFF])
                + Data("<dict><key>aps-environment</key>\n\t<string>\(value)</string><key>x</key></dict>".utf8)
        }
        #expect(PushEnvironment(profile: profile("development")) == .development)
        #expect(PushEnvironment(profile: profile("production")) == .production)
        #expect(PushEnvironment(profile: Data("<key>aps-environment</key>".utf8)) == .production)
        #expect(PushEnvironment(profile: nil) == .production)
    }

    @Test func alertsThatAreOffAreNoticed() async throws {
        let outcome = await accounts().update(["anna"], token: Data([1]), alertsAreShown: false)["anna"]
        #expect(outcome?.notices == ["alerts-off"] && outcome?.status == .registered)
    }

    /// The app asks again at each launch; nothing grows meanwhile.
    @Test func aServerThatAnswersWithErrorsForAYear() async throws {
        let now = Locked(Days(phone.now))
        server.fails = true
        for day in 0..<365 {
            now.withLock { $0.now = phone.now.adding(.days(UInt64(day))) }
            let accounts = accounts { $0.now = { now.withLock { $0.now } } }
            let outcome = await accounts.update(["anna"], token: Data([1]), alertsAreShown: true)["anna"]
            guard case .unreachable = outcome?.status else { throw Unexpected(outcome) }
            #expect(server.requests == day + 1)
        }
        #expect(try phone.keys.deviceKeys().count == 1)
        server.fails = false
        #expect(await accounts().update(["anna"], token: Data([1]))["anna"]?.status == .registered)
        #expect(server.users == ["anna"])
    }

    /// The process could end before the answer comes, and would not know what it has sent.
    @Test func whatCannotBeSavedIsNotSent() async throws {
        let folder = phone.folder
        // There is no state, and its folder cannot be created.
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("app"), withDestinationURL: folder.appendingPathComponent("nowhere"))
        let outcome = await accounts().update(["anna"], token: Data([1]), alertsAreShown: true)["anna"]
        guard case .unreachable(let problem) = outcome?.status else { throw Unexpected(outcome) }
        #expect(problem.hasPrefix("the state cannot be saved") && server.requests == 0)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("app"))
        #expect(await accounts().update(["anna"], token: Data([1]))["anna"]?.status == .registered)
    }

    @Test func callsAtTheSameTimeSendOneRegistration() async throws {
        let accounts = accounts()
        server.gate = Gate()
        async let first = update(["anna"], accounts)
        #expect(await server.gate?.hasVisitors() == true)
        async let second = update(["anna"], accounts)
        await allTurns()
        #expect(server.requests == 1)
        server.gate?.open()
        _ = await (first, second)
        #expect(server.users == ["anna"])
    }

    @Test func aServerThatHangsCountsAsLostAfterAMinute() async throws {
        let accounts = accounts()
        let gate = Gate()
        server.gate = gate
        async let outcome = accounts.update(["anna"], token: Data([1]), alertsAreShown: true)["anna"]
        #expect(await gate.hasVisitors())
        clock.advance(milliseconds: 60_000)
        #expect(await outcome?.status == .unreachable("no answer in time"))
        gate.open()
    }

    // MARK: Log-out

    @Test func logOutForgetsTheAccountAndTheServerHearsOfIt() async throws {
        let accounts = accounts()
        _ = await update(["anna", "ben"], accounts)
        try await accounts.logOut("anna")
        #expect(try Set(phone.keys.deviceKeys().map(\.name)) == ["ben"])
        await eventually { server.users == ["ben"] }
        #expect(server.users == ["ben"])
    }

    /// The device has signed its end: it needs no session, and the next user's update sends it.
    @Test func anOfflineLogOutIsSentWhenAnotherUserIsThere() async throws {
        let accounts = accounts()
        _ = await update(["anna"], accounts)
        server.fails = true
        try await accounts.logOut("anna")
        await eventually { server.requests == 3 }
        server.fails = false
        let later = self.accounts()
        #expect(await update(["ben"], later)["ben"]?.hasPrefix("end(") == true)
        await eventually { server.users == ["ben"] }
        #expect(server.users == ["ben"])
    }

    /// The reply comes when the account is gone.
    @Test func aLogOutDuringARegistrationWins() async throws {
        let accounts = accounts()
        let gate = Gate()
        server.gate = gate
        async let outcome = accounts.update(["anna"], token: Data([1]), alertsAreShown: true)["anna"]
        #expect(await gate.hasVisitors())
        try await accounts.logOut("anna")
        #expect(await outcome?.status == .loggedOut)
        gate.open()
        await eventually { server.requests == 2 }
        await eventually { server.users == [] }
        #expect(server.users == [] && server.requests == 2)
        #expect(try phone.keys.deviceKeys().isEmpty && phone.keys.pinnedProviders().isEmpty)
    }

    @Test func aLogOutThatTheStoreRefusesThrows() async throws {
        let accounts = accounts()
        _ = await update(["anna"], accounts)
        phone.keychain.restart()
        await #expect(throws: LogOutProblem.self) { try await accounts.logOut("anna") }
        phone.keychain.unlock()
        try await accounts.logOut("anna")
        #expect(try phone.keys.deviceKeys().isEmpty)
    }

    /// Nothing of the account is left where another user can see it.
    @Test func logOutTakesEverythingOffTheScreen() async throws {
        let accounts = accounts()
        _ = await update(["anna", "ben"], accounts)
        let face = try SealedAttachment(SealedAttachment.plain(1000), name: "a.jpg")
        let center = UNUserNotificationCenter.current()
        _ = try await center.requestAuthorization(options: [.alert])
        for user in ["anna", "ben"] {
            let content = try await show("Hello \(user)", to: user, with: face)
            try await center.add(
                UNNotificationRequest(identifier: "\(user) \(phone.folder.path)", content: content, trigger: nil))
        }
        #expect(donations == ["Sender anna", "Sender ben"])
        #expect(shared == 2)

        try await accounts.logOut("anna")
        let left = await center.deliveredNotifications().map(\.request.identifier)
        #expect(!left.contains("anna \(phone.folder.path)") && left.contains("ben \(phone.folder.path)"))
        #expect(donations == ["Sender ben"])
        #expect(shared == 1)
    }

    /// The extension had opened the message when the keys went.
    @Test func whatIsBeingPreparedAtTheLogOutIsNotShown() async throws {
        let accounts = accounts()
        _ = await update(["anna"], accounts)
        var configuration = phone.configuration
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

    /// What was shown at the very moment of the log-out goes with the next update.
    @Test func anUpdateRemovesWhatNoAccountOwns() async throws {
        let accounts = accounts()
        _ = await update(["anna"], accounts)
        let content = try await show("Hello anna", to: "anna", with: nil)
        try await accounts.logOut("anna")
        let center = UNUserNotificationCenter.current()
        _ = try await center.requestAuthorization(options: [.alert])
        let late = "late \(phone.folder.path)"
        try await center.add(UNNotificationRequest(identifier: late, content: content, trigger: nil))
        _ = await update(["ben"], accounts)
        #expect(await !center.deliveredNotifications().map(\.request.identifier).contains(late))
    }

    @Test func theChangeAndTheResponseKnowTheAccount() async throws {
        _ = await update(["anna", "ben"], accounts())
        for user in ["anna", "ben"] {
            let seen = Locked(Seen())
            var configuration = phone.configuration
            configuration.change = { _, content, context in
                seen.withLock { $0.account = context.account }
                return content
            }
            let (service, handler) = (NotificationServiceHandler(configuration: configuration), Handler())
            service.handle(
                try TestPhone.request(server.seal("Hello", to: user)), contentHandler: handler.handler)
            let content = try #require(await handler.delivered())
            #expect(seen.withLock { $0.account } == user)
            #expect(content.mark?.account == user)
        }
    }

    /// The relay cannot say whose a push is.
    @Test func aForgedMarkIsNobodys() throws {
        let content = UNMutableNotificationContent()
        content.userInfo = ["aps": ["alert": "x"], "pushcrypt": String(repeating: "a", count: 32) + " anna"]
        #expect(content.mark == nil)
        content.userInfo["aps"] = nil
        #expect(content.mark?.account == "anna")
    }

    // MARK: Parts

    private func show(_ text: String, to user: String, with face: SealedAttachment?) async throws
        -> UNNotificationContent
    {
        var configuration = phone.configuration
        configuration.senders = .intents()
        configuration.sharesAttachments = true
        configuration.transport = PlayedTransport { _ in face.map { .bytes($0.sealed) } ?? .fail("none") }
        configuration.attachmentFolder = AttachmentFolder(phone.folder)
        let (service, handler) = (NotificationServiceHandler(configuration: configuration), Handler())
        let push = try server.seal(
            text, to: user, attachments: face.map { [$0.reference] } ?? [],
            from: CommunicationSender(name: "Sender \(user)", handle: "\(phone.folder.path)", conversation: "c"))
        service.handle(try TestPhone.request(push, identifier: user), contentHandler: handler.handler)
        return try #require(await handler.delivered())
    }

    private var donations: Set<String> {
        Set(INInteraction.donations.values.filter { $0.hasPrefix("Sender ") })
    }

    private var shared: Int {
        let folder = phone.directory.appendingPathComponent("attachments")
        return (try? FileManager.default.contentsOfDirectory(atPath: folder.path).count) ?? 0
    }

    private final class Seen {
        var account = ""
    }

    private final class Days {
        var now: Timestamp
        init(_ now: Timestamp) { self.now = now }
    }

    private struct Unexpected: Error {
        let outcome: PushAccounts.Outcome?
        init(_ outcome: PushAccounts.Outcome?) { self.outcome = outcome }
    }
}
