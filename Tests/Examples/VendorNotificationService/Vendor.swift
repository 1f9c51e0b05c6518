import UserNotifications

nonisolated class VendorService: UNNotificationServiceExtension {}
