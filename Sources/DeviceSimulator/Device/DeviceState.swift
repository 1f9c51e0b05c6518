public import UserNotifications

// The state that a test sets and reads. Not run on Apple systems.
extension SimulatedDevice {
    /// The user's notification settings for the app.
    public var settings: Settings {
        get {
            #if os(Linux)
                withState { $0.settings }.updated(from: center.settingValues)
            #else
                withState { $0.settings }
            #endif
        }
        set {
            withState { $0.settings = newValue }
            #if os(Linux)
                center.settingValues = newValue.applied(to: center.settingValues)
            #endif
        }
    }

    /// The lock state. A test's key store can use it to decide whether keys can be read.
    public var lockState: LockState {
        get { withState { $0.lockState } }
        set { withState { $0.lockState = newValue } }
    }

    /// Whether the app is in the foreground, where its delegate decides how to present a notification. The delegate is
    /// called only on Linux.
    public var isAppInForeground: Bool {
        get { withState { $0.isAppInForeground } }
        set { withState { $0.isAppInForeground = newValue } }
    }

    /// The properties of the app, apart from its code.
    public var app: App {
        get { withState { $0.app } }
        set {
            withState { $0.app = newValue }
            #if os(Linux)
                center.strings = newValue.strings
                // Threads that the app starts are outside `inProcess`, and look up strings there.
                UNUserNotificationCenter.current().addStrings(newValue.strings)
            #endif
        }
    }

    /// The time limits for the extension and the app.
    public var limits: Limits {
        get { withState { $0.limits } }
        set { withState { $0.limits = newValue } }
    }

    /// The number on the app's icon.
    public var badge: Int {
        get {
            #if os(Linux)
                center.badgeCount
            #else
                withState { $0.badge }
            #endif
        }
        set {
            #if os(Linux)
                center.badgeCount = newValue
            #else
                withState { $0.badge = newValue }
            #endif
        }
    }

    /// The categories that the app declares. On Apple platforms the test sets them.
    public var categories: Set<UNNotificationCategory> {
        get {
            #if os(Linux)
                center.categories
            #else
                withState { $0.categories }
            #endif
        }
        set {
            #if os(Linux)
                center.setNotificationCategories(newValue)
            #else
                withState { $0.categories = newValue }
            #endif
        }
    }

    // MARK: List

    /// The identifiers of the notifications in the list, oldest first.
    public var list: [String] { listed.map(\.identifier) }

    /// Returns the current presentation of a notification in the list; nil if it is not in the list.
    public func shown(_ identifier: String) -> Shown? {
        guard let content = content(of: identifier) else { return nil }
        var shown = presentation.text(of: content, among: count(of: content.threadIdentifier))
        shown.presentation = .list
        return shown
    }

    /// Returns the content of a notification in the list; nil if it is not in the list.
    public func content(of identifier: String) -> UNNotificationContent? {
        listed.first { $0.identifier == identifier }?.content
    }

    /// Returns the actions of a notification in the list, which are those of its category.
    public func actions(of identifier: String) -> [UNNotificationAction] {
        content(of: identifier).flatMap { category(of: $0) }?.actions ?? []
    }

    /// Removes a notification from the list.
    func remove(_ identifier: String) {
        #if os(Linux)
            center.removeDeliveredNotifications(withIdentifiers: [identifier])
        #else
            withState { $0.list.removeAll { $0.identifier == identifier } }
        #endif
    }

    /// Adds a notification to the list. It replaces one with the same identifier.
    func add(_ identifier: String, _ content: UNNotificationContent) {
        #if os(Linux)
            center.deliver(UNNotification(date: clock.date, request: request(identifier, content)))
        #else
            remove(identifier)
            withState { $0.list.append((identifier, content)) }
        #endif
    }

    private var listed: [(identifier: String, content: UNNotificationContent)] {
        #if os(Linux)
            center.deliveredNow.map { ($0.request.identifier, $0.request.content) }
        #else
            withState { $0.list }
        #endif
    }

    func count(of thread: String) -> Int { listed.count { $0.content.threadIdentifier == thread } }

    /// Category identifiers are case-sensitive.
    func category(of content: UNNotificationContent) -> UNNotificationCategory? {
        categories.first { $0.identifier == content.categoryIdentifier }
    }

    var presentation: Presentation {
        Presentation(settings: settings, lock: lockState, app: app, categories: categories)
    }
}

#if os(Linux)
    extension SimulatedDevice.Settings {
        /// Returns `values` with these settings in the terms of the stand-in.
        func applied(to values: UNNotificationSettings.Values) -> UNNotificationSettings.Values {
            var values = values
            values.authorizationStatus =
                switch permission {
                case .notAsked: .notDetermined
                case .denied: .denied
                case .provisional: .provisional
                case .allowed: .authorized
                }
            values.alert = alerts ? .enabled : .disabled
            (values.lockScreen, values.notificationCenter) = (values.alert, values.alert)
            values.sound = sounds ? .enabled : .disabled
            values.badge = badges ? .enabled : .disabled
            values.criticalAlert = criticalAlerts ? .enabled : .disabled
            values.showPreviews =
                switch previews {
                case .always: .always
                case .whenUnlocked: .whenAuthenticated
                case .never: .never
                }
            return values
        }

        /// Returns these settings with the changes from the app's request for permission.
        func updated(from values: UNNotificationSettings.Values) -> Self {
            var settings = self
            settings.permission =
                switch values.authorizationStatus {
                case .notDetermined: .notAsked
                case .denied: .denied
                case .provisional: .provisional
                case .authorized, .ephemeral: .allowed
                }
            settings.criticalAlerts = values.criticalAlert == .enabled
            return settings
        }
    }
#endif
