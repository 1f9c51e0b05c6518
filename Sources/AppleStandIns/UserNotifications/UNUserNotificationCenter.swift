import Dispatch
public import Foundation

/// The app's side of the system's notifications: categories, permission, what was delivered, the badge.
///
/// It may be used on any thread, and is not `Sendable`, as on Apple platforms. Handlers are called on a queue of its own.
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

    /// Makes a center of its own, for a simulated device; apps use `current()`.
    package override init() { super.init() }

    /// Who hears of notifications and responses; not kept alive.
    open weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { lockedDelegate } }
        set { lock.withLock { lockedDelegate = newValue } }
    }

    /// Whether content extensions are supported: yes.
    open var supportsContentExtensions: Bool { true }

    func withState<R>(_ body: (inout State) throws -> R) rethrows -> R {
        try lock.withLock { try body(&state) }
    }

    /// Calls a handler later, on a thread where `current()` is this center.
    private func later(_ body: @escaping () -> Void) {
        let handed = Handed((self, body))
        Self.queue.async { Self.withCurrent(handed.value.0) { handed.value.1() } }
    }
}

extension UNUserNotificationCenter {
    /// Asks the person for permission, once.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let granted = withState { $0.authorize(options) }
        later { completionHandler(granted, nil) }
    }

    /// Asks the person for permission, once.
    public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        withState { $0.authorize(options) }
    }

    /// Gives what the person has set.
    public func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        let settings = UNNotificationSettings(settingValues)
        later { completionHandler(settings) }
    }

    /// Gives what the person has set.
    public func notificationSettings() async -> UNNotificationSettings { UNNotificationSettings(settingValues) }

    /// Declares all of the app's categories, in place of those declared before.
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        withState { $0.categories = categories }
    }

    /// Gives the categories that were declared.
    public func getNotificationCategories(completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void)
    {
        let categories = withState { $0.categories }
        later { completionHandler(categories) }
    }

    /// Gives the categories that were declared.
    public func notificationCategories() async -> Set<UNNotificationCategory> { withState { $0.categories } }

    /// Delivers a request at once. Error: `notificationsNotAllowed` without permission.
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

    /// Delivers a request at once. Error: `notificationsNotAllowed` without permission.
    public func add(_ request: UNNotificationRequest) async throws { try withState { try $0.add(request) } }

    /// Gives the requests that wait: none, because no trigger waits here.
    public func getPendingNotificationRequests(completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void)
    {
        later { completionHandler([]) }
    }

    /// Gives the requests that wait: none, because no trigger waits here.
    public func pendingNotificationRequests() async -> [UNNotificationRequest] { [] }

    /// Does nothing: no request waits here.
    public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {}

    /// Does nothing: no request waits here.
    public func removeAllPendingNotificationRequests() {}

    /// Gives the notifications in the list, the oldest first.
    public func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
        let delivered = deliveredNow
        later { completionHandler(delivered) }
    }

    /// Gives the notifications in the list, the oldest first.
    public func deliveredNotifications() async -> [UNNotification] { deliveredNow }

    /// Takes notifications out of the list.
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        withState { $0.delivered.removeAll { identifiers.contains($0.request.identifier) } }
    }

    /// Empties the list.
    public func removeAllDeliveredNotifications() { withState { $0.delivered = [] } }

    /// Sets the number on the icon. Error: `badgeInputInvalid` below zero.
    public func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let isValid = withState { $0.setBadge(newBadgeCount) }
        if let completionHandler { later { completionHandler(isValid ? nil : UNError(.badgeInputInvalid)) } }
    }

    /// Sets the number on the icon. Error: `badgeInputInvalid` below zero.
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
        if options.contains(.carPlay) { settings.carPlay = setting }
        if options.contains(.criticalAlert) { settings.criticalAlert = setting }
        settings.providesAppNotificationSettings = options.contains(.providesAppNotificationSettings)
        return isGranted
    }

    fileprivate mutating func add(_ request: UNNotificationRequest) throws {
        guard settings.authorizationStatus != .denied, settings.authorizationStatus != .notDetermined else {
            throw UNError(.notificationsNotAllowed)
        }
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

/// Takes a value to another thread, when it is known to be safe there.
package struct Handed<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
