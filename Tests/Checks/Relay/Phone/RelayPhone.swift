import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService
import UserNotifications

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A simulated phone with an app for self-hosted servers: what the library does, against a real relay and real servers.
///
///     RelayPhone RELAY TOKEN SERVERS
///
/// Reads a JSON object a line, and writes one for each: `{"pair":CODE,"as":ACCOUNT}`, `{"update":[ACCOUNT,…]}`,
/// `{"log_out":ACCOUNT}`, `{"push":PAYLOAD,"answer":ACTION}`. Accounts that were not paired are registered at `SERVERS/ACCOUNT/register`, and
/// end at `SERVERS/ACCOUNT/end`. The environment says where its keys and files are, as everywhere on Linux.
@main struct RelayPhone {
    static let group = "group.com.example"
    let accounts: PushAccounts
    let token: Data

    init(_ arguments: [String]) throws {
        let digits = Array(arguments[2])
        token = Data(
            stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) })
        accounts = PushAccounts(
            appGroup: Self.group, topic: try Topic("com.example.app"), trust: .firstReply,
            channel: Servers(address: arguments[3]), relay: PushRelay(arguments[1]))
    }

    static func main() async throws {
        let phone = try RelayPhone(CommandLine.arguments)
        while let line = readLine() {
            let asked = try JSONDecoder().decode(Asked.self, from: Data(line.utf8))
            let answer = try JSONEncoder().encode(try await phone.answer(asked))
            try FileHandle.standardOutput.write(contentsOf: answer + Data("\n".utf8))
        }
    }

    private func answer(_ asked: Asked) async throws -> [String: String] {
        if let text = asked.pair {
            guard let code = PairingCode(text) else { return ["error": "this is no code"] }
            let outcome = await accounts.pair(code, as: asked.as ?? code.host, token: token, alertsAreShown: true)
            return ["host": code.host, "outcome": "\(outcome)", "status": "\(outcome.status)"]
        }
        if let names = asked.update {
            let outcomes = await accounts.update(names, token: token, alertsAreShown: true)
            return outcomes.mapValues { "\($0)" }
        }
        if let account = asked.log_out {
            try await accounts.logOut(account)
            return [:]
        }
        return try await show(asked.push ?? "", answer: asked.answer)
    }

    private func show(_ push: String, answer action: String?) async throws -> [String: String] {
        let device = SimulatedDevice { Service() }
        let outcome = await device.push(APNsPush(json: push))
        var shown = ["title": outcome.shown?.title ?? "", "subtitle": outcome.shown?.subtitle ?? ""]
        shown["body"] = outcome.shown?.body
        if let action {
            let (answers, continuation) = AsyncStream.makeStream(of: String?.self)
            let (deliveries, delivery) = AsyncStream.makeStream(of: String.self)
            let configuration = NotificationResponder.Configuration(opening: Service().configuration)
            let responder = NotificationResponder(configuration: configuration) { [accounts] response in
                let answer = try await response.answer(with: action, using: configuration)
                continuation.yield(answer)
                guard let answer, let account = response.value.account else { return .done }
                delivery.yield("\(await accounts.send(answer: answer, of: account))")
                return .done
            }
            device.center.delegate = responder
            _ = await device.respond(.tap, to: outcome.requestIdentifier)
            continuation.finish()
            delivery.finish()
            for await answer in answers { shown["answer"] = answer }
            for await delivery in deliveries { shown["delivery"] = delivery }
        }
        return shown
    }

    private struct Asked: Decodable {
        let pair, `as`, log_out, push, answer: String?
        let update: [String]?
    }
}

/// The app's extension. It says whose each notification is. [P-10]
private final class Service: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration(
            topic: try Topic("com.example.app"), appGroup: RelayPhone.group)
        configuration.change = { _, content, context in
            content.subtitle = context.account
            return content
        }
        return configuration
    }
}

/// The app's own way to each server, besides the code.
private struct Servers: RegistrationChannel {
    let address: String

    struct Refused: Error {}

    func send(_ request: RegistrationRequest) async throws -> Data {
        let path =
            switch request.kind {
            case .register(let account): "\(account)/register"
            case .end(let account): "\(account)/end"
            }
        guard let url = URL(string: "\(address)/\(path)") else { throw Refused() }
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        post.httpBody = request.body
        let (body, response) = try await URLSession.shared.data(for: post)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw Refused() }
        return body
    }
}
