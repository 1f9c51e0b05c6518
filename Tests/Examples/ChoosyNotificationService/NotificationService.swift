import PushcryptApp
import UserNotifications

nonisolated class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration(
            topic: try Topic("com.example.app"), appGroup: "group.com.example")
        configuration.mayPassInTheClear = { $0.categoryIdentifier == "NEWS" }
        configuration.texts = .localized
        configuration.change = { opened, content, _ in
            let sender = content.userInfo["from"] as? String
            content.title = sender.flatMap(AddressBook.name) ?? content.title
            return content
        }
        return configuration
    }
}
