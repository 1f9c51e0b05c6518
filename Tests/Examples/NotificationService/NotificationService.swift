import PushcryptApp

nonisolated class NotificationService: EncryptedNotificationService {}
