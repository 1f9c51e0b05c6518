public import Foundation

/// Whether the app may show notifications.
public enum UNAuthorizationStatus: Int, Sendable {
    /// The person was not asked yet.
    case notDetermined
    /// The person said no.
    case denied
    /// The person said yes.
    case authorized
    /// Notifications come quietly until the person decides.
    case provisional
    /// An app clip may for a while.
    case ephemeral
}

/// When the text of a notification is shown.
public enum UNShowPreviewsSetting: Int, Sendable {
    /// Always.
    case always
    /// While the device is unlocked.
    case whenAuthenticated
    /// Never.
    case never
}

/// Whether one way of notifying is on.
public enum UNNotificationSetting: Int, Sendable {
    /// The app does not have it.
    case notSupported
    /// Off.
    case disabled
    /// On.
    case enabled
}

/// How an alert looks.
public enum UNAlertStyle: Int, Sendable {
    /// Not at all.
    case none
    /// A banner that goes away.
    case banner
    /// An alert that stays.
    case alert
}

/// What the app asks permission for.
public struct UNAuthorizationOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Takes the bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A number on the icon.
    public static let badge = Self(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = Self(rawValue: 1 << 1)
    /// Alerts.
    public static let alert = Self(rawValue: 1 << 2)
    /// Notifications in a car.
    public static let carPlay = Self(rawValue: 1 << 3)
    /// Sounds that are heard in silence too.
    public static let criticalAlert = Self(rawValue: 1 << 4)
    /// A button to the app's own settings.
    public static let providesAppNotificationSettings = Self(rawValue: 1 << 5)
    /// Quiet notifications without asking.
    public static let provisional = Self(rawValue: 1 << 6)
}

/// What the person has set for the app.
open class UNNotificationSettings: NSObject, NSCopying {
    /// The settings as they can be changed by whoever plays the system.
    package struct Values {
        package var authorizationStatus = UNAuthorizationStatus.notDetermined
        package var alert = UNNotificationSetting.notSupported
        package var badge = UNNotificationSetting.notSupported
        package var sound = UNNotificationSetting.notSupported
        package var criticalAlert = UNNotificationSetting.notSupported
        package var timeSensitive = UNNotificationSetting.notSupported
        package var lockScreen = UNNotificationSetting.enabled
        package var notificationCenter = UNNotificationSetting.enabled
        package var carPlay = UNNotificationSetting.notSupported
        package var alertStyle = UNAlertStyle.banner
        package var showPreviews = UNShowPreviewsSetting.always
        package var providesAppNotificationSettings = false
    }

    private let values: Values

    package init(_ values: Values) {
        self.values = values
        super.init()
    }

    /// Whether the app may show notifications.
    open var authorizationStatus: UNAuthorizationStatus { values.authorizationStatus }
    /// Whether alerts are on; when they are off, no service extension runs.
    open var alertSetting: UNNotificationSetting { values.alert }
    /// Whether the number on the icon is on.
    open var badgeSetting: UNNotificationSetting { values.badge }
    /// Whether sounds are on.
    open var soundSetting: UNNotificationSetting { values.sound }
    /// Whether sounds that are heard in silence are on.
    open var criticalAlertSetting: UNNotificationSetting { values.criticalAlert }
    /// Whether time-sensitive notifications are on.
    open var timeSensitiveSetting: UNNotificationSetting { values.timeSensitive }
    /// Whether the locked screen shows them.
    open var lockScreenSetting: UNNotificationSetting { values.lockScreen }
    /// Whether the list shows them.
    open var notificationCenterSetting: UNNotificationSetting { values.notificationCenter }
    /// Whether a car shows them.
    open var carPlaySetting: UNNotificationSetting { values.carPlay }
    /// How an alert looks.
    open var alertStyle: UNAlertStyle { values.alertStyle }
    /// When the text is shown.
    open var showPreviewsSetting: UNShowPreviewsSetting { values.showPreviews }
    /// Whether the system has a button to the app's own settings.
    open var providesAppNotificationSettings: Bool { values.providesAppNotificationSettings }

    /// Gives itself: settings cannot be changed.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
