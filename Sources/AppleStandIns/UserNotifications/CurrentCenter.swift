import Foundation

// What whoever plays the system does to a center. Apps cannot see it.
extension UNUserNotificationCenter {
    @TaskLocal private static var bound: Handed<UNUserNotificationCenter>?
    private static let shared = Handed(UNUserNotificationCenter())

    /// Gives the app's center: the process has one, unless the call happens inside `withCurrent`.
    public class func current() -> UNUserNotificationCenter { (bound ?? shared).value }

    /// Makes a center the current one for a call, so that one process can hold several simulated devices.
    ///
    /// It holds for the call, the tasks that it starts, and this center's handlers; not for threads and queues of the app.
    package static func withCurrent<R>(_ center: UNUserNotificationCenter, _ body: () throws -> R) rethrows -> R {
        try $bound.withValue(Handed(center), operation: body)
    }

    /// The number on the icon.
    package var badgeCount: Int {
        get { withState { $0.badge } }
        set { withState { $0.badge = newValue } }
    }

    /// The categories that were declared.
    package var categories: Set<UNNotificationCategory> { withState { $0.categories } }

    /// The notifications in the list, the oldest first.
    package var deliveredNow: [UNNotification] { withState { $0.delivered } }

    /// What the person answers when asked for permission: yes, unless changed.
    package var authorizationAnswer: Bool {
        get { withState { $0.answer } }
        set { withState { $0.answer = newValue } }
    }

    /// What the person has set.
    package var settingValues: UNNotificationSettings.Values {
        get { withState { $0.settings } }
        set { withState { $0.settings = newValue } }
    }

    /// The app's strings in the device's language: key to format.
    package var strings: [String: String] {
        get { withState { $0.strings } }
        set { withState { $0.strings = newValue } }
    }

    /// Adds to the app's strings.
    package func addStrings(_ strings: [String: String]) { withState { $0.strings.merge(strings) { $1 } } }

    /// Puts a notification into the list, in place of one with the same request identifier.
    package func deliver(_ notification: UNNotification) { withState { $0.deliver(notification) } }
}
