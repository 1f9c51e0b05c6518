import Foundation
import ModelKeychain
import Pushcrypt
import TestPhone
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

/// The ways of an answer: the address of the code, then the relay. (`Docs/Relay.md`, The way back for answers)
@Suite(.serialized, .oneAtATime) struct AnswerDeliveryTests {
    private let app: TestApp
    private let server: TestServer
    private let web: TestRelay
    private let pushKey = PushKey().publicKey

    init() throws {
        app = try TestApp()
        (server, web) = (app.server, app.web)
        server.name(pushKey, to: "cabin")
    }

    private var left: [String] { web.with { $0.left.map { "\($0.pushKey) \($0.text)" } } }

    @Test func aServerThatIsThereGetsIt() async throws {
        let accounts = try await app.paired(hasRelay: true)
        #expect(await accounts.send(answer: "AQ", of: "cabin") == .delivered)
        #expect(web.posts.suffix(2) == ["record", "answer"] && left.isEmpty)
    }

    /// Something else at the server's address may answer 200 with a page.
    @Test(arguments: [nil, WebAnswer(status: 503, body: []), WebAnswer(status: 200, body: [0x3C])])
    func theRelayKeepsItForAServerThatIsNot(answer: WebAnswer?) async throws {
        let accounts = try await app.paired(hasRelay: true)
        web.answers = [answer]
        #expect(await accounts.send(answer: "AQ", of: "cabin") == .leftWithRelay)
        #expect(left == ["\(pushKey.text) AQ"])
    }

    /// [P-11]
    @Test func overHTTPTheServerSaysFirstThatItIsThere() async throws {
        let accounts = try await app.paired(at: TestApp.home, hasRelay: true)
        #expect(await accounts.send(answer: "AQ", of: "cabin") == .delivered)
        #expect(web.posts.suffix(2) == ["hello", "answer"] && left.isEmpty)
        // In another network the address is a stranger's.
        web.place(TestServer(), at: TestApp.home)
        #expect(await accounts.send(answer: "Ag", of: "cabin") == .leftWithRelay)
        #expect(web.posts.suffix(2) == ["answer", "hello"] && left == ["\(pushKey.text) Ag"])
        // The system gives an app 20 s for a response: the server's two posts and the relay's.
        #expect(web.requests.suffix(3).map(\.timeout).reduce(0, +) <= 15)
    }

    @Test func whatNobodyTakesStays() async throws {
        let accounts = try await app.paired(hasRelay: true)
        web.with { $0.refusals["/v1/answers"] = ModelRelay.answer(429, #"{"code":"too-many-requests"}"#) }
        web.answers = [nil]
        #expect(await accounts.send(answer: "AQ", of: "cabin") == .undelivered)
        web.with { $0.refusals = [:] }
        web.answers = [nil]
        #expect(await accounts.send(answer: "AQ", of: "nobody") == .undelivered)
        web.answers = [nil]
        let other = app.accounts { $0.relay = nil }
        #expect(await other.send(answer: "AQ", of: "cabin") == .undelivered)
        #expect(left.isEmpty)
    }
}
