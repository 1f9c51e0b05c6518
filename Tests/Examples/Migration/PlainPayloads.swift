import Foundation
import PushcryptApp

nonisolated class PlainAndSealed: EncryptedNotificationService {
    /// Until 2027: every provider seals by then.
    class var takesTheOldForm: Bool { Date() < Date(timeIntervalSince1970: 1_798_761_600) }

    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        configuration.mayPassInTheClear = { _ in Self.takesTheOldForm }
        return configuration
    }
}
