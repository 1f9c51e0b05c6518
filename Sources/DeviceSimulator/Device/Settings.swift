extension SimulatedDevice {
    /// What the person has set for the app.
    public struct Settings: Hashable, Sendable {
        /// What the person has answered when the app asked for permission.
        public enum Permission: Hashable, Sendable {
            /// Nothing: the app has not asked.
            case notAsked
            /// No.
            case denied
            /// Nothing yet: notifications come quietly, into the list.
            case provisional
            /// Yes.
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

        /// What the person has answered.
        public var permission = Permission.allowed
        /// Whether notifications are shown. The service extension runs only then.
        public var alerts = true
        /// Whether sounds are played.
        public var sounds = true
        /// Whether numbers are put on the icon.
        public var badges = true
        /// Whether the app may play critical sounds, which needs Apple's permission too.
        public var criticalAlerts = false
        /// When the text is shown.
        public var previews = Previews.always

        /// Takes what most people have.
        public init() {}

        /// Whether the text may be shown at the moment.
        func showsPreviews(_ lock: LockState) -> Bool {
            switch previews {
            case .always: true
            case .whenUnlocked: lock == .unlocked
            case .never: false
            }
        }
    }

    /// Whether the device is unlocked.
    public enum LockState: Hashable, Sendable {
        /// Started, and the passcode not entered since: no file or key that needs it can be read.
        case beforeFirstUnlock
        /// Locked again.
        case locked
        /// Unlocked.
        case unlocked
    }

    /// What the app is, apart from its code.
    public struct App: Hashable, Sendable {
        /// The name under its icon, which stands for a hidden title.
        public var name = "App"
        /// Whether it has Apple's entitlement `com.apple.developer.usernotifications.filtering`: its extension may
        /// deliver nothing, and then nothing is shown.
        public var hasFilteringEntitlement = false
        /// Its strings in the device's language: key to format. Code on threads that the extension starts itself finds
        /// those of every device of the process.
        public var strings: [String: String] = [:]

        /// Takes an app without anything special.
        public init() {}
    }

    /// How long the extension has, in milliseconds.
    public struct Limits: Hashable, Sendable {
        /// From the push to `serviceExtensionTimeWillExpire()`; 30 seconds.
        public var delivery: UInt64 = 30_000
        /// From there to the end, one second: what is delivered later is not shown.
        public var expiry: UInt64 = 1_000
        /// How long the app has to call a handler; 30 seconds.
        public var app: UInt64 = 30_000

        /// Takes about what Apple's system gives.
        public init() {}
    }
}
