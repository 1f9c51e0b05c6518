public import UIKit
public import UserNotifications

extension NSExtensionContext {
    /// The actions of the expanded notification.
    public var notificationActions: [UNNotificationAction] {
        get { notification?.actions ?? [] }
        set { notification?.actions = newValue }
    }

    /// Opens the app, as a tap on the notification does.
    public func performNotificationDefaultAction() { notification?.requests.append(.defaultAction) }

    /// Closes the expanded notification.
    public func dismissNotificationContentExtension() { notification?.requests.append(.dismiss) }

    /// Reports that media is playing, so that the button pauses it.
    public func mediaPlayingStarted() { notification?.isMediaPlaying = true }

    /// Reports that media is paused, so that the button plays it.
    public func mediaPlayingPaused() { notification?.isMediaPlaying = false }

    private var notification: NotificationExtensionContext? { self as? NotificationExtensionContext }
}

/// The context of a content extension's view controller, provided by the simulated system.
package final class NotificationExtensionContext: NSExtensionContext {
    /// A request of the extension to the system.
    package enum Request: Equatable {
        /// Open the app.
        case defaultAction
        /// Close the expanded notification.
        case dismiss
    }

    /// The actions of the expanded notification.
    package var actions: [UNNotificationAction]
    /// Whether the media button pauses.
    package var isMediaPlaying = false
    /// The requests of the extension to the system, in order.
    package var requests: [Request] = []

    /// Creates a context with the category's actions.
    package init(actions: [UNNotificationAction]) {
        self.actions = actions
        super.init()
    }
}
