import Foundation
import PushcryptApp
import UserNotifications
import os

/// Handles the user's response to a notification.
nonisolated enum NotificationResponses {
    /// The delegate of the notification center.
    static func responder() -> NotificationResponder {
        NotificationResponder(configuration: configuration) { try await handle($0) }
    }

    /// Handles a response. `.later` delivers it again, for example if files of the app are still locked.
    private static func handle(_ response: ReceivedResponse) async throws -> NotificationResponder.Answer {
        // Only sealed keys, or those that the app has set; `response.account` says for whom.
        let keys = response.value.customKeys
        switch response.value.action {
        case .open:
            // EDIT: show the content that the custom keys name.
            Push.log.info("opened, with \(keys.count) custom keys")
        case .custom(let action):
            // EDIT: the actions of your categories; `response.value.userText` is the user's text.
            Push.log.info("\(action, privacy: .public), with \(keys.count) custom keys")
        case .dismiss:
            // EDIT: handle a dismissal, if necessary.
            break
        }
        return .done
    }

    /// Opens a push that the extension did not open, in the same way.
    static var configuration: NotificationResponder.Configuration {
        var configuration = NotificationResponder.Configuration(opening: .init())
        // As in the extension.  // IF clear
        configuration.opening.passInTheClear(until: Date(timeIntervalSince1970: 1_814_400_000))  // IF clear
        // EDIT: what is shown while the app is open; nothing for the chat that the user sees.
        configuration.foreground = { _ in [.banner, .list, .sound, .badge] }
        configuration.observe = { Push.log.info("response: \($0, privacy: .public)") }
        return configuration
    }
}
