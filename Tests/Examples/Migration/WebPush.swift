import Foundation
import PushcryptApp
import UserNotifications

nonisolated class WebPushAndSealed: EncryptedNotificationService {
    /// Until 2027: every provider seals by then.
    class var takesTheOldForm: Bool { Date() < Date(timeIntervalSince1970: 1_798_761_600) }

    /// The extension of the last version.
    private let old = WebPushService()

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let keys = request.content.userInfo
        if keys["ENCRYPTED_DATA"] == nil, keys["web-push"] is String, Self.takesTheOldForm {
            old.didReceive(request, withContentHandler: contentHandler)
        } else {
            super.didReceive(request, withContentHandler: contentHandler)
        }
    }

    override func serviceExtensionTimeWillExpire() {
        old.serviceExtensionTimeWillExpire()
        super.serviceExtensionTimeWillExpire()
    }
}
