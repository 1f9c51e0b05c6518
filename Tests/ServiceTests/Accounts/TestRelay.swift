import Foundation
import Pushcrypt
import PushcryptKeyStore
import TestPhone
import Waiting

@testable import PushcryptService
@testable import Simulated

/// The web as a phone reaches it: its app's relay, and a server that pairs.
final class TestRelay: WebPosting {
    private final class State {
        var relay = ModelRelay()
        var pairing: ModelPairing?
        /// The servers at their addresses.
        var servers: [String: TestServer] = [:]
        /// The answers of somebody who knows the code.
        var forgery: (signer: EnvelopeSigner, reply: (DeviceRegistration) -> RegistrationReply)?
        /// The answers that come first, an error for nil.
        var answers: [WebAnswer?] = []
        var pairingAnswer: WebAnswer?
        var requests: [WebRequest] = []
        var gate: Gate?

        /// Returns the answer of an address's server.
        func answer(_ request: WebRequest) -> WebAnswer? {
            guard let server = servers[request.url] else { return nil }
            guard case .pairing(let sealed) = try? PhonePost(json: request.body, over: .open) else {
                return server.with { $0.answer(request.body) }.map { WebAnswer(status: 200, body: $0) }
            }
            if let forgery { return pairing?.answer(sealed, by: forgery.signer, forgery.reply) }
            return server.with { pairing?.answer(sealed, &$0) }
        }
    }

    private let state = Locked(State())

    var gate: Gate? {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// The answers to the next requests, before anyone reads them.
    var answers: [WebAnswer?] {
        get { state.withLock { $0.answers } }
        set { state.withLock { $0.answers = newValue } }
    }

    /// The answer of a code's server, instead of its own.
    var pairingAnswer: WebAnswer? {
        get { state.withLock { $0.pairingAnswer } }
        set { state.withLock { $0.pairingAnswer = newValue } }
    }

    var requests: [WebRequest] { state.withLock { $0.requests } }

    var urls: [String] { requests.map(\.url) }

    /// The posts to the addresses of codes, such as `pairing`.
    var posts: [String] {
        state.withLock { state in
            state.requests.compactMap { request in
                guard !request.url.hasPrefix(ModelRelay.origin),
                    let post = try? PhonePost(json: request.body, over: .open)
                else { return nil }
                switch post {
                case .pairing: return "pairing"
                case .hello: return "hello"
                case .answer: return "answer"
                case .record(let record):
                    if case .end = record.content { return "end" }
                    return "record"
                }
            }
        }
    }

    /// The requests to the relay, such as `grants`, `revoke GRANT` or `revoke-all GRANT`.
    var asked: [String] {
        state.withLock { state in
            state.relay.requests.map { request in
                let all = request.body["all"] == nil ? "" : "-all"
                let grant = (request.body["grant"] as? String).map { "\(all) \($0)" } ?? ""
                return request.path.dropFirst("/v1/".count) + grant
            }
        }
    }

    func with<R>(_ body: (inout ModelRelay) -> R) -> R { state.withLock { body(&$0.relay) } }

    /// Makes the code of a server, which pairs the phone of a user.
    func pairs(_ user: String, with server: TestServer, at url: String = ModelPairing.url) throws -> PairingCode {
        let pairing = try ModelPairing(server.key.publicKey, url: url, of: user)
        state.withLock { state in
            (state.pairing, state.forgery) = (pairing, nil)
            state.servers[url] = server
        }
        guard let code = PairingCode(pairing.code) else { throw Down() }
        return code
    }

    /// Places a server at an address.
    func place(_ server: TestServer, at url: String) { state.withLock { $0.servers[url] = server } }

    /// Lets somebody answer who knows the code.
    func forges(by signer: EnvelopeSigner, _ reply: @escaping (DeviceRegistration) -> RegistrationReply) {
        state.withLock { $0.forgery = (signer, reply) }
    }

    struct Down: Error {}

    func post(_ request: WebRequest) async throws -> WebAnswer {
        let gate = state.withLock { state in
            state.requests.append(request)
            return state.gate
        }
        await gate?.waitUntilOpen()
        return try state.withLock { state in
            if !state.answers.isEmpty {
                guard let answer = state.answers.removeFirst() else { throw Down() }
                return answer
            }
            if request.url.hasPrefix(ModelRelay.origin) { return state.relay.answer(request) }
            if let answer = state.pairingAnswer { return answer }
            return state.answer(request) ?? WebAnswer(status: 404, body: [])
        }
    }
}
