extension SimulatedDevice {
    /// The user's notification settings for the app.
    public struct Settings: Hashable, Sendable {
        /// The user's answer when the app requested permission.
        public enum Permission: Hashable, Sendable {
            /// The app has not requested permission.
            case notAsked
            /// Denied.
            case denied
            /// Not decided yet: notifications are delivered quietly, to the list.
            case provisional
            /// Allowed.
            case allowed
        }

        /// When the text of a notification is shown.
        public enum Previews: Hashable, Sendable {
            /// Always.
            case always
            /// While the device is unlocked.
            case whenUnlocked
            /// Never.
            case never
        }

        /// The user's answer.
        public var permission = Permission.allowed
        /// Whether alerts are shown. The service extension runs only if they are.
        public var alerts = true
        /// Whether sounds are played.
        public var sounds = true
        /// Whether the icon shows a number.
        public var badges = true
        /// Whether the app may play critical sounds, which also needs Apple's permission.
        public var criticalAlerts = false
        /// When previews are shown.
        public var previews = Previews.always

        /// Creates the usual settings.
        public init() {}

        /// Whether the text may be shown in this lock state.
        func showsPreviews(_ lock: LockState) -> Bool {
            switch previews {
            case .always: true
            case .whenUnlocked: lock == .unlocked
            case .never: false
            }
        }
    }

    /// The lock state of a device.
    public enum LockState: Hashable, Sendable {
        /// Started, and the passcode not entered yet: protected files and keys cannot be read.
        case beforeFirstUnlock
        /// Locked again.
        case locked
        /// Unlocked.
        case unlocked
    }

    /// The properties of the app, apart from its code.
    public struct App: Hashable, Sendable {
        /// The name under its icon, which replaces a hidden title.
        public var name = "App"
        /// Whether it has Apple's entitlement `com.apple.developer.usernotifications.filtering`: if its extension
        /// delivers empty content, nothing is shown.
        public var hasFilteringEntitlement = false
        /// Its strings in the device's language, from key to format. Code on threads that the extension starts finds
        /// the strings of every device in the process.
        public var strings: [String: String] = [:]

        /// Creates an app without special properties.
        public init() {}
    }

    /// The time limits for the extension and the app, in milliseconds.
    public struct Limits: Hashable, Sendable {
        /// From the push to `serviceExtensionTimeWillExpire()`. The default is 30 seconds.
        public var delivery: UInt64 = 30_000
        /// From there to the end. A later delivery is not shown. The default is one second.
        public var expiry: UInt64 = 1_000
        /// The time for the app to call a completion handler. The default is 30 seconds.
        public var app: UInt64 = 30_000

        /// Creates limits close to those of Apple's systems.
        public init() {}
    }
}
