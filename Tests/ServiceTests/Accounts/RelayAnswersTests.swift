import Foundation
import Pushcrypt
import TestPhone
import Testing
import Waiting

@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

/// Answers of a relay that does not work, or wants to be left alone.
@Suite(.serialized, .oneAtATime) struct RelayAnswersTests: RelayedTests {
    let app: TestApp

    init() throws {
        app = try TestApp()
        for user in ["rita", "rob"] { server.name(PushKey().publicKey, to: user) }
    }

    private static func body(expires: String) -> String {
        #"{"grant":"AAAA","secret":"AAAAAAAAAAAAAAAAAAAAAA","expires":\#(expires)}"#
    }

    /// `RelayRequestTests` has more forms of an answer.
    @Test(arguments: [
        (401, #"{"code":"clock","now":5}"#, "blocked clock"),
        (400, #"{"code":"unknown-topic"}"#, "blocked unknown-topic"),
        (429, #"{"code":"too-many-requests"}"#, "later too-many-requests"),
        (503, #"{"code":"relay-unavailable"}"#, "later relay-unavailable"),
        (502, "<html>Bad Gateway</html>", "unreachable the relay: status 502, and no JSON object"),
        (302, "", "unreachable the relay: status 302, and no JSON object"),
        (400, #"{"error":"x"}"#, "unreachable the relay: status 400, and no code"),
        (200, "", "unreachable the relay: status 200, and no JSON object"),
        (200, "{}", "unreachable the relay: status 200, and no grant"),
        (200, body(expires: "1767225599999"), "unreachable the relay answers another question"),
        // Less than an hour: fetching others would never end.
        (200, body(expires: "1767229199999"), "unreachable the relay answers another question"),
    ])
    func whatTheRelayAnswersIsSaidAndAskedAgain(_ status: Int, _ body: String, _ problem: String) async throws {
        let accounts = accounts()
        relay.answers = [ModelRelay.answer(status, body)]
        #expect(await accounts.update("rita").problem == problem)
        // The server knows the key, and not where to push.
        #expect(server.record("rita")?.grant == nil && server.record("rita")?.token == nil)
        #expect(await accounts.update("rita").status == .registered)
        #expect(try isLive(grant()))
    }

    @Test func aRelayThatWantsToBeLeftAloneIs() async throws {
        let accounts = accounts()
        relay.answers = [ModelRelay.answer(429, #"{"code":"too-many-requests"}"#, retryAfter: "100")]
        _ = await accounts.update("rita")
        app.wait(.seconds(99))
        #expect(await accounts.update("rita").problem == "later too-many-requests")
        #expect(relay.urls.count == 1)
        app.wait(.seconds(1))
        #expect(await accounts.update("rita").status == .registered)
    }

    /// Nor for ever: an hour is the longest.
    @Test func aRelayCannotSilenceAPhone() async throws {
        let accounts = accounts()
        relay.answers = [
            ModelRelay.answer(503, #"{"code":"relay-unavailable"}"#, retryAfter: "18446744073709551615")
        ]
        _ = await accounts.update("rita")
        app.wait(.hours(1))
        #expect(await accounts.update("rita").status == .registered)
    }

    /// The grant that the server has still works.
    @Test func aRenewalThatFailsIsNoProblemYet() async throws {
        _ = await accounts().update("rita")
        let first = try grant()
        relay.answers = [nil]
        app.wait(.days(8))
        #expect(await accounts().update("rita").status == .registered)
        #expect(try grant() == first && isLive(first))
        _ = await accounts().update("rita")
        #expect(try grant() != first)
    }

    /// One relay that hangs holds every account up once, not each of them.
    @Test func aRelayThatHangsHoldsNobodyUpTwice() async throws {
        let (accounts, gate) = (accounts(), Gate())
        relay.gate = gate
        async let outcomes = accounts.update(["rita", "rob"], token: TestApp.token, alertsAreShown: true)
        #expect(await gate.hasVisitors())
        await eventually { server.users == ["rita", "rob"] }
        await allTurns()
        app.clock.advance(milliseconds: 60_000)
        for (_, outcome) in await outcomes { #expect(outcome.status == .unreachable("the relay: no answer in time")) }
        #expect(relay.urls.count == 1)
        gate.open()
    }

    /// The newest token is that of the phone, also for an account whose update came before: it is not held up.
    @Test func anotherTokenMeanwhileHoldsNobodyUp() async throws {
        let (accounts, gate) = (accounts(), Gate())
        relay.gate = gate
        async let rita = accounts.update("rita")
        #expect(await gate.hasVisitors())
        server.name(nil, to: "rob")
        #expect(await accounts.update("rob", token: Data([9])).status == .registered)
        gate.open()
        #expect(await rita.status == .registered)
        #expect(relay.with { $0.issued.last { $0.isLive }?.token } == "09")
    }
}
