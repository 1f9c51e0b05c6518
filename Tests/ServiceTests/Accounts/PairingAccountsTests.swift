import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone
import Testing
import Waiting

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService

/// A phone that pairs with a server by a code on its screen.
@Suite(.serialized) struct PairingAccountsTests {
    private let phone: TestPhone
    private let server = TestServer()
    private let web = TestRelay()
    private let clock = ManualClock()
    private let pushKey = PushKey().publicKey
    private static let token = Data([1, 2, 3])

    init() throws {
        phone = try TestPhone()
        try phone.keys.purgeEverything()
        server.name(pushKey, to: "home")
    }

    private func accounts(_ change: (inout AccountSettings) -> Void = { _ in }) -> PushAccounts {
        let (phone, clock) = (phone, clock)
        var settings = AccountSettings(
            directory: { phone.directory }, topic: { TestPhone.topic }, trust: { .firstReply })
        settings.store = { phone.keys }
        settings.file = { EnrolmentFile(at: phone.folder.appendingPathComponent("app/enrolment.json")) }
        (settings.clock, settings.now) = (clock, { phone.now })
        (settings.relay, settings.poster) = (PushRelay(ModelRelay.origin), web)
        change(&settings)
        return PushAccounts(settings, channel: server)
    }

    private func pair(_ code: PairingCode, with accounts: PushAccounts) async throws -> PushAccounts.Outcome {
        await accounts.pair(code, as: "home", token: Self.token, alertsAreShown: true)
    }

    private func isBlocked(_ outcome: PushAccounts.Outcome) -> String? {
        guard case .blocked(let obstacle) = outcome.status else { return nil }
        return obstacle.code
    }

    private var nothing: Bool {
        get throws { try phone.keys.deviceKeys().isEmpty && phone.keys.pinnedProviders().isEmpty }
    }

    // MARK: Codes

    @Test func aCodeSaysWhoseItIs() throws {
        let provider = ProviderKey().publicKey
        for (url, host) in [
            ("https://Home.Example.net/pair", "home.example.net"), ("http://192.168.1.7:8080/pair", "192.168.1.7"),
            ("https://[FE80::1]/p", "fe80::1"),
        ] {
            let code = try ModelPairing(provider, url: url).code
            #expect(PairingCode(code)?.host == host)
        }
        #expect(PairingCode("https://home.example.net/pair") == nil && PairingCode("") == nil)
        let code = try ModelPairing(provider).code
        #expect(PairingCode(code.replacingOccurrences(of: "https:", with: "http:")) == nil)
        #expect(PairingCode(code + "#x") == nil && PairingCode(String(code.dropFirst())) == nil)
        // Its secret is in no log.
        let secret = code.dropFirst("pushcrypt:1?".count).prefix(20)
        let printed = PairingCode(code).map { "\($0) \(String(reflecting: $0))" }
        #expect(printed?.contains(secret) == false)
    }

    // MARK: Pairing

