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

struct Undecipherable: Error {}

nonisolated enum SharedKeyCipher {
    static func open(_ text: String) throws -> (title: String, body: String) {
        guard text != "no" else { throw Undecipherable() }
        return (text, "")
    }
}

nonisolated enum SealedBox {
    static func open(_ text: String) throws -> String {
        guard text != "no" else { throw Undecipherable() }
        return text
    }
}
