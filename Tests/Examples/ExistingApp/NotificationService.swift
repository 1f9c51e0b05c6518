import Foundation
import PushcryptApp

nonisolated final class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration(
            topic: try Topic("com.example.app"), appGroup: "group.com.example")
        // Step 1's date.
        configuration.passInTheClear(until: Date(timeIntervalSince1970: 3_992_025_600))
        return configuration
    }
}
