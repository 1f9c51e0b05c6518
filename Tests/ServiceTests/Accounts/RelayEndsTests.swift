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

/// No grant outlives what it was for: its account, its installation, its server's push key.
@Suite(.serialized, .oneAtATime) struct RelayEndsTests: RelayedTests {
    let app: TestApp
    private let pushKey = PushKey().publicKey

    init() throws {
        app = try TestApp()
        server.name(pushKey, to: "rita")
    }

    @Test(arguments: [(400, "malformed-grant"), (403, "wrong-secret"), (410, "grant-unknown-key")])
    func whatCanNeverEndIsForgotten(_ status: Int, _ code: String) async throws {
        let accounts = await registered()
        relay.with { $0.refusals["/v1/revoke"] = ModelRelay.answer(status, #"{"code":"\#(code)"}"#) }
        try await accounts.logOut("rita")
        #expect(await eventually { (try? app.state.relay?.ended) == [] })
        await accounts.resume()
        await allTurns()
        #expect(relay.asked.count == 4)
    }

    /// A relay that refuses one end permanently still issues grants, and ends others.
    @Test func aRefusedEndStopsNobody() async throws {
        let accounts = await registered()
        let first = try grant()
        app.wait(.days(7))
        _ = await accounts.update("rita")
        let second = try grant()
        relay.with { $0.refusals["/v1/revoke"] = ModelRelay.answer(403, #"{"code":"no-session"}"#) }
        try await accounts.logOut("rita")
        await eventually { relay.asked.last == "revoke \(first)" }
        relay.with { $0.refusals = [:] }
        server.name(pushKey, to: "rob")
        #expect(await accounts.update("rob").status == .registered)
        #expect(await eventually { !isLive(first) && !isLive(second) })
        // The refused one waits.
        let ends = relay.asked.filter { $0.hasPrefix("revoke ") }
        #expect(ends == ["revoke \(first)", "revoke \(second)", "revoke \(first)"])
    }

    /// The server says so, and may be wrong: what it has still pushes, so it is ended. [D-52]
    @Test func aGrantThatAServerSaysHasEndedEnds() async throws {
        let accounts = await registered()
        let grant = try grant()
        _ = server.with { $0.endedGrants.insert(grant) }
        app.wait(.days(1))
        #expect(await accounts.update("rita").status == .registered)
        #expect(try self.grant() != grant)
        #expect(await eventually { !isLive(grant) })
    }

    // MARK: A new installation

    private func left() -> String {
        relay.with { $0.issue(ContiguousArray(TestApp.token).hex, PushKey().publicKey.text).text }
    }

    /// The end of all is repeated until the relay has it; until then the first grant does. [R-12]
    @Test func whatAnEarlierInstallationLeftEndsLaterIfTheRelayIsBusy() async throws {
        let left = left()
        relay.with { $0.refusals["/v1/revoke"] = ModelRelay.answer(503, #"{"code":"relay-unavailable"}"#) }
        _ = await registered()
        let first = try grant()
        #expect(isLive(left) && isLive(first))
        relay.with { $0.refusals = [:] }
        // In another process, too.
        _ = await registered()
        let second = try grant()
        #expect(!isLive(left) && !isLive(first) && isLive(second))
        let count = relay.asked.count
        app.wait(.days(7))
        _ = await registered()
        #expect(relay.asked.dropFirst(count) == ["grants"])
    }

    /// A grant whose key is gone has ended, and ends nothing: another one does.
    @Test func aGrantThatCannotEndTheOthersIsReplaced() async throws {
        let left = left()
        relay.with { $0.refusals["/v1/revoke"] = ModelRelay.answer(410, #"{"code":"grant-unknown-key"}"#) }
        #expect(await accounts().update("rita").problem == "later grant-unknown-key")
        relay.with { $0.refusals = [:] }
        _ = await registered()
        #expect(try !isLive(left) && isLive(grant()))
    }

    /// Two objects of the app end what they found, and the slower one ends the grant of the faster.
    @Test func aGrantThatWasEndedWithTheOthersIsReplaced() async throws {
        let (first, second, gate) = (accounts(), accounts(), Gate())
        relay.with { $0.refusals["/v1/revoke"] = ModelRelay.answer(503, #"{"code":"relay-unavailable"}"#) }
        _ = await first.update("rita")
        relay.with { $0.refusals = [:] }
        relay.gate = gate
        await second.resume()
        #expect(await gate.hasVisitors())
        relay.gate = nil
        #expect(await first.update("rita").status == .registered)
        let grant = try grant()
        gate.open()
        #expect(await eventually { !isLive(grant) })
        await allTurns()
        #expect(await first.update("rita").status == .registered)
        let next = try self.grant()
        #expect(isLive(next) && next != grant)
        withExtendedLifetime(second) {}
    }

    /// One that has come while the relay was asked may be later, or not.
    @Test func aGrantThatMayHaveEndedWithTheOthersEnds() async throws {
        _ = await registered()
        app.wait(.days(7))
        _ = await registered()
        try app.phone.keys.change { state in
            let grants = state.account("rita")?.registration?.grants ?? []
            state.noteAllEnded(Array(grants.prefix(1)))
            #expect(grants.count == 2 && state.relay?.ended == [grants[1]] && state.grant(of: "rita") == nil)
        }
    }

    /// The relay ends all grants, and its answer is lost: with the new one, nobody pushes.
    @Test func aGrantThatMayHaveEndedRegistersNobody() async throws {
        let accounts = accounts()
        let gate = Gate()
        relay.gate = gate
        async let outcome = accounts.update("rita")
        #expect(await gate.hasVisitors())
        relay.answers = [
            ModelRelay.answer(
                200,
                relay.with { relay in
                    let grant = relay.issue("010203", pushKey.text)
                    return
                        #"{"grant":"\#(grant.text)","secret":"\#(grant.secret)","expires":\#(relay.end.milliseconds)}"#
                }), nil,
        ]
        relay.gate = nil
        gate.open()
        #expect(await outcome.problem.hasPrefix("unreachable"))
        #expect(await accounts.update("rita").status == .registered)
        #expect(try isLive(grant()))
    }

    /// Another object of the app, or a state from before, has another relay: its grants are forgotten.
    @Test func anAppThatChangesItsRelayKeepsNoGrantOfTheEarlier() async throws {
        let accounts = await registered()
        let (first, gate) = (try grant(), Gate())
        let other = try #require(RelayOrigin("https://other.example.com"))
        app.wait(.days(7))
        relay.gate = gate
        async let outcome = accounts.update("rita")
        #expect(await gate.hasVisitors())
        try app.phone.keys.change { $0.use(other) }
        relay.gate = nil
        gate.open()
        #expect(await outcome.status == .registered)
        let second = try grant()
        #expect(second != first && isLive(second))
        #expect(try app.state.relay?.origin == ModelRelay.origin && app.state.grant(of: "rita")?.text == second)
    }
}
