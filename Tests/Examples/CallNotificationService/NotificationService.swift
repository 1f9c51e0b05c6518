import CallKit
import PushcryptApp
import UserNotifications

nonisolated class NotificationService: EncryptedNotificationService {
    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        configuration.hasFilteringEntitlement = true
        configuration.change = { _, content, context in
            guard content.userInfo["call"] != nil else { return content }
            if context.isFirst {
                try await CXProvider.reportNewIncomingVoIPPushPayload(context.request.content.userInfo)
            }
            return UNNotificationContent()  // shows nothing
        }
        return configuration
    }
}
