public import Foundation

/// Whether the app may show notifications.
public enum UNAuthorizationStatus: Int, Sendable {
    /// The user was not asked yet.
    case notDetermined
    /// The user denied permission.
    case denied
    /// The user granted permission.
    case authorized
    /// Notifications are delivered quietly until the user decides.
    case provisional
    /// Permission for an app clip, for a limited time.
    @available(macOS, unavailable)
    case ephemeral
}

/// When previews are shown.
public enum UNShowPreviewsSetting: Int, Sendable {
    /// Always.
    case always
    /// While the device is unlocked.
    case whenAuthenticated
    /// Never.
    case never
}

/// The state of one setting.
public enum UNNotificationSetting: Int, Sendable {
    /// Not supported by the app.
    case notSupported
    /// Off.
    case disabled
    /// On.
    case enabled
}

/// The permissions that an app requests.
public struct UNAuthorizationOptions: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: UInt
    /// Creates a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A number on the icon.
    public static let badge = Self(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = Self(rawValue: 1 << 1)
    /// Alerts.
    public static let alert = Self(rawValue: 1 << 2)
    /// Critical alerts, which sound on a silenced device.
    public static let criticalAlert = Self(rawValue: 1 << 4)
    /// Quiet notifications without asking the user.
    public static let provisional = Self(rawValue: 1 << 6)
}

/// The user's notification settings for the app.
open class UNNotificationSettings: NSObject, NSCopying {
    /// The settings as a mutable value, for the simulated system.
    package struct Values {
        package var authorizationStatus = UNAuthorizationStatus.notDetermined
        package var alert = UNNotificationSetting.notSupported
        package var lockScreen = UNNotificationSetting.notSupported
        package var notificationCenter = UNNotificationSetting.notSupported
        package var badge = UNNotificationSetting.notSupported
        package var sound = UNNotificationSetting.notSupported
        package var criticalAlert = UNNotificationSetting.notSupported
        package var timeSensitive = UNNotificationSetting.notSupported
        package var showPreviews = UNShowPreviewsSetting.always

        package init() {}
    }

    private let values: Values

    package init(_ values: Values) {
        self.values = values
        super.init()
    }

    /// Whether the app may show notifications.
    open var authorizationStatus: UNAuthorizationStatus { values.authorizationStatus }
    /// Whether alerts are on.
    open var alertSetting: UNNotificationSetting { values.alert }
    /// Whether notifications are on the lock screen.
    open var lockScreenSetting: UNNotificationSetting { values.lockScreen }
    /// Whether notifications are in Notification Centre.
    open var notificationCenterSetting: UNNotificationSetting { values.notificationCenter }
    /// Whether badges are on.
    open var badgeSetting: UNNotificationSetting { values.badge }
    /// Whether sounds are on.
    open var soundSetting: UNNotificationSetting { values.sound }
    /// Whether critical alerts are on.
    open var criticalAlertSetting: UNNotificationSetting { values.criticalAlert }
    /// Whether time-sensitive notifications are on.
    open var timeSensitiveSetting: UNNotificationSetting { values.timeSensitive }
    /// When previews are shown.
    open var showPreviewsSetting: UNShowPreviewsSetting { values.showPreviews }

    /// Returns itself: settings are immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
