internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore
internal import PushcryptReceiver

extension PushAccounts {
    /// The outcome of sending a user's answer.
    public enum AnswerDelivery: Hashable, Sendable {
        /// The account's server has it.
        case delivered
        /// The relay keeps it for the server, for at most an hour; a restart of the relay loses it.
        case leftWithRelay
        /// Neither the server nor the relay has it. Return `.later` from the responder's handler to get the response again at the
        /// next launch.
        case undelivered
    }

    /// Sends the text of `response.answer(using:)` to the server that asked: to the address of the account's code, or, if that
    /// does not answer, to the publisher's relay, which cannot read it. (`Docs/Relay.md`, The way back for answers)
    ///
    /// Over http the server first shows that it is the account's. [P-11] The same text may be sent again: it is one answer.
    /// Not run on Apple systems.
    ///
    /// - Parameters:
    ///   - answer: The text, unchanged.
    ///   - account: The account that was asked: `response.value.account`.
    public func send(answer: String, of account: String) async -> AnswerDelivery {
        await registrations.send(answer: answer, of: account)
    }
}

extension AccountRegistrations {
    func send(answer text: String, of account: String) async -> PushAccounts.AnswerDelivery {
        guard let ways = await answerWays(of: account) else { return .undelivered }
        if await ways.reachServer(text) { return .delivered }
        return await ways.reachRelay(text) ? .leftWithRelay : .undelivered
    }

    /// Reads where answers go; nil if that cannot be read now.
    private func answerWays(of account: String) async -> AnswerWays? {
        await withCheckedContinuation { continuation in
            Self.queue.async { [settings] in
                continuation.resume(returning: try? AnswerWays(settings, of: account))
            }
        }
    }
}

/// The ways of an account's answers.
private struct AnswerWays: Sendable {
    private let settings: AccountSettings
    private let state: DeviceState
    private let account: String
    private let topic: Topic

    init(_ settings: AccountSettings, of account: String) throws {
        (self.settings, self.account) = (settings, account)
        (state, topic) = (try settings.store().state(), try settings.topic())
    }

    /// Posts the answer to the address of the account's code; returns whether its server has it.
    func reachServer(_ text: String) async -> Bool {
        guard let address = state.account(account)?.registration?.address else { return false }
        if let hello = Registrar.hello(to: address) {
            let reply = try? await post(PhonePost.hello(hello).body, to: address)
            let trust = state.trust(for: topic, account: account)
            // Nobody but the provider can sign it. [D-44]
            guard let reply, reply.status == 200,
                let said = SignedReply.open(
                    reply.body, to: ContiguousArray(hello.description.utf8), trusting: trust, for: topic,
                    at: settings.now()), said.verdict == .hello(hello.description)
            else { return false }
        }
        // A captive portal or a proxy's page answers 200 with a text.
        let answer = try? await post(PhonePost.answer(text).body, to: address)
        return answer?.status == 200 && answer?.body.isEmpty == true
    }

    /// Leaves the answer with the relay; returns whether it has it.
    func reachRelay(_ text: String) async -> Bool {
        guard let relay = settings.relay, let grant = state.grant(of: account) else { return false }
        let request = PhoneRequest(.answer(text, grant: grant.text, secret: grant.secret), to: relay.origin)
        guard let answer = try? await post(request.body, to: request.url) else { return false }
        return request.answer(status: answer.status, retryAfter: answer.retryAfter, body: answer.body) == .ended
    }

    /// Three posts fit into the 20 seconds that the system gives an app for a response.
    private func post(_ body: ContiguousArray<UInt8>, to address: String) async throws -> WebAnswer {
        try await settings.poster.post(WebRequest(url: address, body: body, timeout: 5))
    }
}
