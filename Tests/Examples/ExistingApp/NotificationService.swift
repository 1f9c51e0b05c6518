import Foundation
import PushcryptApp

nonisolated final class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        // Step 1's date.
        configuration.passInTheClear(until: Date(timeIntervalSince1970: 3_992_025_600))
        return configuration
    }
}
