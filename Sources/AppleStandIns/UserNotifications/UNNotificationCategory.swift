public import Foundation

/// What the system does with notifications of a category.
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Takes the bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The app hears when one is dismissed; without it, never.
    public static let customDismissAction = Self(rawValue: 1 << 0)
    /// They are shown in a car.
    public static let allowInCarPlay = Self(rawValue: 1 << 1)
    /// The title stays when previews are hidden.
    public static let hiddenPreviewsShowTitle = Self(rawValue: 1 << 2)
    /// The subtitle stays when previews are hidden.
    public static let hiddenPreviewsShowSubtitle = Self(rawValue: 1 << 3)
}

/// A kind of notification, and the buttons under it.
open class UNNotificationCategory: NSObject, NSCopying {
    /// What the payload's `category` names.
    public let identifier: String
    /// The buttons, in order.
    public let actions: [UNNotificationAction]
    /// Intents that belong to it.
    public let intentIdentifiers: [String]
    /// What the system does with it.
    public let options: UNNotificationCategoryOptions
    /// What is shown in place of the body when previews are hidden.
    public let hiddenPreviewsBodyPlaceholder: String
    /// How a group of them is summed up.
    public let categorySummaryFormat: String

    init(
        _ identifier: String, _ actions: [UNNotificationAction], _ intents: [String], _ placeholder: String,
        _ summaryFormat: String, _ options: UNNotificationCategoryOptions
    ) {
        self.identifier = identifier
        self.actions = actions
        intentIdentifiers = intents
        self.options = options
        hiddenPreviewsBodyPlaceholder = placeholder
        categorySummaryFormat = summaryFormat
        super.init()
    }

    /// Makes a category.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.init(identifier, actions, intentIdentifiers, "", "", options)
    }

    /// Makes a category with a text for hidden previews.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
    ) {
        self.init(identifier, actions, intentIdentifiers, hiddenPreviewsBodyPlaceholder, "", options)
    }

    /// Makes a category with a text for hidden previews and one for groups.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String?, categorySummaryFormat: String?,
        options: UNNotificationCategoryOptions = []
    ) {
        self.init(
            identifier, actions, intentIdentifiers, hiddenPreviewsBodyPlaceholder ?? "", categorySummaryFormat ?? "",
            options)
    }

    /// Gives itself: a category cannot be changed.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares all properties.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationCategory else { return false }
        return other.identifier == identifier && other.actions == actions && other.options == options
            && other.intentIdentifiers == intentIdentifiers && other.categorySummaryFormat == categorySummaryFormat
            && other.hiddenPreviewsBodyPlaceholder == hiddenPreviewsBodyPlaceholder
    }

    /// Hashes the identifier.
    open override var hash: Int { identifier.hashValue }
}
