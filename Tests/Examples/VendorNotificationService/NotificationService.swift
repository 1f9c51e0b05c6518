import PushcryptApp
import UserNotifications

nonisolated final class NotificationService: VendorService {
    private let handler = NotificationServiceHandler(configuration: .init())

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        if request.content.userInfo["ENCRYPTED_DATA"] == nil {
            super.didReceive(request, withContentHandler: contentHandler)
        } else {
            handler.handle(request, contentHandler: contentHandler)
        }
    }

    override func serviceExtensionTimeWillExpire() {
        super.serviceExtensionTimeWillExpire()
        handler.timeWillExpire()
    }
}
