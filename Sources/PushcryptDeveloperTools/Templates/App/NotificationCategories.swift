import PushcryptApp
import UserNotifications
import os

/// The kinds of notification with actions, a separate view or a text for hidden previews. The sealed payload has the
/// exact name of one as `category`.
nonisolated enum NotificationCategories {
    static var declared: CategorySet {
        get throws {
            try CategorySet([
                CategoryDeclaration(
                    "MESSAGE",
                    hiddenPreviewsBodyPlaceholder: .localized(key: "New message", arguments: []),
                    options: [.customDismissAction])
            ])
        }
    }

    /// Call it at launch.
    static func register(on center: UNUserNotificationCenter) {
        do {
            try declared.register(on: center)
        } catch {
            Push.log.error("no categories, so no actions: \(String(describing: error), privacy: .public)")
        }
    }
}
