import Foundation
import PushcryptApp
import PushcryptIntents  // IF communication
import os

/// Opens each push on the phone before it is shown. The system calls it on a background thread.
nonisolated final class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration { Self.opening }

    private static let log = Logger(subsystem: "com.example.app", category: "push")

    static var opening: NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration(
            topic: try Topic("com.example.app"), appGroup: "group.com.example")
        configuration.texts = .localized
        configuration.senders = .intents()  // IF communication
        // Until then anyone who has the push token can have any text shown: sealed pushes are safe all the same.  // IF clear
        configuration.passInTheClear(until: Date(timeIntervalSince1970: 1_814_400_000))  // IF clear
        // A report has the fingerprint that the provider's log has, and no content.
        configuration.observe = { Self.log.info("\($0, privacy: .public)") }
        return configuration
    }
}
