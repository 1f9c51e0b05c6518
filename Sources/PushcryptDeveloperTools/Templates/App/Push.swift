import Foundation
import PushcryptApp
import PushcryptIntents  // IF communication
import os

/// The app's encrypted notifications.
nonisolated enum Push {
    /// Console shows it, also that of the extension: filter by the subsystem.
    static let log = Logger(subsystem: "com.example.app", category: "push")
    /// The delegate of the notification center, which does not retain it.
    static let responder = NotificationResponses.responder()
    /// At a log-out: `try await Push.accounts.logOut(user)`.
    static let accounts = PushAccounts(
        trust: .firstReply,
        senders: .intents(),  // IF communication
        channel: ServerChannel())

    /// EDIT: the ids of the users who are logged in; none before a log-in.
    static var users: [String] { ["default"] }

    /// Call it with each token from APNs.
    static func update(_ token: Data) async {
        for outcome in await accounts.update(users, token: token).values {
            log.info("registration: \(outcome, privacy: .public)")
        }
    }

    /// The outcomes of the last deliveries, without content, for a user to send: 'pushcrypt explain FILE' explains them.
    static func journal() throws -> Data {
        Data(JournalExport(try AppGroup.ofThisApp().journal().entries()).json)
    }
}

/// The way to the app's server.
nonisolated struct ServerChannel: RegistrationChannel {
    func send(_ request: RegistrationRequest) async throws -> Data {
        // EDIT: send `request.body`, which is JSON, and return the body of the answer; throw for any status but success.
        switch request.kind {
        // In the session of this account. The server: 'pushcrypt device add ID - --user USER --reply'.
        case .register(let account): throw NotConnected(reason: "no server for the registration of \(account)")
        // Without a session. The server: 'pushcrypt device accept'.
        case .end: throw NotConnected(reason: "no server for the end of a device")
        }
    }

    struct NotConnected: Error {
        let reason: String
    }
}
