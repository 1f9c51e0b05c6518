import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone
import Testing
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService

/// Accounts of an app whose users have their own servers, with the publisher's relay.
@Suite(.serialized) struct RelayAccountsTests {
    private let phone: TestPhone
    private let server = TestServer()
    private let relay = TestRelay()
    private let clock = ManualClock()
    private let pushKey = PushKey().publicKey
    private static let token = Data((0..<32).map { 0xA0 ^ $0 })

    init() throws {
        phone = try TestPhone()
        try phone.keys.purgeEverything()
        server.name(pushKey, to: "rita")
    }

    private var file: URL { phone.folder.appendingPathComponent("app/enrolment.json") }

    private func accounts(
        after days: UInt64 = 0, _ change: (inout AccountSettings) -> Void = { _ in }
    ) -> PushAccounts {
        let (phone, clock, file) = (phone, clock, file)
        var settings = AccountSettings(
            directory: { phone.directory }, topic: { TestPhone.topic }, trust: { .firstReply })
        settings.store = { phone.keys }
        settings.file = { EnrolmentFile(at: file) }
        (settings.clock, settings.now) = (clock, { phone.now.adding(.days(days)) })
        (settings.relay, settings.poster) = (PushRelay(ModelRelay.origin), relay)
        change(&settings)
        return PushAccounts(settings, channel: server)
    }

    private func update(
        _ accounts: PushAccounts, _ names: [String] = ["rita"], token: Data = token
    ) async -> PushAccounts.Outcome? {
        await accounts.update(names, token: token, alertsAreShown: true)["rita"]
    }

    private func grant(_ user: String = "rita") throws -> String {
        let grant = server.record(user)?.grant
        return try #require(grant)
    }

    private func isLive(_ grant: String) -> Bool { relay.with { $0.isLive(grant) } }

    // MARK: Grants

