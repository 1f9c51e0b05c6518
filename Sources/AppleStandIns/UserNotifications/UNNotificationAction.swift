public import Foundation

/// The options of an action.
public struct UNNotificationActionOptions: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: UInt
    /// Creates a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The device must be unlocked first.
    public static let authenticationRequired = Self(rawValue: 1 << 0)
    /// Shown as destructive.
    public static let destructive = Self(rawValue: 1 << 1)
    /// Brings the app to the foreground.
    public static let foreground = Self(rawValue: 1 << 2)
}

/// The image on an action.
open class UNNotificationActionIcon: NSObject {
    /// The image's name.
    package let name: String
    /// Whether it is a system image, not the app's.
    package let isSystemImage: Bool

    init(name: String, isSystemImage: Bool) {
        self.name = name
        self.isSystemImage = isSystemImage
        super.init()
    }

    /// Creates an icon from an image of the app.
    public convenience init(templateImageName: String) { self.init(name: templateImageName, isSystemImage: false) }

    /// Creates an icon from a system image.
    public convenience init(systemImageName: String) { self.init(name: systemImageName, isSystemImage: true) }

    /// Compares names and kinds.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationActionIcon else { return false }
        return other.name == name && other.isSystemImage == isSystemImage
    }

    /// Hashes the name.
    open override var hash: Int { name.hashValue }
}

/// A button under a notification.
open class UNNotificationAction: NSObject, NSCopying {
    /// The identifier in the response.
    public let identifier: String
    /// The title.
    public let title: String
    /// The options.
    public let options: UNNotificationActionOptions
    /// The icon.
    public let icon: UNNotificationActionIcon?

    init(
        _ identifier: String, _ title: String, _ options: UNNotificationActionOptions, _ icon: UNNotificationActionIcon?
    ) {
        self.identifier = identifier
        self.title = title
        self.options = options
        self.icon = icon
        super.init()
    }

    /// Creates a button.
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.init(identifier, title, options, nil)
    }

    /// Creates a button with an icon.
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?
    ) {
        self.init(identifier, title, options, icon)
    }

    /// Returns itself: an action is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares all properties and the class.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationAction, Swift.type(of: other) == Swift.type(of: self) else {
            return false
        }
        return other.identifier == identifier && other.title == title && other.options == options && other.icon == icon
    }

    /// Hashes the identifier.
    open override var hash: Int { identifier.hashValue }
}

/// A button under a notification that opens a text field.
open class UNTextInputNotificationAction: UNNotificationAction {
    /// The title of the send button.
    public private(set) var textInputButtonTitle = ""
    /// The placeholder of the text field.
    public private(set) var textInputPlaceholder = ""

    override init(
        _ identifier: String, _ title: String, _ options: UNNotificationActionOptions, _ icon: UNNotificationActionIcon?
    ) {
        super.init(identifier, title, options, icon)
    }

    /// Creates a button.
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], textInputButtonTitle: String,
        textInputPlaceholder: String
    ) {
        self.init(
            identifier: identifier, title: title, options: options, icon: nil,
            textInputButtonTitle: textInputButtonTitle, textInputPlaceholder: textInputPlaceholder)
    }

    /// Creates a button with an icon.
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?,
        textInputButtonTitle: String, textInputPlaceholder: String
    ) {
        self.init(identifier, title, options, icon)
        self.textInputButtonTitle = textInputButtonTitle
        self.textInputPlaceholder = textInputPlaceholder
    }

    /// Compares all properties.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNTextInputNotificationAction, super.isEqual(other) else { return false }
        return other.textInputButtonTitle == textInputButtonTitle && other.textInputPlaceholder == textInputPlaceholder
    }
}
