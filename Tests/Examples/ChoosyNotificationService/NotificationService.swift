import PushcryptApp
import UserNotifications

nonisolated class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        configuration.mayPassInTheClear = { $0.categoryIdentifier == "NEWS" }
        configuration.change = { opened, content, _ in
            let sender = content.userInfo["from"] as? String
            content.title = sender.flatMap(AddressBook.name) ?? content.title
            return content
        }
        return configuration
    }
}
