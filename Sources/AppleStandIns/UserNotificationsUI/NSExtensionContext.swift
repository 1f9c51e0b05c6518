public import UIKit
public import UserNotifications

extension NSExtensionContext {
    /// The buttons under the expanded notification.
    public var notificationActions: [UNNotificationAction] {
        get { notification?.actions ?? [] }
        set { notification?.actions = newValue }
    }

    /// Opens the app, as a tap on the notification does.
    public func performNotificationDefaultAction() { notification?.requests.append(.defaultAction) }

    /// Closes the expanded notification.
    public func dismissNotificationContentExtension() { notification?.requests.append(.dismiss) }

    /// Says that media play now, so that the button pauses them.
    public func mediaPlayingStarted() { notification?.isMediaPlaying = true }

    /// Says that media are paused now, so that the button plays them.
    public func mediaPlayingPaused() { notification?.isMediaPlaying = false }

    private var notification: NotificationExtensionContext? { self as? NotificationExtensionContext }
}

/// The context that whoever plays the system gives to a content extension's view controller.
package final class NotificationExtensionContext: NSExtensionContext {
    /// What the extension asked the system for.
    package enum Request: Equatable {
        /// To open the app.
        case defaultAction
        /// To close the expanded notification.
        case dismiss
    }

    /// The buttons under the expanded notification.
    package var actions: [UNNotificationAction]
    /// What the media button shows: true for pause.
    package var isMediaPlaying = false
    /// What the extension asked the system for, in order.
    package var requests: [Request] = []

    /// Takes the category's buttons.
    package init(actions: [UNNotificationAction]) {
        self.actions = actions
        super.init()
    }
}
