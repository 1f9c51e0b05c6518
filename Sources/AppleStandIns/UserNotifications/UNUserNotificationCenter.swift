import Dispatch
public import Foundation

/// The app's interface to notifications: categories, permission, delivered notifications and the badge.
///
/// Usable on any thread, and not `Sendable`, as on Apple platforms. Handlers are called on the center's own queue.
open class UNUserNotificationCenter: NSObject {
    struct State {
        var settings = UNNotificationSettings.Values()
        var answer = true
        var categories: Set<UNNotificationCategory> = []
        var delivered: [UNNotification] = []
        var badge = 0
        var strings: [String: String] = [:]
    }

    private static let queue = DispatchQueue(label: "UNUserNotificationCenter")
    private let lock = NSLock()
    private var state = State()
    private weak var lockedDelegate: (any UNUserNotificationCenterDelegate)?

    /// Creates a separate center for a simulated device. Apps use `current()`.
    package override init() { super.init() }

    /// The delegate; a weak reference.
    open weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { lockedDelegate } }
        set { lock.withLock { lockedDelegate = newValue } }
    }

    func withState<R>(_ body: (inout State) throws -> R) rethrows -> R {
        try lock.withLock { try body(&state) }
    }

    /// Calls a handler asynchronously, on a thread where `current()` is this center.
    private func later(_ body: @escaping () -> Void) {
        let handed = Handed((self, body))
        Self.queue.async { Self.withCurrent(handed.value.0) { handed.value.1() } }
    }
}

extension UNUserNotificationCenter {
    /// Asks the user for permission, once.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let granted = withState { $0.authorize(options) }
        later { completionHandler(granted, nil) }
    }

    /// Asks the user for permission, once.
    public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        withState { $0.authorize(options) }
    }

    /// Returns the user's settings.
    public func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        let settings = UNNotificationSettings(settingValues)
        later { completionHandler(settings) }
    }

    /// Returns the user's settings.
    public func notificationSettings() async -> UNNotificationSettings { UNNotificationSettings(settingValues) }

    /// Registers all of the app's categories, replacing those registered before.
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        withState { $0.categories = categories }
    }

    /// Returns the registered categories.
    public func getNotificationCategories(completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void)
    {
        let categories = withState { $0.categories }
        later { completionHandler(categories) }
    }

    /// Returns the registered categories.
    public func notificationCategories() async -> Set<UNNotificationCategory> { withState { $0.categories } }

    /// Delivers a request immediately. Errors: `notificationsNotAllowed` without permission; `notificationInvalidNoContent`
    /// if `userInfo` is no property list.
    public func add(
        _ request: UNNotificationRequest,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let error: (any Error)?
        do {
            try withState { try $0.add(request) }
            error = nil
        } catch let thrown {
            error = thrown
        }
        if let completionHandler { later { completionHandler(error) } }
    }

    /// Delivers a request immediately. Errors: `notificationsNotAllowed` without permission; `notificationInvalidNoContent`
    /// if `userInfo` is no property list.
    public func add(_ request: UNNotificationRequest) async throws { try withState { try $0.add(request) } }

    /// Returns the notifications in the list, oldest first.
    public func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
        let delivered = deliveredNow
        later { completionHandler(delivered) }
    }

    /// Returns the notifications in the list, oldest first.
    public func deliveredNotifications() async -> [UNNotification] { deliveredNow }

    /// Removes notifications from the list.
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        withState { $0.delivered.removeAll { identifiers.contains($0.request.identifier) } }
    }

    /// Empties the list.
    public func removeAllDeliveredNotifications() { withState { $0.delivered = [] } }

    /// Sets the number on the icon. Error: `badgeInputInvalid` below zero.
    @available(iOS 16, macOS 13, tvOS 16, visionOS 1, *)
    @available(watchOS, unavailable)
    public func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let isValid = withState { $0.setBadge(newBadgeCount) }
        if let completionHandler { later { completionHandler(isValid ? nil : UNError(.badgeInputInvalid)) } }
    }

    /// Sets the number on the icon. Error: `badgeInputInvalid` below zero.
    @available(iOS 16, macOS 13, tvOS 16, visionOS 1, *)
    @available(watchOS, unavailable)
    public func setBadgeCount(_ newBadgeCount: Int) async throws {
        guard withState({ $0.setBadge(newBadgeCount) }) else { throw UNError(.badgeInputInvalid) }
    }
}

extension UNUserNotificationCenter.State {
    fileprivate mutating func authorize(_ options: UNAuthorizationOptions) -> Bool {
        guard settings.authorizationStatus == .notDetermined else {
            return settings.authorizationStatus != .denied
        }
        let isGranted = options.contains(.provisional) || answer
        settings.authorizationStatus =
            isGranted ? (options.contains(.provisional) ? .provisional : .authorized) : .denied
        let setting = isGranted ? UNNotificationSetting.enabled : .disabled
        if options.contains(.alert) { settings.alert = setting }
        if options.contains(.badge) { settings.badge = setting }
        if options.contains(.sound) { settings.sound = setting }
        if options.contains(.criticalAlert) { settings.criticalAlert = setting }
        return isGranted
    }

    fileprivate mutating func add(_ request: UNNotificationRequest) throws {
        guard settings.authorizationStatus != .denied, settings.authorizationStatus != .notDetermined else {
            throw UNError(.notificationsNotAllowed)
        }
        guard request.content.hasPropertyList else { throw UNError(.notificationInvalidNoContent) }
        deliver(UNNotification(date: Date(), request: request))
    }

    mutating func deliver(_ notification: UNNotification) {
        delivered.removeAll { $0.request.identifier == notification.request.identifier }
        delivered.append(notification)
    }

    fileprivate mutating func setBadge(_ count: Int) -> Bool {
        guard count >= 0 else { return false }
        badge = count
        return true
    }
}

/// Passes a value to another thread where its use is known to be safe.
package struct Handed<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
