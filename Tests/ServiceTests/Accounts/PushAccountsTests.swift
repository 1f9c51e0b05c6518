import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone
import Testing
import UserNotifications
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService

/// The app's accounts, with the Keychain and a channel.
@Suite(.serialized, .oneAtATime) struct PushAccountsTests {
    private let app: TestApp
    private let server: TestServer

    init() throws {
        app = try TestApp()
        server = app.server
    }

    private func update(_ names: [String], _ accounts: PushAccounts) async -> [String: String] {
        await accounts.update(names, token: TestApp.token, alertsAreShown: true).mapValues(\.description)
    }

    @Test func oneUpdateTellsTheProviderEverything() async throws {
        let accounts = app.accounts()
        let first = "register(first); acknowledged; register(provider-changed); acknowledged"
        #expect(await update(["anna", "ben"], accounts) == ["anna": first, "ben": first])
        #expect(server.users == ["anna", "ben"])
        #expect(await update(["anna", "ben"], accounts) == ["anna": "nothing", "ben": "nothing"])
        #expect(server.requests == 4)
        // Another process, with the same Keychain.
        #expect(await update(["anna"], app.accounts()) == ["anna": "nothing"])
        #expect(await update([], accounts) == [:])
    }

    /// An update waits for the system before it is queued, and a log-out does not.
    @Test func anUpdateThatWasAskedForBeforeALogOutRegistersNobody() async throws {
        let accounts = app.accounts()
        let call = CallOrder.now
        #expect(await update(["anna"], accounts)["anna"] != nil)
        try await accounts.logOut("anna")
        #expect(CallOrder.isLoggedOut("anna", since: call) && !CallOrder.isLoggedOut("anna", since: CallOrder.now))
        let late = await accounts.registrations.update(
            ["anna", "ben"], token: Data([1]), alertsAreShown: true, since: call)
        #expect(late["anna"]?.status == .loggedOut && late["ben"]?.status == .registered)
        #expect(try app.names == ["ben"])
        // After the next log-in it is another call.
        #expect(await update(["anna"], accounts)["anna"]?.hasPrefix("register") == true)
    }

    @Test func alertsThatAreOffAreNoticed() async throws {
        let outcome = await app.accounts().update(["anna"], token: Data([1]), alertsAreShown: false)["anna"]
        #expect(outcome?.notices == ["alerts-off"] && outcome?.status == .registered)
    }

    /// With banners off and the lock screen on, the extension runs.
    @Test(arguments: [
        (UNAuthorizationStatus.authorized, [true, false, false], true), (.provisional, [false, false, true], true),
        (.ephemeral, [false, true, false], true), (.authorized, [false, false, false], false),
        (.denied, [true, true, true], false), (.notDetermined, [true, true, true], false),
    ]) func alertsAreOnIfAnyPlaceShowsThem(status: UNAuthorizationStatus, places: [Bool], areShown: Bool) {
        var values = UNNotificationSettings.Values()
        values.authorizationStatus = status
        let settings = places.map { $0 ? UNNotificationSetting.enabled : .disabled }
        (values.alert, values.lockScreen, values.notificationCenter) = (settings[0], settings[1], settings[2])
        #expect(PushAccounts.areAlertsShown(with: UNNotificationSettings(values)) == areShown)
    }

    /// The extension has opened an authentic message that was sealed more than a day after this phone's time.
    @Test func aClockThatIsBehindIsNoticedUntilAMessageOpens() async throws {
        let accounts = app.accounts()
        _ = await update(["anna"], accounts)
        let journal = ExtensionDatabase(in: app.phone.directory.path).journal
        func notices(after code: String) async throws -> Set<String> {
            let entry = JournalEntry(time: app.now, fingerprint: nil, code: code, keyState: .active, milliseconds: 1)
            #expect(journal.append(entry) == nil)
            return try #require(await accounts.update(["anna"], token: TestApp.token, alertsAreShown: true)["anna"])
                .notices
        }
        #expect(try await notices(after: "opened") == [])
        let wrong = app.now
        // The user sets the date.
        #expect(try await notices(after: "not-yet-valid") == ["clock-behind"])
        app.setClock(wrong.adding(.days(1)))
        #expect(await accounts.update("anna").notices == [])
        app.setClock(wrong)
        #expect(try await notices(after: "authentication-failed") == [])
        #expect(try await notices(after: "opened") == [])
    }

    /// The app asks again at each launch; nothing grows meanwhile.
    @Test func aServerThatAnswersWithErrorsForAYear() async throws {
        server.fails = true
        for day in 0..<365 {
            #expect(await app.accounts().update("anna").problem == "unreachable Refused")
            #expect(server.requests == day + 1)
            app.wait(.days(1))
        }
        #expect(try app.phone.deviceKeys.count == 1)
        server.fails = false
        #expect(await app.accounts().update("anna").status == .registered)
        #expect(server.users == ["anna"])
    }

    @Test func aServerThatHangsCountsAsLostAfterAMinute() async throws {
        let accounts = app.accounts()
        let gate = Gate()
        server.gate = gate
        async let outcome = accounts.update("anna")
        #expect(await gate.hasVisitors())
        app.clock.advance(milliseconds: 60_000)
        #expect(await outcome.status == .unreachable("no answer in time"))
        gate.open()
    }

    // MARK: What the app has wrong

    @Test func anUpdateWithoutTheAppGroupSaysSoAndRegistersNobody() async throws {
        let accounts = app.accounts {
            $0.directory = { throw AppGroup.Missing(identifier: "group.com.example") }
        }
        let outcome = await accounts.update("anna")
        #expect(outcome.problem == "blocked not-configured")
        #expect(outcome.description.contains("add it to the App Groups capability"), "\(outcome)")
        #expect(server.requests == 0)
        #expect(try app.phone.keys.load()?.state == nil)
    }

    @Test func aLogOutWithoutTheAppGroupSaysSo() async throws {
        _ = await update(["anna"], app.accounts())
        struct NoGroup: Error {}
        let wrong = app.accounts { $0.directory = { throw NoGroup() } }
        await #expect(throws: LogOutProblem.self) { try await wrong.logOut("anna") }
        #expect(try app.names == [])
    }

    @Test func whatTheAppHasWrongIsReported() async throws {
        let wrong = app.accounts { $0.topic = { try Topic("") } }
        #expect(await wrong.update("anna").problem == "blocked not-configured")
        #expect(await app.accounts().update("").problem == "blocked invalid-name")
    }

    /// A profile is a property list inside a signature; the App Store's app has none.
    @Test(arguments: ["aps-environment", "com.apple.developer.aps-environment"])
    func theProfileSaysWhereTheTokenIsValid(_ key: String) {
        func profile(_ value: String) -> Data {
            Data([0x30, 0x82, 0xFF])
                + Data("<dict><key>\(key)</key>\n\t<string>\(value)</string><key>x</key></dict>".utf8)
        }
        #expect(PushEnvironment(profile: profile("development")) == .development)
        #expect(PushEnvironment(profile: profile("production")) == .production)
        #expect(PushEnvironment(profile: Data("<key>aps-environment</key>".utf8)) == .production)
        #expect(PushEnvironment(profile: nil) == .production)
    }
}
