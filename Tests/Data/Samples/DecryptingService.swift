import UserNotifications

/// A service extension like the one in Apple's article, with a best attempt for when time runs out.
class DecryptingService: UNNotificationServiceExtension {
    var contentHandler: ((UNNotificationContent) -> Void)?
    var bestAttemptContent: UNMutableNotificationContent?
    /// Leaves the push undecided, as a slow extension does.
    var isSlow = false

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.contentHandler = contentHandler
        bestAttemptContent = (request.content.mutableCopy() as? UNMutableNotificationContent)
        guard let bestAttemptContent = bestAttemptContent, !isSlow else { return }

        if let encrypted = bestAttemptContent.userInfo["ENCRYPTED_DATA"] as? String {
            bestAttemptContent.body = decrypt(encrypted)
        } else {
            bestAttemptContent.body = "(Encrypted)"
        }
        contentHandler(bestAttemptContent)
    }

    override func serviceExtensionTimeWillExpire() {
        if let contentHandler = contentHandler, let bestAttemptContent = bestAttemptContent {
            bestAttemptContent.subtitle = "(Encrypted)"
            bestAttemptContent.body = ""
            contentHandler(bestAttemptContent)
        }
    }

    /// Simulates decryption: the sample's cipher reverses the text.
    func decrypt(_ text: String) -> String { String(text.reversed()) }
}