    @Test func aPhonePairsAndTheServerGetsAGrant() async throws {
        let accounts = accounts()
        let outcome = try await pair(web.pairs("home", with: server), with: accounts)
        #expect(outcome.status == .registered && outcome.notices == [])
        // The record, what earlier installations left, a grant, and the record with it.
        #expect(
            web.urls.map { $0.split(separator: "/").last } == ["pair", "revoke", "grants", "pair"]
                || web.urls.map { $0.split(separator: "/").last } == ["revoke", "pair", "grants", "pair"])
        let record = try #require(server.record("home"))
        let grant = try #require(record.grant)
        #expect(record.token == nil && web.with { $0.isLive(grant) })
        #expect(record.pinnedProvider == server.key.publicKey)
        #expect(try phone.keys.pinnedProviders().map(\.key) == [server.key.publicKey])
        #expect(server.requests == 0)
        // From now on to the same address.
        #expect(
            await accounts.update(["home"], token: Self.token, alertsAreShown: true)["home"]?.description == "nothing")
        try await accounts.logOut("home")
        await eventually { !web.with { $0.isLive(grant) } && server.users.isEmpty }
        #expect(server.users.isEmpty && !web.with { $0.isLive(grant) })
        #expect(server.requests == 0 && web.posts == ["pairing", "record", "end"])
    }

    @Test func withoutARelayTheServerGetsTheToken() async throws {
        let outcome = try await pair(web.pairs("home", with: server), with: accounts { $0.relay = nil })
        #expect(outcome.status == .registered && server.record("home")?.token == "010203")
    }

    @Test func twoServersPairWithTwoAccounts() async throws {
        let (accounts, garden) = (accounts(), TestServer())
        _ = try await pair(web.pairs("home", with: server), with: accounts)
        let code = try web.pairs("garden", with: garden, at: "https://garden.example.net/")
        let outcome = await accounts.pair(code, as: "garden", token: Self.token, alertsAreShown: true)
        #expect(outcome.status == .registered && garden.users == ["garden"] && server.users == ["home"])
        let pins = try phone.keys.pinnedProviders().sorted { $0.account < $1.account }
        #expect(pins.map(\.account) == ["garden", "home"])
        #expect(pins.map(\.key) == [garden.key.publicKey, server.key.publicKey])
        // One account's server cannot sign for the other.
        let trust = try phone.keys.trust(for: TestPhone.topic, account: "home")
        #expect(trust.pinned == [server.key.publicKey])
    }

    // MARK: Refusals

    @Test func aCodeThatNobodyKnowsPairsWithNobody() async throws {
        let code = try web.pairs("home", with: server)
        web.pairingAnswer = WebAnswer(status: 404, body: [])
        #expect(try await isBlocked(pair(code, with: accounts())) == "unknown-pairing")
        #expect(try nothing)
        // The next code is for the same name.
        web.pairingAnswer = nil
        #expect(try await pair(web.pairs("home", with: server), with: accounts()).status == .registered)
    }

    @Test func aCodeThatIsUsedPairsWithNobody() async throws {
        let code = try web.pairs("home", with: server)
        let other = PairingAccountsPhone(try TestPhone())
        #expect(await other.pair(code, web).status == .registered)
        #expect(try await isBlocked(pair(code, with: accounts())) == "pairing-used")
        #expect(try nothing && server.users == ["home"])
    }

    /// Somebody answers who knows the code, and has another provider key. [P-8]
    @Test func aReplyWithAnotherProviderKeyIsRefused() async throws {
        let code = try web.pairs("home", with: server)
        let thief = ProviderKey()
        web.forges(by: EnvelopeSigner(thief)) {
            RegistrationReply(.acknowledged($0.publicKey), provider: thief.publicKey)
        }
        #expect(try await isBlocked(pair(code, with: accounts())) == "wrong-provider")
        #expect(try nothing)
        let next = try web.pairs("home", with: server)
        web.forges(by: EnvelopeSigner(server.key)) { RegistrationReply(.acknowledged($0.publicKey)) }
        #expect(try await isBlocked(pair(next, with: accounts())) == "wrong-provider")
        #expect(try nothing)
    }

    /// Nor somebody who knows the code, and names the provider key. [D-44]
    @Test func aReplyThatTheProviderHasNotSignedPairsWithNobody() async throws {
        let code = try web.pairs("home", with: server)
        let (thief, key) = (EnvelopeSigner(ProviderKey()), server.key.publicKey)
        web.forges(by: thief) { RegistrationReply(.acknowledged($0.publicKey), provider: key) }
        let outcome = try await pair(code, with: accounts())
        guard case .unreachable(let problem) = outcome.status else { throw Unexpected(outcome) }
        #expect(problem.contains("not signed by the provider key"))
        #expect(try phone.keys.pinnedProviders() == [])
    }

    /// The phone was paired before, and has learned that the signing key was stolen. [P-8]
    @Test func aSigningKeyThatWasReplacedPairsWithNobody() async throws {
        let stolen = try server.signs(epoch: 1)
        let accounts = accounts()
        #expect(try await pair(web.pairs("home", with: server), with: accounts).status == .registered)
        _ = try server.signs(epoch: 2)
        _ = await accounts.update(["home"], token: Data([9]), alertsAreShown: true)
        try await accounts.logOut("home")
        await eventually { server.users.isEmpty }
        let code = try web.pairs("home", with: server)
        let key = server.key.publicKey
        web.forges(by: stolen) { RegistrationReply(.acknowledged($0.publicKey), provider: key) }
        let outcome = try await pair(code, with: accounts)
        guard case .unreachable = outcome.status else { throw Unexpected(outcome) }
        #expect(try phone.keys.pinnedProviders() == [])
    }

    /// The code of a stranger for a name that the user knows.
    @Test func anAccountPairsWithItsOwnServerOnly() async throws {
        let accounts = accounts()
        _ = try await pair(web.pairs("home", with: server), with: accounts)
        let (before, stranger) = (web.urls.count, TestServer())
        #expect(try await isBlocked(pair(web.pairs("home", with: stranger), with: accounts)) == "wrong-provider")
        #expect(web.urls.count == before && stranger.users.isEmpty)
        #expect(try phone.keys.deviceKeys().map(\.name) == ["home"])
        #expect(try phone.keys.pinnedProviders().map(\.key) == [server.key.publicKey])
        // After a log-out it is another account.
        try await accounts.logOut("home")
        #expect(try await pair(web.pairs("home", with: stranger), with: accounts).status == .registered)
    }

    @Test func whatTheAppHasBuiltInIsNotReplaced() async throws {
        let own = ProviderKey().publicKey
        let builtIn = accounts { $0.trust = { .provider(own) } }
        #expect(try await isBlocked(pair(web.pairs("home", with: server), with: builtIn)) == "wrong-provider")
        #expect(web.urls.isEmpty)
        let key = server.key.publicKey
        let same = accounts { $0.trust = { .provider(key) } }
        #expect(try await pair(web.pairs("home", with: server), with: same).status == .registered)
    }

    @Test(arguments: [
        (302, ""), (500, "x"), (503, ""), (200, ""), (200, "!"), (200, "AAAA"), (204, ""),
    ])
    func whatMayPassIsTriedAgainWithTheSameCode(_ status: Int, _ body: String) async throws {
        let code = try web.pairs("home", with: server)
        web.pairingAnswer = ModelRelay.answer(status, body)
        let outcome = try await pair(code, with: accounts())
        guard case .unreachable = outcome.status else { throw Unexpected(outcome) }
        // The same device, so the code is still its own.
        web.pairingAnswer = nil
        #expect(try await pair(code, with: accounts()).status == .registered)
    }

    /// The server has claimed the code, and the phone does not know.
    @Test func aLostReplyIsNoSecondPhone() async throws {
        let code = try web.pairs("home", with: server)
        let gate = Gate()
        web.gate = gate
        let accounts = accounts()
        async let outcome = pair(code, with: accounts)
        #expect(await gate.hasVisitors())
        clock.advance(milliseconds: 60_000)
        guard case .unreachable = try await outcome.status else { throw Unexpected(try await outcome) }
        gate.open()
        await eventually { server.users == ["home"] }
        web.gate = nil
        #expect(try await pair(code, with: accounts).status == .registered)
        #expect(server.users == ["home"] && server.record("home")?.grant != nil)
    }

    /// The server is paired, and the relay is asked again by the next update.
    @Test func aRelayThatIsDownLeavesAPairedAccount() async throws {
        let code = try web.pairs("home", with: server)
        let accounts = accounts()
        web.answers = []
        web.with { $0.refusal = ModelRelay.answer(503, #"{"code":"relay-unavailable"}"#) }
        let outcome = try await pair(code, with: accounts)
        guard case .later(let obstacle) = outcome.status, obstacle.code == "relay-unavailable" else {
            throw Unexpected(outcome)
        }
        #expect(try phone.keys.pinnedProviders().count == 1 && server.record("home")?.grant == nil)
        web.with { $0.refusal = nil }
        // The same code does it, too, for 10 minutes.
        #expect(try await pair(code, with: accounts).status == .registered)
        #expect(server.record("home")?.grant != nil && server.requests == 0)
    }

    // MARK: In between

    @Test func aLogOutDuringAPairingWins() async throws {
        let code = try web.pairs("home", with: server)
        let gate = Gate()
        web.gate = gate
        let accounts = accounts()
        async let outcome = pair(code, with: accounts)
        #expect(await gate.hasVisitors())
        try await accounts.logOut("home")
        #expect(try await outcome.status == .loggedOut)
        gate.open()
        await eventually { server.users.isEmpty && web.posts == ["pairing", "end"] }
        #expect(try nothing && server.users.isEmpty && server.requests == 0)
    }

    /// The answer to the pairing that was logged out does not end the update of the account that is there now.
    @Test func anAnswerToAnEarlierPairingEndsNothing() async throws {
        let code = try web.pairs("home", with: server)
        let gate = Gate()
        web.gate = gate
        let accounts = accounts()
        async let first = pair(code, with: accounts)
        #expect(await gate.hasVisitors())
        try await accounts.logOut("home")
        _ = try await first
        async let second = accounts.update(["home"], token: Self.token, alertsAreShown: true)
        await allTurns()
        web.pairingAnswer = WebAnswer(status: 404, body: [])
        gate.open()
        #expect(await second["home"]?.status == .registered)
        #expect(try phone.keys.deviceKeys().map(\.name) == ["home"])
    }

    @Test func anUpdateDuringAPairingWaits() async throws {
        let code = try web.pairs("home", with: server)
        let gate = Gate()
        web.gate = gate
        let accounts = accounts()
        async let first = pair(code, with: accounts)
        #expect(await gate.hasVisitors())
        async let second = accounts.update(["home"], token: Data([9]), alertsAreShown: true)
        await allTurns()
        gate.open()
        #expect(try await first.status == .registered)
        #expect(await second["home"]?.status == .registered)
        #expect(web.with { $0.issued.last?.token } == "09")
    }

    private struct Unexpected: Error {
        let outcome: PushAccounts.Outcome
        init(_ outcome: PushAccounts.Outcome) { self.outcome = outcome }
    }
}

/// Another phone.
private struct PairingAccountsPhone {
    let phone: TestPhone

    init(_ phone: TestPhone) { self.phone = phone }

    func pair(_ code: PairingCode, _ web: TestRelay) async -> PushAccounts.Outcome {
        let phone = phone
        try? phone.keys.purgeEverything()
        var settings = AccountSettings(
            directory: { phone.directory }, topic: { TestPhone.topic }, trust: { .firstReply })
        settings.store = { phone.keys }
        settings.file = { EnrolmentFile(at: phone.folder.appendingPathComponent("app/enrolment.json")) }
        (settings.clock, settings.now) = (ManualClock(), { phone.now })
        (settings.relay, settings.poster) = (PushRelay(ModelRelay.origin), web)
        return await PushAccounts(settings, channel: TestServer())
            .pair(code, as: "home", token: Data([7]), alertsAreShown: true)
    }
}
