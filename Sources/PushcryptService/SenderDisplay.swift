package import Foundation
package import Pushcrypt
package import UserNotifications

/// Shows who a notification is from, and makes the system forget it: `SenderDisplay.intents()` of the product
/// PushcryptIntents. An app without that product does not link Intents.
///
/// Extension and app name the same one: the extension shows senders, and a log-out of ``PushAccounts`` or a withdrawal deletes
/// what the system knows of them. Not run on Apple systems.
public struct SenderDisplay: Sendable {
    /// A notification with a sender.
    package struct Message {
        package let sender: CommunicationSender
        /// The bytes of the sender's picture; nil if it has not come.
        package let avatar: Data?
        /// The mark that a withdrawal deletes.
        package let mark: String
        /// The account that a log-out deletes.
        package let account: String
    }

    /// Returns the content with the sender, which nothing may change afterwards. Tells the system of the message first, unless
    /// the last parameter is nil: it is called when the system knows.
    package let show:
        @Sendable (UNNotificationContent, Message, (@Sendable () -> Void)?) throws -> UNNotificationContent
    /// Deletes what the system keeps of messages, by their marks.
    package let deleteMessages: @Sendable ([String]) -> Void
    /// Deletes what the system keeps of an account's messages.
    package let deleteAccount: @Sendable (String) -> Void

    package init(
        show:
            @escaping @Sendable (UNNotificationContent, Message, (@Sendable () -> Void)?) throws ->
            UNNotificationContent,
        deleteMessages: @escaping @Sendable ([String]) -> Void, deleteAccount: @escaping @Sendable (String) -> Void
    ) {
        self.show = show
        self.deleteMessages = deleteMessages
        self.deleteAccount = deleteAccount
    }
}
