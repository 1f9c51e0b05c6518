import Foundation
import PushcryptApp
import UserNotifications

nonisolated class BoxedAndSealed: EncryptedNotificationService {
    /// Until 2027: every provider seals by then.
    class var takesTheOldForm: Bool { Date() < Date(timeIntervalSince1970: 1_798_761_600) }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let keys = request.content.userInfo
        guard keys["ENCRYPTED_DATA"] == nil, Self.takesTheOldForm,
            let box = keys["box"] as? String, let text = try? SealedBox.open(box)
        else { return super.didReceive(request, withContentHandler: contentHandler) }
        let content = UNMutableNotificationContent()
        content.title = "New message"
        content.body = text
        contentHandler(content)
    }
}
