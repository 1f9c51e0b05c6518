// As on Apple platforms, importing UserNotifications also imports Foundation's names.
@_exported public import Foundation

/// The interruption level of a notification.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Added to the list; no light, no sound.
    case passive
    /// Shown at once, with sound if there is one.
    case active
    /// Shown also during a Focus.
    case timeSensitive
    /// Always shown, with sound.
    case critical
}

/// The content of a notification; immutable.
///
/// Two contents are equal if all their fields are, mutable or not. Not `Sendable`, as on Apple
/// platforms.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying, NSSecureCoding {
    var fields: ContentFields

    /// Creates an empty content.
    public override init() {
        fields = ContentFields()
        super.init()
    }

    init(_ fields: ContentFields) {
        self.fields = fields
        super.init()
    }

    /// The attached media files.
    open var attachments: [UNNotificationAttachment] { fields.attachments }
    /// The number on the app's icon; nil leaves it unchanged, zero removes it.
    open var badge: NSNumber? { fields.badge }
    /// The body.
    open var body: String { fields.body }
    /// The identifier of the category.
    open var categoryIdentifier: String { fields.categoryIdentifier }
    /// The name of the launch image.
    @available(macOS, unavailable)
    open var launchImageName: String { fields.launchImageName }
    /// The sound.
    open var sound: UNNotificationSound? { fields.sound }
    /// The subtitle.
    open var subtitle: String { fields.subtitle }
    /// The identifier that groups notifications.
    open var threadIdentifier: String { fields.threadIdentifier }
    /// The title.
    open var title: String { fields.title }
    /// The payload of a push, or the app's own dictionary.
    open var userInfo: [AnyHashable: Any] { fields.userInfo }
    /// The identifier of the part of the app to open.
    open var targetContentIdentifier: String? { fields.targetContentIdentifier }
    /// The interruption level.
    open var interruptionLevel: UNNotificationInterruptionLevel { fields.interruptionLevel }
    /// The order of the app's notifications in a summary, from 0 to 1.
    open var relevanceScore: Double { fields.relevanceScore }
    /// The criterion for Focus filters.
    @available(iOS 16, macOS 13, visionOS 1, watchOS 9, *)
    open var filterCriteria: String? { fields.filterCriteria }

    /// Returns an immutable content: itself, if it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { frozen() }

    /// Returns a mutable copy.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(fields) }

    func frozen() -> UNNotificationContent { self }

    /// Whether `userInfo` is a property list: the system refuses a content with anything else.
    package var hasPropertyList: Bool { fields.hasPropertyList }

    /// Compares all fields.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationContent else { return false }
        return other === self || other.fields == fields
    }

    /// Hashes the three texts.
    open override var hash: Int { [title, subtitle, body].hashValue }

    /// Whether archives support secure coding: yes.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived content. Returns nil if the archive is invalid.
    public required init?(coder: NSCoder) {
        guard let fields = ContentFields(coder: coder) else { return nil }
        self.fields = fields
        super.init()
    }

    /// Archives all fields. `userInfo` must be a property list.
    open func encode(with coder: NSCoder) { fields.encode(with: coder) }
}

/// The content of a notification; mutable.
open class UNMutableNotificationContent: UNNotificationContent {
    /// The attached media files.
    open override var attachments: [UNNotificationAttachment] {
        get { fields.attachments }
        set { fields.attachments = newValue }
    }
    /// The number on the app's icon; nil leaves it unchanged, zero removes it.
    open override var badge: NSNumber? {
        get { fields.badge }
        set { fields.badge = newValue }
    }
    /// The body.
    open override var body: String {
        get { fields.body }
        set { fields.body = newValue }
    }
    /// The identifier of the category.
    open override var categoryIdentifier: String {
        get { fields.categoryIdentifier }
        set { fields.categoryIdentifier = newValue }
    }
    /// The name of the launch image.
    @available(macOS, unavailable)
    open override var launchImageName: String {
        get { fields.launchImageName }
        set { fields.launchImageName = newValue }
    }
    /// The sound.
    open override var sound: UNNotificationSound? {
        get { fields.sound }
        set { fields.sound = newValue }
    }
    /// The subtitle.
    open override var subtitle: String {
        get { fields.subtitle }
        set { fields.subtitle = newValue }
    }
    /// The identifier that groups notifications.
    open override var threadIdentifier: String {
        get { fields.threadIdentifier }
        set { fields.threadIdentifier = newValue }
    }
    /// The title.
    open override var title: String {
        get { fields.title }
        set { fields.title = newValue }
    }
    /// The payload of a push, or the app's own dictionary.
    open override var userInfo: [AnyHashable: Any] {
        get { fields.userInfo }
        set { fields.userInfo = newValue }
    }
    /// The identifier of the part of the app to open.
    open override var targetContentIdentifier: String? {
        get { fields.targetContentIdentifier }
        set { fields.targetContentIdentifier = newValue }
    }
    /// The interruption level.
    open override var interruptionLevel: UNNotificationInterruptionLevel {
        get { fields.interruptionLevel }
        set { fields.interruptionLevel = newValue }
    }
    /// The order of the app's notifications in a summary, from 0 to 1.
    open override var relevanceScore: Double {
        get { fields.relevanceScore }
        set { fields.relevanceScore = newValue }
    }
    /// The criterion for Focus filters.
    @available(iOS 16, macOS 13, visionOS 1, watchOS 9, *)
    open override var filterCriteria: String? {
        get { fields.filterCriteria }
        set { fields.filterCriteria = newValue }
    }

    override func frozen() -> UNNotificationContent { UNNotificationContent(fields) }
}
