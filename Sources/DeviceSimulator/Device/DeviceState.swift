public import UserNotifications

// What a test sets and reads on a device. Not run on Apple systems.
extension SimulatedDevice {
    /// What the person has set for the app.
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
                center.settingValues = newValue.put(into: center.settingValues)
            #endif
        }
    }

    /// Whether the device is unlocked. A test's key store asks it whether keys can be read.
    public var lockState: LockState {
        get { withState { $0.lockState } }
        set { withState { $0.lockState = newValue } }
    }

    /// Whether the app is in front, so that its delegate decides what is shown. Only on Linux it is asked.
    public var isAppInForeground: Bool {
        get { withState { $0.isAppInForeground } }
        set { withState { $0.isAppInForeground = newValue } }
    }

    /// What the app is, apart from its code.
    public var app: App {
        get { withState { $0.app } }
        set {
            withState { $0.app = newValue }
            #if os(Linux)
                center.strings = newValue.strings
                // Threads that the app's code starts itself are outside `inProcess`, and look there.
                UNUserNotificationCenter.current().addStrings(newValue.strings)
            #endif
        }
    }

    /// How long the extension and the app have.
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

    /// The categories that the app has declared; on Apple platforms the test sets them.
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

    // MARK: The list

    /// The identifiers of the notifications in the list, the oldest first.
    public var list: [String] { listed.map(\.identifier) }

    /// What a notification in the list shows at the moment; nil if it is not there.
    public func shown(_ identifier: String) -> Shown? {
        guard let content = content(of: identifier) else { return nil }
        var shown = presentation.text(of: content, among: count(of: content.threadIdentifier))
        shown.places = .list
        return shown
    }

    /// The content of a notification in the list; nil if it is not there.
    public func content(of identifier: String) -> UNNotificationContent? {
        listed.first { $0.identifier == identifier }?.content
    }

    /// The actions that are offered under a notification in the list: those of its category.
    public func actions(of identifier: String) -> [UNNotificationAction] {
        content(of: identifier).flatMap { category(of: $0) }?.actions ?? []
    }

    /// Takes a notification out of the list.
    func remove(_ identifier: String) {
        #if os(Linux)
            center.removeDeliveredNotifications(withIdentifiers: [identifier])
        #else
            withState { $0.list.removeAll { $0.identifier == identifier } }
        #endif
    }

    /// Puts a notification into the list, in place of one of the same identifier.
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

    /// Categories are told apart by every character, capitals included.
    func category(of content: UNNotificationContent) -> UNNotificationCategory? {
        categories.first { $0.identifier == content.categoryIdentifier }
    }

    var presentation: Presentation {
        Presentation(settings: settings, lock: lockState, app: app, categories: categories)
    }
}

#if os(Linux)
    extension SimulatedDevice.Settings {
        /// The same in the terms of the stand-in.
        func put(into values: UNNotificationSettings.Values) -> UNNotificationSettings.Values {
            var values = values
            values.authorizationStatus =
                switch permission {
                case .notAsked: .notDetermined
                case .denied: .denied
                case .provisional: .provisional
                case .allowed: .authorized
                }
            values.alert = alerts ? .enabled : .disabled
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

        /// What the app has changed by asking for permission.
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
