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

/// The posts of a paired account to the address of its code, and the replies that it believes. (`Docs/FormatRecords.md`,
/// D-44 to D-52)
@Suite(.serialized, .oneAtATime) struct PairedAccountsTests {
    private let app: TestApp
    private let server: TestServer
    private let web: TestRelay

    init() throws {
        app = try TestApp()
        (server, web) = (app.server, app.web)
        server.name(PushKey().publicKey, to: "cabin")
    }

    private func update(_ accounts: PushAccounts, after days: UInt64 = 1) async -> PushAccounts.Outcome {
        app.wait(.days(days))
        return await accounts.update("cabin")
    }

    private var device: String? { server.record("cabin")?.deviceID }

    private var ends: [DeviceState.End] { get throws { try app.state.ends } }

    private var acknowledged: Timestamp? {
        get throws { try app.state.account("cabin")?.registration?.acknowledgedAt }
    }

    // MARK: Records

    /// A signing key was stolen, and the thief tells a later sequence each time.
    @Test func thereAreThreeRecordsALaunch() async throws {
        let accounts = try await app.paired()
        server.with { $0.isAlwaysLater = true }
        let before = web.posts.count
        #expect(await update(accounts).status == .refused(.staleRecord))
        #expect(web.posts.count == before + 3)
        server.with { $0.isAlwaysLater = false }
        #expect(await update(accounts).status == .registered)
    }

    /// Until the user pairs again, a record is posted at each update. [D-50]
    @Test func whoIsNotKnownSaysSo() async throws {
        let accounts = try await app.paired()
        let id = try #require(device)
        server.with { $0.remove(id) }
        for _ in 0..<2 {
            let (before, outcome) = (web.posts.count, await update(accounts, after: 0))
            if web.posts.count == before { continue }
            #expect(outcome.status == .refused(.unknownDevice) && outcome.notices == ["pair-again"])
        }
        let outcome = await update(accounts)
        #expect(outcome.status == .refused(.unknownDevice) && outcome.notices == ["pair-again"])
        #expect(await update(accounts, after: 0).notices == ["pair-again"])
        let again = await accounts.pair(try web.pairs("cabin", with: server), as: "cabin")
        #expect(again.status == .registered && again.notices == [] && device == id)
        #expect(await update(accounts).status == .registered)
    }

