import UserNotifications

nonisolated final class WebPushService: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let content = UNMutableNotificationContent()
        content.title = request.content.userInfo["web-push"] as? String ?? ""
        contentHandler(content)
    }
}
