import Pushcrypt
import PushcryptService

nonisolated class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration(
            topic: try Topic("com.example.app"), appGroup: "group.com.example"
        ) { try SharedKeyStore.open() }
        configuration.texts = .localized
        configuration.observe = { report in print(report.code, report.milliseconds) }
        return configuration
    }
}
