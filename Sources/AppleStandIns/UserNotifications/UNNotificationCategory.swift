public import Foundation

/// The options of a category.
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: UInt
    /// Creates a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The app gets a response when a notification is dismissed; otherwise never.
    public static let customDismissAction = Self(rawValue: 1 << 0)
    /// Shown in CarPlay.
    @available(macOS, unavailable)
    public static let allowInCarPlay = Self(rawValue: 1 << 1)
    /// Show the title while previews are hidden.
    public static let hiddenPreviewsShowTitle = Self(rawValue: 1 << 2)
    /// Show the subtitle while previews are hidden.
    public static let hiddenPreviewsShowSubtitle = Self(rawValue: 1 << 3)
}

/// A category of notifications, with its actions.
open class UNNotificationCategory: NSObject, NSCopying {
    /// The identifier in the payload's `category`.
    public let identifier: String
    /// The actions, in order.
    public let actions: [UNNotificationAction]
    /// The identifiers of related intents.
    public let intentIdentifiers: [String]
    /// The options.
    public let options: UNNotificationCategoryOptions
    /// The body while previews are hidden.
    public let hiddenPreviewsBodyPlaceholder: String
    /// The format of a group's summary.
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

    /// Creates a category.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.init(identifier, actions, intentIdentifiers, "", "", options)
    }

    /// Creates a category with a body for hidden previews.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
    ) {
        self.init(identifier, actions, intentIdentifiers, hiddenPreviewsBodyPlaceholder, "", options)
    }

    /// Creates a category with a body for hidden previews and a format for summaries.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String?, categorySummaryFormat: String?,
        options: UNNotificationCategoryOptions = []
    ) {
        self.init(
            identifier, actions, intentIdentifiers, hiddenPreviewsBodyPlaceholder ?? "", categorySummaryFormat ?? "",
            options)
    }

    /// Returns itself: a category is immutable.
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
