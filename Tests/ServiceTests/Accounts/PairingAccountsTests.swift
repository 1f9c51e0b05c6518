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

/// A phone that pairs with a server by a code on its screen.
@Suite(.serialized, .oneAtATime) struct PairingAccountsTests: RelayedTests {
    let app: TestApp
    private let web: TestRelay
    private let pushKey = PushKey().publicKey

    init() throws {
        app = try TestApp()
        web = app.web
        server.name(pushKey, to: "home")
    }

    private func pair(_ code: PairingCode, with accounts: PushAccounts) async -> PushAccounts.Outcome {
        await accounts.pair(code, as: "home")
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
        // The record, a grant, which ends what earlier installations left, another, and the record with it.
        #expect(web.urls.map { $0.split(separator: "/").last } == ["pair", "grants", "revoke", "grants", "pair"])
        let record = try #require(server.record("home"))
        let grant = try #require(record.grant)
        #expect(record.token == nil && web.with { $0.isLive(grant) })
        #expect(record.pinnedProvider == server.key.publicKey)
        #expect(try app.pins == [server.key.publicKey])
        #expect(server.requests == 0)
        // From now on to the same address.
        #expect(
            await accounts.update("home").description == "nothing")
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
        let outcome = await accounts.pair(code, as: "garden")
        #expect(outcome.status == .registered && garden.users == ["garden"] && server.users == ["home"])
        // One account's server cannot sign for the other.
        #expect(try app.state.trust(for: TestPhone.topic, account: "garden").pinned == [garden.key.publicKey])
        let trust = try app.state.trust(for: TestPhone.topic, account: "home")
        #expect(trust.pinned == [server.key.publicKey])
    }

    // MARK: Refusals

    @Test func aCodeThatNobodyKnowsPairsWithNobody() async throws {
        let code = try web.pairs("home", with: server)
        web.pairingAnswer = WebAnswer(status: 404, body: [])
        #expect(await pair(code, with: accounts()).problem == "blocked unknown-pairing")
        #expect(try app.state.accounts.isEmpty)
        // The next code is for the same name.
        web.pairingAnswer = nil
        #expect(try await pair(web.pairs("home", with: server), with: accounts()).status == .registered)
    }

    /// The first pairing may have arrived; the second says that it has not. A pairing that stood stays.
    @Test func aSecondPairingInVainLeavesWhatWasThere() async throws {
        let accounts = accounts()
        for isPaired in [false, true] {
            let code = try web.pairs("home", with: server)
            if isPaired { #expect(await pair(code, with: accounts).status == .registered) }
            web.answers = [nil]
            #expect(await pair(code, with: accounts).problem.hasPrefix("unreachable"))
            #expect(try app.state.accounts.map(\.name) == ["home"])
            web.pairingAnswer = WebAnswer(status: 404, body: [])
            #expect(await pair(code, with: accounts).problem == "blocked unknown-pairing")
            #expect(try app.state.accounts.map(\.name) == (isPaired ? ["home"] : []))
            web.pairingAnswer = nil
        }
        #expect(await accounts.update("home").status == .registered)
    }

    @Test func aCodeThatIsUsedPairsWithNobody() async throws {
        let code = try web.pairs("home", with: server)
        let other = try TestApp()
        let answers = other.accounts { ($0.relay, $0.poster) = (PushRelay(ModelRelay.origin), web) }
        #expect(await pair(code, with: answers).status == .registered)
        #expect(await pair(code, with: accounts()).problem == "blocked pairing-used")
        #expect(try app.state.accounts.isEmpty && server.users == ["home"])
    }

    /// Somebody answers who knows the code, and has another provider key. [P-8]
    @Test func aReplyWithAnotherProviderKeyIsRefused() async throws {
        let code = try web.pairs("home", with: server)
        let thief = ProviderKey()
        web.forges(by: EnvelopeSigner(thief)) {
            RegistrationReply(.acknowledged($0.publicKey), provider: thief.publicKey)
        }
        #expect(await pair(code, with: accounts()).problem == "blocked wrong-provider")
        #expect(try app.state.accounts.isEmpty)
        let next = try web.pairs("home", with: server)
        web.forges(by: EnvelopeSigner(server.key)) { RegistrationReply(.acknowledged($0.publicKey)) }
        #expect(await pair(next, with: accounts()).problem == "blocked wrong-provider")
        #expect(try app.state.accounts.isEmpty)
        // A thief who names the provider has not signed as it.
        let (last, named) = (try web.pairs("home", with: server), server.key.publicKey)
        web.forges(by: EnvelopeSigner(thief)) { RegistrationReply(.acknowledged($0.publicKey), provider: named) }
        #expect(await pair(last, with: accounts()).problem.hasPrefix("unreachable"))
        #expect(try app.state.accounts.allSatisfy { $0.pins.isEmpty })
    }

    /// The phone was paired before, and has learned that the signing key was stolen. [P-8]
    @Test func aSigningKeyThatWasReplacedPairsWithNobody() async throws {
        let stolen = try server.signs(epoch: 1)
        let accounts = accounts()
        #expect(try await pair(web.pairs("home", with: server), with: accounts).status == .registered)
        _ = try server.signs(epoch: 2)
        _ = await accounts.update("home", token: Data([9]))
        try await accounts.logOut("home")
        await eventually { server.users.isEmpty }
        let code = try web.pairs("home", with: server)
        let key = server.key.publicKey
        web.forges(by: stolen) { RegistrationReply(.acknowledged($0.publicKey), provider: key) }
        let outcome = await pair(code, with: accounts)
        #expect(outcome.problem.hasPrefix("unreachable"))
        #expect(try app.pins == [])
    }

    /// The code of a stranger for a name that the user knows.
    @Test func anAccountPairsWithItsOwnServerOnly() async throws {
        let accounts = accounts()
        _ = try await pair(web.pairs("home", with: server), with: accounts)
        let (before, stranger) = (web.urls.count, TestServer())
        #expect(try await pair(web.pairs("home", with: stranger), with: accounts).problem == "blocked wrong-provider")
        #expect(web.urls.count == before && stranger.users.isEmpty)
        #expect(try app.names == ["home"])
        #expect(try app.pins == [server.key.publicKey])
        // After a log-out it is another account.
        try await accounts.logOut("home")
        #expect(try await pair(web.pairs("home", with: stranger), with: accounts).status == .registered)
    }

    @Test func whatTheAppHasBuiltInIsNotReplaced() async throws {
        let own = ProviderKey().publicKey
        let builtIn = accounts { $0.trust = { .provider(own) } }
        #expect(try await pair(web.pairs("home", with: server), with: builtIn).problem == "blocked wrong-provider")
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
        let outcome = await pair(code, with: accounts())
        #expect(outcome.problem.hasPrefix("unreachable"))
        // The same device, so the code is still its own.
        web.pairingAnswer = nil
        #expect(await pair(code, with: accounts()).status == .registered)
    }

    /// The server is paired, and the relay is asked again by the next update.
    @Test func aRelayThatIsDownLeavesAPairedAccount() async throws {
        let code = try web.pairs("home", with: server)
        let accounts = accounts()
        web.with { $0.refusals["/v1/grants"] = ModelRelay.answer(503, #"{"code":"relay-unavailable"}"#) }
        let outcome = await pair(code, with: accounts)
        #expect(outcome.problem == "later relay-unavailable")
        #expect(try app.pins.count == 1 && server.record("home")?.grant == nil)
        web.with { $0.refusals = [:] }
        // The same code does it, too, for 10 minutes.
        #expect(await pair(code, with: accounts).status == .registered)
        #expect(server.record("home")?.grant != nil && server.requests == 0)
    }

    // MARK: In between

    /// The answer to the pairing that was logged out does not end the update of the account that is there now.
    @Test func anAnswerToAnEarlierPairingEndsNothing() async throws {
        let code = try web.pairs("home", with: server)
        let gate = Gate()
        web.gate = gate
        let accounts = accounts()
        async let first = pair(code, with: accounts)
        #expect(await gate.hasVisitors())
        try await accounts.logOut("home")
        _ = await first
        async let second = accounts.update("home")
        await allTurns()
        web.pairingAnswer = WebAnswer(status: 404, body: [])
        gate.open()
        #expect(await second.status == .registered)
        #expect(try app.names == ["home"])
    }
}
