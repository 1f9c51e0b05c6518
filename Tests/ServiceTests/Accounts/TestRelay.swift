import Foundation
import Pushcrypt
import PushcryptKeyStore
import TestPhone
import Waiting

@testable import PushcryptService

/// The web as a phone reaches it: its app's relay, and a server that pairs.
final class TestRelay: WebPosting {
    private final class State {
        var relay = ModelRelay()
        var pairing: PairingServer?
        var accept: ((DeviceRegistration) -> RegistrationReply)?
        /// The answers that come first, an error for nil.
        var answers: [WebAnswer?] = []
        var pairingAnswer: WebAnswer?
        var urls: [String] = []
        var gate: Gate?
    }

    private let state = Locked(State())

    var gate: Gate? {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// What the next requests get, before anyone reads them.
    var answers: [WebAnswer?] {
        get { state.withLock { $0.answers } }
        set { state.withLock { $0.answers = newValue } }
    }

    /// What the server of a code answers instead of pairing.
    var pairingAnswer: WebAnswer? {
        get { state.withLock { $0.pairingAnswer } }
        set { state.withLock { $0.pairingAnswer = newValue } }
    }

    var urls: [String] { state.withLock { $0.urls } }

    /// What the relay was asked, such as `grants` or `revoke GRANT`.
    var asked: [String] {
        state.withLock { state in
            state.relay.requests.map { request in
                let grant = (request.body["grant"] as? String).map { " \($0)" } ?? ""
                return request.path.dropFirst("/v1/".count) + grant
            }
        }
    }

    func with<R>(_ body: (inout ModelRelay) -> R) -> R { state.withLock { body(&$0.relay) } }

    /// Makes the code of a server, which accepts records for a user.
    func pairs(_ user: String, with server: TestServer, at url: String = PairingServer.url) throws -> PairingCode {
        let pairing = try PairingServer(server.key.publicKey, url: url, topic: TestPhone.topic)
        state.withLock { state in
            state.pairing = pairing
            state.accept = { server.accept($0, of: user) }
        }
        guard let code = PairingCode(pairing.code) else { throw Down() }
        return code
    }

    /// What the server of the code answers to records.
    func accepts(_ accept: @escaping (DeviceRegistration) -> RegistrationReply) {
        state.withLock { $0.accept = accept }
    }

    struct Down: Error {}

    func post(_ request: WebRequest) async throws -> WebAnswer {
        let gate = state.withLock { state in
            state.urls.append(request.url)
            return state.gate
        }
        await gate?.waitUntilOpen()
        return try state.withLock { state in
            if !state.answers.isEmpty {
                guard let answer = state.answers.removeFirst() else { throw Down() }
                return answer
            }
            if request.url.hasPrefix(ModelRelay.origin) { return try state.relay.answer(request) }
            if let answer = state.pairingAnswer { return answer }
            guard let accept = state.accept else { return WebAnswer(status: 404, body: []) }
            return try state.pairing?.answer(request, accept) ?? WebAnswer(status: 404, body: [])
        }
    }
}
