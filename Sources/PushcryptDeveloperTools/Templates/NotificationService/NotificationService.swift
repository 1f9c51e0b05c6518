import Foundation  // IF clear
import PushcryptApp
import PushcryptIntents  // IF communication

/// Opens each push on the phone before it is shown. The system calls it on a background thread.
nonisolated final class NotificationService: EncryptedNotificationService {}  // IF !settings
// IF settings
nonisolated final class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        configuration.senders = .intents()  // IF communication
        // Until then anyone who has the push token can have any text shown: sealed pushes are safe all the same.  // IF clear
        configuration.passInTheClear(until: Date(timeIntervalSince1970: 1_814_400_000))  // IF clear
        return configuration
    }
}
// END
