import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone
import Testing
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

/// Accounts of an app whose users have their own servers, with the publisher's relay.
@Suite(.serialized, .oneAtATime) struct RelayAccountsTests: RelayedTests {
    let app: TestApp
    private let pushKey = PushKey().publicKey

    init() throws {
        app = try TestApp()
        server.name(pushKey, to: "rita")
    }

    // MARK: Grants

    /// The first grant ends all that an earlier installation has left, and itself.
    @Test func aServerGetsAGrantAndNeverTheToken() async throws {
        let outcome = await accounts().update("rita")
        #expect(outcome.status == .registered && outcome.notices == [])
        #expect(
            outcome.description
                == "register(first); acknowledged; register(provider-changed, grant-changed); acknowledged")
        let record = try #require(server.record("rita"))
        #expect(record.token == nil && record.environment == nil)
        let (grant, issued) = (try grant(), relay.with { $0.issued })
        #expect(issued.map(\.isLive) == [false, true] && issued[1].text == grant)
        #expect(relay.asked == ["grants", "revoke-all \(issued[0].text)", "grants"])
        #expect(issued.map(\.pushKey) == [pushKey.text, pushKey.text] && issued[1].kinds == ["alert"])
        #expect(await accounts().update("rita").description == "nothing")
        #expect(relay.asked.count == 3)
    }

    @Test func theStateDoesNotHaveTheToken() async throws {
        let token = Data((0..<32).map { 0xA0 ^ $0 })
        _ = await accounts().update("rita", token: token)
        let data = try #require(app.phone.keychain.data.first)
        let text = String(decoding: data, as: UTF8.self)
        #expect(try text.contains(grant()) && !text.contains(ContiguousArray(token).hex))
        #expect(!text.contains(token.base64EncodedString().prefix(20)))
        #expect(Data(data).range(of: token.prefix(8)) == nil)
    }

    @Test func backgroundPushesAreAskedForIfTheAppWantsThem() async throws {
        _ = await accounts { $0.relay = PushRelay(ModelRelay.origin, allowsBackgroundPushes: true) }.update("rita")
        #expect(relay.with { $0.issued.first?.kinds } == ["alert", "background"])
    }

    @Test func onlyThePhoneRenewsAfterAWeek() async throws {
        let accounts = await registered()
        let first = try grant()
        app.wait(.days(6))
        _ = await accounts.update("rita")
        #expect(try grant() == first && relay.asked.count == 3)
        app.wait(.days(1))
        _ = await accounts.update("rita")
        let second = try grant()
        #expect(second != first && isLive(first) && relay.asked.count == 4)
        // The server may keep what it had: it ends with the account.
        try await accounts.logOut("rita")
        #expect(await eventually { !isLive(first) && !isLive(second) })
        #expect(relay.asked.suffix(2) == ["revoke \(first)", "revoke \(second)"])
    }

    @Test func aClockThatWasSetBackRenews() async throws {
        app.wait(.days(5))
        _ = await registered()
        let first = try grant()
        app.setClock(TestApp.start)
        _ = await accounts().update("rita")
        #expect(try grant() != first)
    }

    /// The server can use the next key at once. [D-52]
    @Test func theNextPushKeyGetsAGrantBeforeItIsUsed() async throws {
        let (accounts, next) = (await registered(), PushKey().publicKey)
        let first = try grant()
        server.with { $0.nextPushKeys["rita"] = next }
        app.wait(.days(1))
        #expect(await accounts.update("rita").status == .registered)
        let spare = try #require(relay.with { $0.issued.last })
        #expect(try grant() == first && spare.pushKey == next.text && spare.isLive)
        server.with { ($0.pushKeys["rita"], $0.nextPushKeys["rita"]) = (next, nil) }
        app.wait(.days(1))
        let count = relay.asked.count
        #expect(await accounts.update("rita").status == .registered)
        #expect(try grant() == spare.text && isLive(spare.text))
        #expect(await eventually { !isLive(first) })
        #expect(relay.asked.dropFirst(count) == ["revoke \(first)"])
    }

    @Test func anotherRelayHearsNothingOfTheFirst() async throws {
        _ = await registered()
        let first = try grant()
        let accounts = accounts { $0.relay = PushRelay("https://other.example.com") }
        #expect(await accounts.update("rita").problem.hasPrefix("unreachable"))
        #expect(relay.urls.last == "https://other.example.com/v1/grants")
        try await accounts.logOut("rita")
        await allTurns()
        // It would be told a grant that it has not issued.
        #expect(relay.urls.filter { $0.hasPrefix("https://other.example.com") }.count == 1 && isLive(first))
    }

    /// A server names the push key of another: it gets a grant that it cannot use, and its end is not the other's.
    @Test func aServerThatNamesAnothersPushKeyChangesNothingForIt() async throws {
        server.name(pushKey, to: "rogue")
        let accounts = accounts()
        _ = await accounts.update(["rita", "rogue"], token: TestApp.token, alertsAreShown: true)
        let (grant, stolen) = (try grant(), try grant("rogue"))
        #expect(grant != stolen && isLive(grant) && isLive(stolen))
        try await accounts.logOut("rogue")
        #expect(await eventually { !isLive(stolen) })
        #expect(isLive(grant))
    }

    @Test func aServerWithoutAPushKeyIsNoticed() async throws {
        server.name(nil, to: "rita")
        let outcome = await accounts().update("rita")
        #expect(outcome.status == .registered && outcome.notices == ["no-push-key"])
        #expect(server.record("rita")?.grant == nil && server.record("rita")?.token == nil)
    }
}
