import Pushcrypt
import PushcryptService
import os

nonisolated class NotificationService: EncryptedNotificationService {
    // `print` is invisible in an extension.
    private static let log = Logger(subsystem: "com.example.app", category: "push")

    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration(
            topic: try Topic("com.example.app"), appGroup: "group.com.example")
        configuration.texts = .localized
        configuration.observe = { Self.log.info("\($0, privacy: .public)") }
        return configuration
    }
}