    @Test func aServerGetsAGrantAndNeverTheToken() async throws {
        let outcome = await update(accounts())
        #expect(outcome?.status == .registered && outcome?.notices == [])
        #expect(
            outcome?.description
                == "register; acknowledged; register-again(provider-changed, grant-changed); acknowledged")
        // What an earlier installation has left ends first.
        #expect(relay.asked == ["revoke", "grants"])
        let record = try #require(server.record("rita"))
        #expect(record.token == nil && record.environment == nil)
        let grant = try grant()
        #expect(relay.with { $0.issued.map(\.text) } == [grant] && isLive(grant))
        #expect(
            relay.with { $0.issued.first?.pushKey } == pushKey.text
                && relay.with { $0.issued.first?.kinds } == ["alert"])
        #expect(await update(accounts())?.description == "nothing")
        #expect(relay.asked.count == 2)
    }

    @Test func theStateDoesNotHaveTheToken() async throws {
        _ = await update(accounts())
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains(try grant()) && !text.contains(ContiguousArray(Self.token).hex))
        #expect(!text.contains(Self.token.base64EncodedString().prefix(20)))
    }

    @Test func backgroundPushesAreAskedForIfTheAppWantsThem() async throws {
        _ = await update(accounts { $0.relay = PushRelay(ModelRelay.origin, allowsBackgroundPushes: true) })
        #expect(relay.with { $0.issued.first?.kinds } == ["alert", "background"])
    }

    @Test func onlyThePhoneRenewsAfterAWeek() async throws {
        _ = await update(accounts())
        let first = try grant()
        _ = await update(accounts(after: 6))
        #expect(try grant() == first && relay.asked.count == 2)
        _ = await update(accounts(after: 7))
        let second = try grant()
        #expect(second != first && relay.asked == ["revoke", "grants", "grants"])
        // The server may keep what it had: it ends with the account.
        let accounts = accounts(after: 8)
        _ = await update(accounts)
        try await accounts.logOut("rita")
        await eventually { !isLive(first) && !isLive(second) }
        #expect(relay.asked.suffix(2) == ["revoke \(first)", "revoke \(second)"])
    }

    @Test func aClockThatWasSetBackRenews() async throws {
        _ = await update(accounts(after: 5))
        let first = try grant()
        _ = await update(accounts())
        #expect(try grant() != first)
    }

    @Test func anotherTokenNeedsAnotherGrant() async throws {
        _ = await update(accounts())
        let first = try grant()
        _ = await update(accounts(), token: Data([1, 2, 3]))
        #expect(try grant() != first && relay.with { $0.issued.last?.token } == "010203")
        _ = await update(accounts { $0.environment = { .development } }, token: Data([1, 2, 3]))
        // The model is the production's.
        #expect(relay.asked == ["revoke", "grants", "grants"])
    }

    @Test func anotherPushKeyNeedsAnotherGrantAndEndsTheFirst() async throws {
        _ = await update(accounts())
        let (first, thief) = (try grant(), PushKey().publicKey)
        server.name(thief, to: "rita")
        #expect(await update(accounts(after: 1))?.status == .registered)
        #expect(try grant() != first && relay.with { $0.issued.last?.pushKey } == thief.text)
        await eventually { !isLive(first) }
        #expect(relay.asked.last == "revoke \(first)")
    }

    @Test func anotherRelayHearsNothingOfTheFirst() async throws {
        _ = await update(accounts())
        let first = try grant()
        let accounts = accounts { $0.relay = PushRelay("https://other.example.com") }
        let outcome = await update(accounts)
        guard case .unreachable = outcome?.status else { throw Unexpected(outcome) }
        #expect(relay.urls.last == "https://other.example.com/v1/grants")
        try await accounts.logOut("rita")
        await allTurns()
        // It would be told the token, and a grant that it has not issued.
        #expect(relay.urls.filter { $0.hasPrefix("https://other.example.com") }.count == 1 && isLive(first))
    }

    /// A server names the push key of another: it gets a grant that it cannot use, and its end is not the other's.
    @Test func aServerThatNamesAnothersPushKeyChangesNothingForIt() async throws {
        server.name(pushKey, to: "rogue")
        let accounts = accounts()
        _ = await update(accounts, ["rita", "rogue"])
        let (grant, stolen) = (try grant(), try grant("rogue"))
        #expect(grant != stolen && isLive(grant) && isLive(stolen))
        try await accounts.logOut("rogue")
        await eventually { !isLive(stolen) }
        #expect(isLive(grant))
    }

    @Test func aServerWithoutAPushKeyIsNoticed() async throws {
        server.name(nil, to: "rita")
        let outcome = await update(accounts())
        #expect(outcome?.status == .registered && outcome?.notices == ["no-push-key"])
        #expect(server.record("rita")?.grant == nil && server.record("rita")?.token == nil)
    }

    // MARK: Ends

    @Test func aLogOutOfflineEndsTheGrantLater() async throws {
        let accounts = accounts()
        _ = await update(accounts)
        let grant = try grant()
        relay.answers = [nil]
        try await accounts.logOut("rita")
        await eventually { relay.answers.isEmpty }
        await allTurns()
        #expect(isLive(grant))
        // Another process, with another user: it knows the token, and the state the grant.
        _ = await self.accounts().update(["rob"], token: Self.token, alertsAreShown: true)
        await eventually { !isLive(grant) }
        #expect(!isLive(grant))
        #expect(try !String(contentsOf: file, encoding: .utf8).contains(grant))
    }

    @Test func aLogOutWithoutATokenIsSaidAtTheNextUpdate() async throws {
        _ = await update(accounts())
        let grant = try grant()
        let later = accounts()
        try await later.logOut("rita")
        await eventually { server.users.isEmpty }
        #expect(isLive(grant))
        _ = await update(later, [])
        await eventually { !isLive(grant) }
        #expect(!isLive(grant))
    }

    @Test(arguments: [(400, "malformed-grant"), (403, "wrong-token")])
    func whatCanNeverEndIsForgotten(_ status: Int, _ code: String) async throws {
        let accounts = accounts()
        _ = await update(accounts)
        relay.answers = [ModelRelay.answer(status, #"{"code":"\#(code)"}"#)]
        try await accounts.logOut("rita")
        await eventually { relay.answers.isEmpty }
        _ = await update(accounts, [])
        await allTurns()
        #expect(relay.asked == ["revoke", "grants"])
    }

    /// A relay that refuses one end permanently still issues grants.
    @Test func aRefusedEndStopsNobody() async throws {
        let accounts = accounts()
        _ = await update(accounts)
        let grant = try grant()
        relay.answers = [ModelRelay.answer(403, #"{"code":"no-session"}"#)]
        try await accounts.logOut("rita")
        await eventually { relay.answers.isEmpty }
        server.name(pushKey, to: "rob")
        let rob = await accounts.update(["rob"], token: Self.token, alertsAreShown: true)["rob"]
        #expect(rob?.status == .registered)
        await eventually { !isLive(grant) }
        #expect(!isLive(grant))
    }

    @Test func aLogOutWhileTheRelayIssuesWins() async throws {
        let accounts = accounts()
        let gate = Gate()
        // The second request is for the grant.
        relay.gate = gate
        async let outcome = update(accounts)
        #expect(await gate.hasVisitors())
        try await accounts.logOut("rita")
        #expect(await outcome?.status == .loggedOut)
        gate.open()
        await eventually { server.users.isEmpty }
        #expect(try phone.keys.deviceKeys().isEmpty)
        #expect(server.record("rita") == nil)
    }

    // MARK: A new installation

    @Test func aNewInstallationGetsNoGrantBeforeTheOldOnesHaveEnded() async throws {
        relay.answers = [ModelRelay.answer(503, #"{"code":"relay-unavailable"}"#)]
        let outcome = await update(accounts())
        guard case .later(let obstacle) = outcome?.status, obstacle.code == "relay-unavailable" else {
            throw Unexpected(outcome)
        }
        #expect(server.record("rita")?.grant == nil && relay.asked.isEmpty)
        // In another process, too.
        #expect(await update(accounts())?.status == .registered)
        #expect(relay.asked == ["revoke", "grants"])
        _ = await update(accounts(after: 7))
        #expect(relay.asked == ["revoke", "grants", "grants"])
    }

    /// Two objects of the app end what they found, and the slower one ends the grant of the faster.
    @Test func aGrantThatWasEndedWithTheOthersIsForgotten() async throws {
        let (first, second, gate) = (accounts(), accounts(), Gate())
        relay.answers = [nil]
        _ = await update(first)
        relay.gate = gate
        _ = await update(second, [])
        #expect(await gate.hasVisitors())
        relay.gate = nil
        #expect(await update(first)?.status == .registered)
        let grant = try grant()
        gate.open()
        await eventually { !isLive(grant) }
        await allTurns()
        #expect(await update(first)?.status == .registered)
        let next = try self.grant()
        #expect(isLive(next) && next != grant)
    }

    @Test func aDamagedStateEndsWhatItKnewNothingOf() async throws {
        _ = await update(accounts())
        let first = try grant()
        try Data("{".utf8).write(to: file)
        #expect(await update(accounts())?.status == .registered)
        let second = try grant()
        #expect(!isLive(first) && isLive(second))
    }

    @Test func anUpdateOfTheAppThatBringsARelayEndsNothing() async throws {
        _ = await update(accounts { $0.relay = nil })
        #expect(server.record("rita")?.token == ContiguousArray(Self.token).hex)
        #expect(await update(accounts())?.status == .registered)
        #expect(relay.asked == ["grants"])
    }

    // MARK: Bad answers

    enum End: String { case later, blocked, unreachable }

    @Test(arguments: [
        (401, #"{"code":"clock","now":5}"#, End.blocked, "clock"),
        (400, #"{"code":"malformed-request"}"#, .blocked, "malformed-request"),
        (400, #"{"code":"unknown-topic"}"#, .blocked, "unknown-topic"),
        (403, #"{"code":"no-session"}"#, .blocked, "no-session"),
        (404, #"{"code":"not-found"}"#, .blocked, "not-found"),
        (405, #"{"code":"wrong-method"}"#, .blocked, "wrong-method"),
        (413, #"{"code":"too-large"}"#, .blocked, "too-large"),
        (429, #"{"code":"too-many-requests"}"#, .later, "too-many-requests"),
        (503, #"{"code":"relay-unavailable"}"#, .later, "relay-unavailable"),
        (502, "<html>Bad Gateway</html>", .unreachable, "the relay: status 502, and no JSON object"),
        (302, "", .unreachable, "the relay: status 302, and no JSON object"),
        (307, #"{"code":"moved"}"#, .unreachable, "the relay: status 307, and no code"),
        (400, #"{"code":"Not A Code"}"#, .unreachable, "the relay: status 400, and no code"),
        (400, #"{"error":"x"}"#, .unreachable, "the relay: status 400, and no code"),
        (200, "", .unreachable, "the relay: status 200, and no JSON object"),
        (200, "[]", .unreachable, "the relay: status 200, and no JSON object"),
        (200, "{}", .unreachable, "the relay: status 200, and no grant"),
        (200, #"{"grant":"a b","expires":1798761600000}"#, .unreachable, "the relay: status 200, and no grant"),
        (200, #"{"grant":"","expires":1798761600000}"#, .unreachable, "the relay: status 200, and no grant"),
        (
            200, #"{"grant":"AAAA","grant":"BBBB","expires":1798761600000}"#, .unreachable,
            "the relay: status 200, and no JSON object"
        ),
        (200, #"{"grant":"AAAA"}"#, .unreachable, "the relay: status 200, and no grant"),
        (200, #"{"grant":"AAAA","expires":-1}"#, .unreachable, "the relay: status 200, and no grant"),
        (200, #"{"grant":"AAAA","expires":1767225599999}"#, .unreachable, "the relay answers another question"),
        (204, "", .unreachable, "the relay: status 204, and no JSON object"),
    ])
    func whatTheRelayAnswersIsSaidAndAskedAgain(
        _ status: Int, _ body: String, _ end: End, _ text: String
    ) async throws {
        let accounts = accounts()
        relay.answers = [ModelRelay.answer(200, "{}"), ModelRelay.answer(status, body)]
        let outcome = await update(accounts)
        let found: (End, String)? =
            switch outcome?.status {
            case .later(let obstacle): (.later, obstacle.code)
            case .blocked(let obstacle): (.blocked, obstacle.code)
            case .unreachable(let problem): (.unreachable, problem)
            default: nil
            }
        #expect(found?.0 == end && found?.1 == text, "\(String(describing: outcome))")
        // The server knows the key, and not where to push.
        #expect(server.record("rita")?.grant == nil && server.record("rita")?.token == nil)
        #expect(await update(accounts)?.status == .registered)
        let grant = try grant()
        #expect(isLive(grant))
    }

    @Test func aGrantThatIsTooLongIsNone() async throws {
        let long = String(repeating: "A", count: 1025)
        relay.answers = [
            ModelRelay.answer(200, "{}"), ModelRelay.answer(200, #"{"grant":"\#(long)","expires":1798761600000}"#),
        ]
        #expect(await update(accounts())?.status == .unreachable("the relay: status 200, and no grant"))
    }

    @Test func aRelayThatWantsToBeLeftAloneIs() async throws {
        let now = Locked(Days(phone.now))
        let accounts = accounts { $0.now = { now.withLock { $0.now } } }
        relay.answers = [
            ModelRelay.answer(200, "{}"), ModelRelay.answer(429, #"{"code":"too-many-requests"}"#, retryAfter: "100"),
        ]
        _ = await update(accounts)
        now.withLock { $0.now = phone.now.adding(.seconds(99)) }
        let outcome = await update(accounts)
        guard case .later(let obstacle) = outcome?.status, obstacle.code == "too-many-requests" else {
            throw Unexpected(outcome)
        }
        #expect(relay.urls.count == 2)
        now.withLock { $0.now = phone.now.adding(.seconds(100)) }
        #expect(await update(accounts)?.status == .registered)
    }

    /// Nor for ever: an hour is the longest.
    @Test func aRelayCannotSilenceAPhone() async throws {
        let now = Locked(Days(phone.now))
        let accounts = accounts { $0.now = { now.withLock { $0.now } } }
        relay.answers = [
            ModelRelay.answer(200, "{}"),
            ModelRelay.answer(503, #"{"code":"relay-unavailable"}"#, retryAfter: "18446744073709551615"),
        ]
        _ = await update(accounts)
        now.withLock { $0.now = phone.now.adding(.hours(1)) }
        #expect(await update(accounts)?.status == .registered)
    }

    /// The grant that the server has still works.
    @Test func aRenewalThatFailsIsNoProblemYet() async throws {
        _ = await update(accounts())
        let first = try grant()
        relay.answers = [nil]
        #expect(await update(accounts(after: 8))?.status == .registered)
        #expect(try grant() == first && isLive(first))
        _ = await update(accounts(after: 9))
        #expect(try grant() != first)
    }

    /// One relay that hangs holds every account up once, not each of them.
    @Test func aRelayThatHangsHoldsNobodyUpTwice() async throws {
        server.name(pushKey, to: "rob")
        _ = await update(accounts(), [])
        let gate = Gate()
        relay.gate = gate
        let accounts = accounts()
        async let outcomes = accounts.update(["rita", "rob"], token: Self.token, alertsAreShown: true)
        #expect(await gate.hasVisitors())
        await eventually { server.users == ["rita", "rob"] }
        await allTurns()
        clock.advance(milliseconds: 60_000)
        for (_, outcome) in await outcomes { #expect(outcome.status == .unreachable("the relay: no answer in time")) }
        #expect(relay.urls.count == 1)
        gate.open()
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
