import Foundation
import Pushcrypt
import PushcryptKeyStore
import TestPhone
import Waiting

@testable import PushcryptService

/// A provider's server, as an app reaches it.
final class TestServer: RegistrationChannel {
    struct Refused: Error {}

    private final class State {
        var server: ModelServer
        var requests = 0
        var fails = false
        var gate: Gate?
        var gone: Set<String> = []

        init(_ server: ModelServer) { self.server = server }
    }

    let key: ProviderKey
    private let topic: Topic
    private let state: Locked<State>

    init(_ topic: Topic = TestPhone.topic) {
        (key, self.topic) = (ProviderKey(), topic)
        state = Locked(State(ModelServer(key, topic)))
    }

    /// Whether every request ends with an error.
    var fails: Bool {
        get { state.withLock { $0.fails } }
        set { state.withLock { $0.fails = newValue } }
    }

    /// The gate at which requests wait.
    var gate: Gate? {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// The accounts whose servers do not hear of ends.
    var gone: Set<String> {
        get { state.withLock { $0.gone } }
        set { state.withLock { $0.gone = newValue } }
    }

    func with<R>(_ body: (inout ModelServer) -> R) -> R { state.withLock { body(&$0.server) } }

    /// The push key that the server names to a user.
    func name(_ pushKey: SigningPublicKey?, to user: String) { with { $0.pushKeys[user] = pushKey } }

    /// The newest record of a user.
    func record(_ user: String) -> DeviceRegistration? {
        with { server in server.devices.last { $0.user == user }?.record }
    }

    /// Makes another signing key, which ends the ones before it; returns the signer.
    func signs(epoch: UInt32) throws -> EnvelopeSigner {
        let plan = CertificatePlan(epoch: epoch, floor: epoch, graceUntil: nil, expiresAt: nil)
        let signing = SigningKey()
        let certificate = try UnsignedCertificate(
            plan, for: signing.publicKey, provider: key.publicKey, topic: topic
        ).signed(by: key)
        let signer = EnvelopeSigner(verified: certificate, signing, by: key.publicKey, for: topic)
        with { $0.signer = signer }
        return signer
    }

    /// The number of requests over the app's channel.
    var requests: Int { state.withLock { $0.requests } }
    var users: [String] { with { $0.devices.map(\.user).sorted() } }

    func send(_ request: RegistrationRequest) async throws -> Data {
        let gate = state.withLock { state in
            state.requests += 1
            return state.gate
        }
        await gate?.waitUntilOpen()
        if fails { throw Refused() }
        var user: String?
        switch request.kind {
        case .register(let account): user = account
        case .end(let account): if gone.contains(account) { throw Refused() }
        }
        guard let reply = with({ $0.answer(ContiguousArray(request.body), session: user) }) else { throw Refused() }
        return Data(reply)
    }

    /// A push to a user's device.
    func seal(
        _ text: String, to user: String, attachments: [AttachmentReference] = [], from: CommunicationSender? = nil,
        answers: AnswerSecret? = nil
    ) throws -> ContiguousArray<UInt8> {
        guard let device = record(user) else { throw Refused() }
        let payload = #"{"aps":{"alert":{"title":"Title","body":"\#(text)"}},"chat":"c41"}"#
        var message = Sealer.Message(payload.utf8)
        (message.attachments, message.from, message.isAnswerable) = (attachments, from, answers != nil)
        return try Sealer(signer: with { $0.signer }, topic: topic, answers: answers).seal(
            message, to: device.publicKey, at: TestApp.start
        ).json
    }
}