    /// A reply that others have signed, or nobody, changes nothing. [D-44]
    @Test(arguments: [(200, "{}"), (200, ""), (404, ""), (500, "x"), (302, "")])
    func whatIsNotSignedIsNoReply(_ status: Int, _ body: String) async throws {
        let accounts = try await app.paired()
        let before = try acknowledged
        web.pairingAnswer = ModelRelay.answer(status, body)
        #expect(await update(accounts).problem.hasPrefix("unreachable"))
        #expect(try acknowledged == before)
        let key = try #require(server.record("cabin")?.publicKey)
        let plain = RegistrationReply(.acknowledged(key), provider: server.key.publicKey)
        web.pairingAnswer = WebAnswer(status: 200, body: plain.json)
        #expect(
            await update(accounts).status == .unreachable("the answer is not signed by the provider"))
        #expect(try acknowledged == before)
    }

    // MARK: Grants

    /// The relay has ended the grant, and a push has told the server so: the next record hears of it. [D-52]
    @Test func aGrantThatHasEndedIsFollowedByAnother() async throws {
        let accounts = try await app.paired(hasRelay: true)
        let first = try #require(server.record("cabin")?.grant)
        _ = server.with { $0.endedGrants.insert(first) }
        #expect(await update(accounts).status == .registered)
        let second = try #require(server.record("cabin")?.grant)
        #expect(second != first && web.with { $0.isLive(second) })
        #expect(try app.state.grant(of: "cabin")?.text == second)
        // The same again, for the new one.
        _ = server.with { $0.endedGrants.insert(second) }
        #expect(await update(accounts).status == .registered)
        let third = try #require(server.record("cabin")?.grant)
        #expect(![first, second].contains(third))
        #expect(await update(accounts, after: 0).description == "nothing")
    }

    // MARK: Over http [P-11]

    @Test func overHTTPAHelloComesFirst() async throws {
        let accounts = try await app.paired(at: TestApp.home)
        #expect(web.posts == ["pairing", "hello", "record"])
        #expect(await update(accounts).status == .registered)
        try await accounts.logOut("cabin")
        await eventually { server.users.isEmpty }
        #expect(web.posts == ["pairing", "hello", "record", "hello", "record", "hello", "end"])
    }

    /// The address is a stranger's in this network: he gets nothing that is worth keeping.
    @Test func aStrangerAtTheAddressGetsNoRecord() async throws {
        let accounts = try await app.paired(at: TestApp.home)
        let stranger = TestServer()
        web.place(stranger, at: TestApp.home)
        #expect(await update(accounts).problem.hasPrefix("unreachable"))
        #expect(web.posts.suffix(2) == ["record", "hello"])
        // A redirect, a page that asks for a log-in, the hello as it came.
        for answer in [
            ModelRelay.answer(302, ""), ModelRelay.answer(200, "<html>"),
            WebAnswer(status: 200, body: RegistrationReply(.hello("AAAAAAAAAAAAAAAAAAAAAA")).json),
        ] {
            web.pairingAnswer = answer
            #expect(await update(accounts).problem.hasPrefix("unreachable"))
            #expect(web.posts.last == "hello")
        }
        web.pairingAnswer = nil
        try await accounts.logOut("cabin")
        await allTurns()
        #expect(web.posts.last == "hello" && stranger.users.isEmpty)
        #expect(try ends.count == 1)
        web.place(server, at: TestApp.home)
        await accounts.resume()
        await eventually { server.users.isEmpty }
        #expect(server.users.isEmpty && web.posts.suffix(2) == ["hello", "end"])
    }

    /// The account has logged out since, and is another device of the same server: what was signed before is not
    /// posted.
    @Test func aHelloThatIsAnsweredAfterALogOutPostsNoRecord() async throws {
        let (first, second, gate) = (try await app.paired(at: TestApp.home), app.accounts(), Gate())
        app.wait(.days(1))
        web.gate = gate
        async let outcome = first.update("cabin")
        #expect(await gate.hasVisitors())
        web.gate = nil
        // Another object of the app: the first waits with what comes next.
        try await second.logOut("cabin")
        let code = try web.pairs("cabin", with: server, at: TestApp.home)
        #expect(await second.pair(code, as: "cabin").status == .registered)
        gate.open()
        #expect(await outcome.status == .loggedOut)
        await allTurns()
        #expect(web.posts.count { $0 == "record" } == 2, "one of each device")
        withExtendedLifetime((first, second)) {}
    }

    /// The reply to one hello is none to the next.
    @Test func anOldHelloIsNotBelieved() async throws {
        let accounts = try await app.paired(at: TestApp.home)
        let old = try #require(server.with { $0.answer(PhonePost.hello(RecordNonce()).body) })
        web.pairingAnswer = WebAnswer(status: 200, body: old)
        #expect(await update(accounts).problem.hasPrefix("unreachable"))
        #expect(web.posts.last == "hello")
    }

    // MARK: Ends [D-51]

    enum Word: CaseIterable {
        case nothing, page, plain, stranger, anotherDevice, anotherEnd, stale, acknowledgement, redirect
    }

    /// Only the provider's own word ends it.
    @Test(arguments: Word.allCases) func anEndStaysUntilTheProviderHasIt(_ word: Word) async throws {
        let accounts = try await app.paired()
        let id = try #require(device)
        web.pairingAnswer = WebAnswer(status: 503, body: [])
        try await accounts.logOut("cabin")
        await allTurns()
        let end = try #require(try ends.first)
        web.pairingAnswer = try answer(word, to: end, id)
        await accounts.resume()
        await allTurns()
        #expect(try ends == [end] && server.users == ["cabin"])
        web.pairingAnswer = nil
        // In another process, too.
        let later = app.accounts()
        await later.resume()
        await eventually { (try? ends.isEmpty) == true }
        #expect(try ends == [] && server.users == [])
        withExtendedLifetime(later) {}
    }

    private func answer(_ word: Word, to end: DeviceState.End, _ id: String) throws -> WebAnswer {
        func signed(
            _ verdict: RegistrationReply.Verdict, _ asked: ContiguousArray<UInt8>? = nil, by key: ProviderKey? = nil
        ) -> WebAnswer {
            let reply = RegistrationReply(verdict, provider: server.key.publicKey)
            let signer = EnvelopeSigner(key ?? server.key)
            return WebAnswer(
                status: 200,
                body: SignedReply.body(reply, to: asked ?? end.record.asked, by: signer, for: TestPhone.topic))
        }
        return switch word {
        case .nothing: WebAnswer(status: 200, body: [])
        case .page: ModelRelay.answer(200, "<html>")
        case .plain: WebAnswer(status: 200, body: RegistrationReply(.ended(id)).json)
        case .stranger: signed(.ended(id), by: ProviderKey())
        case .anotherDevice: signed(.ended("another"))
        case .anotherEnd: signed(.ended(id), [1, 2, 3])
        case .stale: signed(.refused(.staleRecord))
        case .acknowledgement: signed(.acknowledged(try #require(server.record("cabin")?.publicKey)))
        case .redirect: WebAnswer(status: 302, body: signed(.ended(id)).body)
        }
    }

    @Test(arguments: [RegistrationReply.Refusal.unknownDevice, .badRecordSignature])
    func anEndThatTheProviderCanNeverTakeGoes(_ refusal: RegistrationReply.Refusal) async throws {
        let accounts = try await app.paired()
        var record = try #require(server.record("cabin"))
        let id = try #require(record.deviceID)
        if refusal == .unknownDevice {
            server.with { $0.remove(id) }
        } else {
            (record.updateKey, record.sequence) = (SigningKey().publicKey, 1)
            let stranger = record
            _ = server.with { $0.pair(stranger, of: "cabin") }
        }
        try await accounts.logOut("cabin")
        await eventually { (try? ends.isEmpty) == true }
        #expect(try ends == [] && web.posts.last == "end")
        #expect(server.users == (refusal == .unknownDevice ? [] : ["cabin"]))
    }

    /// The account is there again before the end has arrived: each has its device.
    @Test func anEndIsPostedAfterTheAccountHasComeBack() async throws {
        let accounts = try await app.paired()
        let first = try #require(device)
        web.pairingAnswer = WebAnswer(status: 503, body: [])
        try await accounts.logOut("cabin")
        await allTurns()
        web.pairingAnswer = nil
        _ = try await app.paired()
        await eventually { server.with { $0.devices.count } == 1 }
        #expect(server.with { $0.devices.map(\.id) } != [first] && server.users == ["cabin"])
        #expect(try ends == [])
    }
}
