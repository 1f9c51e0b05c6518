import Foundation
import PushcryptApp
import UserNotifications

/// No server has accounts: nothing comes this way.
nonisolated struct NoChannel: RegistrationChannel {
    func send(_ request: RegistrationRequest) async throws -> Data { throw CancellationError() }
}

nonisolated enum Servers {
    static let accounts = PushAccounts(
        trust: .firstReply, channel: NoChannel(), relay: PushRelay("https://push.example.com"))

    /// Adds the server whose code was scanned, if the user agrees; returns what to show.
    static func add(_ text: String, token: Data, agrees: (String) async -> Bool) async -> String? {
        guard let code = PairingCode(text) else { return "This is not a pairing code." }
        guard await agrees(code.host) else { return nil }
        switch await accounts.pair(code, as: code.host, token: token).status {
        case .registered: return "Paired with \(code.host)."
        case .unreachable, .later: return "\(code.host) does not answer now. Try again."
        case .blocked(let obstacle) where obstacle.code == "pairing-used":
            return "Another phone has paired with this code."
        case .blocked, .refused, .loggedOut: return "\(code.host) has to show another code."
        }
    }
}

nonisolated final class SelfHostedService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        configuration.change = { _, content, context in
            content.subtitle = context.account
            return content
        }
        return configuration
    }
}
