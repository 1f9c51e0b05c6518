internal import Foundation
internal import Pushcrypt
internal import PushcryptReceiver

/// A hash of an account's name, which stands for it outside the app.
struct AccountTag: Hashable, Sendable {
    /// 32 hexadecimal digits.
    let text: String

    init(of account: String) {
        let named = ContiguousArray("pushcrypt/1 account\0\(account)".utf8)
        text = ContiguousArray(SHA256.digest(named.span).prefix(16)).hex
    }
}

/// The traces of an account on a phone besides its keys: notifications on the screen, plain attachments, and the system's
/// knowledge of senders. Not run on Apple systems.
enum AccountTraces {
    /// Removes an account's traces. Waits for the system, at most a second.
    ///
    /// - Parameters:
    ///   - directory: The extension's directory in the app group; nil without one, and so without shared files.
    ///   - senders: Deletes what the system knows of senders.
    static func remove(of account: String, in directory: URL?, _ senders: SenderDisplay?) {
        let tag = AccountTag(of: account)
        senders?.deleteAccount(tag.text)
        let shared = directory.map { SharedAttachments(directory: $0) }
        NotificationList().remove(where: { $0.account.utf8.elementsEqual(account.utf8) }) {
            for identifier in $0 { shared?.remove(identifier) }
        }
        // Also those of notifications that the user has dismissed.
        shared?.remove(of: tag)
    }

    /// Removes the notifications of accounts other than these, which came while they were logged out.
    static func keep(_ accounts: Set<String>, in directory: URL) {
        let tags = Set(accounts.map(AccountTag.init(of:)))
        let shared = SharedAttachments(directory: directory)
        NotificationList().remove(where: { !tags.contains(AccountTag(of: $0.account)) }) { $0.forEach(shared.remove) }
    }
}
