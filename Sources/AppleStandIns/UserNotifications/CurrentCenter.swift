import Foundation

// For the simulated system. Apps cannot see it.
extension UNUserNotificationCenter {
    @TaskLocal private static var bound: Handed<UNUserNotificationCenter>?
    private static let shared = Handed(UNUserNotificationCenter())

    /// Returns the center of the process, or inside `withCurrent` the center given there.
    public class func current() -> UNUserNotificationCenter { (bound ?? shared).value }

    /// Uses a center as the current one during a call, so that one process can have several simulated devices.
    ///
    /// This applies to the call, the tasks that it starts, and this center's handlers; not to threads and queues of the
    /// app.
    package static func withCurrent<R>(_ center: UNUserNotificationCenter, _ body: () throws -> R) rethrows -> R {
        try $bound.withValue(Handed(center), operation: body)
    }

    /// The number on the app's icon.
    package var badgeCount: Int {
        get { withState { $0.badge } }
        set { withState { $0.badge = newValue } }
    }

    /// The registered categories.
    package var categories: Set<UNNotificationCategory> { withState { $0.categories } }

    /// The notifications in the list, oldest first.
    package var deliveredNow: [UNNotification] { withState { $0.delivered } }

    /// The user's answer to a request for permission; yes by default.
    package var authorizationAnswer: Bool {
        get { withState { $0.answer } }
        set { withState { $0.answer = newValue } }
    }

    /// The user's settings.
    package var settingValues: UNNotificationSettings.Values {
        get { withState { $0.settings } }
        set { withState { $0.settings = newValue } }
    }

    /// The app's strings in the device's language, from key to format.
    package var strings: [String: String] {
        get { withState { $0.strings } }
        set { withState { $0.strings = newValue } }
    }

    /// Adds to the app's strings.
    package func addStrings(_ strings: [String: String]) { withState { $0.strings.merge(strings) { $1 } } }

    /// Adds a notification to the list. It replaces one with the same request identifier.
    package func deliver(_ notification: UNNotification) { withState { $0.deliver(notification) } }
}
