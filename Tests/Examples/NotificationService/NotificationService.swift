import PushcryptApp

nonisolated class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        .init(topic: try Topic("com.example.app"), appGroup: "group.com.example")
    }
}
