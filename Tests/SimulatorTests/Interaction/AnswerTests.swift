import DeviceSimulator
import Foundation
import ModelKeychain
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService
import TestPhone
import Testing

/// Answers that an app sends for its provider, sealed on the phone.
@Suite struct AnswerTests {
    private let secret = AnswerSecret()
    private let sent = Notebook<String>()

    /// An app that answers each response: with this action and text, or with the user's.
    private func app(_ action: String? = nil, _ text: String? = nil) throws -> RespondingPhone {
        let (box, sent) = (ConfigurationBox(), sent)
        return try RespondingPhone(
            answer: { response in
                let configuration = try #require(box.configuration.all.first)
                sent.add(try #require(try await response.answer(with: action, text: text, using: configuration)))
                return .done
            },
            changing: { configuration, _ in box.configuration.add(configuration) })
    }

    private final class ConfigurationBox: Sendable {
        let configuration = Notebook<NotificationResponder.Configuration>()
    }

    private func open(_ app: RespondingPhone) throws -> [Answer] {
        let devices = try app.phone.deviceKeys.map(\.publicKey)
        let opener = AnswerOpener(topic: TestPhone.topic, secrets: [secret], devices: devices)
        return try sent.all.map { try opener.open($0, at: app.phone.now) }
    }

    @Test func theProviderGetsWhatTheUserTyped() async throws {
        let app = try app()
        try await app.show(answers: secret)
        #expect(await app.respond(.write("On my way", action: "REPLY")).completions == 1)
        let answers = try open(app)
        #expect(answers.map(\.action) == ["REPLY"])
        #expect(answers.map(\.text) == ["On my way"])
        #expect(app.keys == [["chat": "c41"]])
        #expect(app.reports.all.map(\.outcome) == [.done])
        // Nothing is left of it.
        let response = try #require(app.received.all.first)
        #expect(try await response.answer(using: app.configuration) == nil)
    }

    @Test func aButtonInTheAppAnswersWithItsOwnAction() async throws {
        let app = try app("CONFIRM", "twice")
        try await app.show(answers: secret)
        _ = await app.respond(.tap)
        #expect(try open(app).map(\.action) == ["CONFIRM"])
        #expect(try open(app).map(\.text) == ["twice"])
    }
}
