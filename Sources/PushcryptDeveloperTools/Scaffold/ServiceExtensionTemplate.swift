extension IOSScaffold {
    /// The principal class of the service extension.
    var notificationService: ScaffoldFile {
        ScaffoldFile(
            path: "NotificationService/NotificationService.swift",
            text: #"""
                import Pushcrypt
                import PushcryptReceiver
                import PushcryptService

                /// Opens each push on the phone before it is shown. The system calls it away from the main thread.
                nonisolated final class NotificationService: EncryptedNotificationService {
                    override var configuration: NotificationServiceHandler.Configuration {
                        var configuration = NotificationServiceHandler.Configuration(
                            topic: try Topic("\#(topic)"), appGroup: "\#(appGroup)"
                        ) { try SharedKeyStore.open() }
                        configuration.texts = .localized
                        return configuration
                    }
                }

                """#)
    }
}
