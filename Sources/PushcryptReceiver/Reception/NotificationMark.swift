package import Pushcrypt
package import PushcryptKeyStore

/// The message that a notification shows, for the phone itself: its id, its account, and until when it may be shown.
///
/// Only a receiver writes it, into a member that is reserved for the format.
package struct NotificationMark: Hashable, Sendable {
    /// The message.
    package let message: MessageMark
    /// The name of the account.
    package let account: String

    /// When the message expires.
    package let expiresAt: Timestamp

    private static let messageLength = 32

    package init(message: MessageMark, account: String, expiresAt: Timestamp) {
        (self.message, self.account, self.expiresAt) = (message, account, expiresAt)
    }

    /// The message's 32 hexadecimal digits, the milliseconds since 1970 when it expires, the name; spaces between them.
    package var text: String { "\(message.text) \(expiresAt.milliseconds) \(account)" }

    /// Parses what `text` writes; returns nil for a text of another form.
    package init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == Self.messageLength, let time = UInt64(parts[1]) else {
            return nil
        }
        self.init(
            message: MessageMark(text: String(parts[0])), account: String(parts[2]),
            expiresAt: Timestamp(milliseconds: time))
    }
}
