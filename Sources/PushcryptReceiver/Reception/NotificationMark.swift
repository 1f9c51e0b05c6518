package import PushcryptKeyStore

/// What a shown notification says of its message, for the phone itself: which one it is, and whose.
///
/// Only a receiver writes it, into a member that is reserved for the format.
package struct NotificationMark: Hashable, Sendable {
    /// The message.
    package let message: MessageMark
    /// The name of the account.
    package let account: String

    private static let messageLength = 32

    package init(message: MessageMark, account: String) {
        self.message = message
        self.account = account
    }

    /// The message's 32 hexadecimal digits, a space, the name.
    package var text: String { "\(message.text) \(account)" }

    /// Parses a text; returns nil for anything but what `text` writes.
    package init?(text: String) {
        let (message, rest) = (text.prefix(Self.messageLength), text.dropFirst(Self.messageLength))
        guard message.utf8.count == Self.messageLength, rest.first == " " else { return nil }
        self.init(message: MessageMark(text: String(message)), account: String(rest.dropFirst()))
    }
}
