import PushcryptReceiver
import PushcryptService

nonisolated class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        configuration.duplicates = .suppress
        configuration.hasFilteringEntitlement = true
        return configuration
    }
}
