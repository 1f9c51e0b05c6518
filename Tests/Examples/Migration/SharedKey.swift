import Foundation
import PushcryptApp
import UserNotifications

nonisolated class SharedKeyAndSealed: EncryptedNotificationService {
    /// Until 2027: every provider seals by then.
    class var takesTheOldForm: Bool { Date() < Date(timeIntervalSince1970: 1_798_761_600) }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        guard Self.takesTheOldForm, let content = Self.openedWithTheSharedKey(request.content) else {
            return super.didReceive(request, withContentHandler: contentHandler)
        }
        contentHandler(content)
    }

    private static func openedWithTheSharedKey(_ content: UNNotificationContent) -> UNNotificationContent? {
        let keys = content.userInfo
        guard keys["ENCRYPTED_DATA"] == nil, let cipher = keys["cipher"] as? String,
            let text = try? SharedKeyCipher.open(cipher)
        else { return nil }
        let content = UNMutableNotificationContent()
        content.title = text.title
        content.body = text.body
        return content
    }
}
