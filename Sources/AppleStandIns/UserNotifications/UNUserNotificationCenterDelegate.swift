public import Foundation

/// What is shown of a notification that comes while the app is in the foreground.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Takes the bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The number on the icon.
    public static let badge = Self(rawValue: 1 << 0)
    /// The sound.
    public static let sound = Self(rawValue: 1 << 1)
    /// The alert; Apple has replaced it by `list` and `banner`.
    public static let alert = Self(rawValue: 1 << 2)
    /// An entry in the list.
    public static let list = Self(rawValue: 1 << 3)
    /// A banner.
    public static let banner = Self(rawValue: 1 << 4)
}

/// The part of an app that hears of notifications and responses.
///
/// Every method is optional: one that is left out does here what the system does in its place. Where there are two forms, an
/// app has one of them; call the one with a handler, which calls the other if that is the one that is there.
@preconcurrency
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    /// Decides what is shown of a notification that comes while the app is in the foreground; nothing, if left out.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void)

    /// Decides what is shown of a notification that comes while the app is in the foreground; nothing, if left out.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions

    /// Hears what somebody did with a notification, and must call the handler.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void)

    /// Hears what somebody did with a notification.
    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async

    /// Shows the app's own notification settings.
    func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}

extension UNUserNotificationCenterDelegate {
    /// Leaves the decision to the form without a handler.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        let delegate: any UNUserNotificationCenterDelegate = self
        let handed = Handed((delegate, center, notification))
        Task {
            let (delegate, center, notification) = handed.value
            completionHandler(await delegate.userNotificationCenter(center, willPresent: notification))
        }
    }

    /// Shows nothing.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions { [] }

    /// Leaves the response to the form without a handler.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let delegate: any UNUserNotificationCenterDelegate = self
        let handed = Handed((delegate, center, response))
        Task {
            let (delegate, center, response) = handed.value
            await delegate.userNotificationCenter(center, didReceive: response)
            completionHandler()
        }
    }

    /// Does nothing.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {}

    /// Does nothing.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
    ) {
    }
}
