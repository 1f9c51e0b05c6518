// Code that imports UserNotifications gets Foundation's names with it, as on Apple platforms.
@_exported public import Foundation

/// Says how much a notification disturbs.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Added to the list; no light, no sound.
    case passive
    /// Shown at once, with sound if there is one.
    case active
    /// Shown also where Focus holds others back.
    case timeSensitive
    /// Shown and heard always.
    case critical
}

/// What one notification shows and does; cannot be changed.
///
/// Two contents are equal when all their fields are, whether one of them can be changed or not. Not `Sendable`, as on Apple
/// platforms.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying, NSSecureCoding {
    var fields: ContentFields

    /// Makes an empty content.
    public override init() {
        fields = ContentFields()
        super.init()
    }

    init(_ fields: ContentFields) {
        self.fields = fields
        super.init()
    }

    /// The media files that are shown with it.
    open var attachments: [UNNotificationAttachment] { fields.attachments }
    /// The number on the app's icon; nil leaves it, zero removes it.
    open var badge: NSNumber? { fields.badge }
    /// The text.
    open var body: String { fields.body }
    /// Names the category whose actions are offered.
    open var categoryIdentifier: String { fields.categoryIdentifier }
    /// Names the image that is shown while the app starts.
    open var launchImageName: String { fields.launchImageName }
    /// What is heard.
    open var sound: UNNotificationSound? { fields.sound }
    /// The second line.
    open var subtitle: String { fields.subtitle }
    /// Groups notifications of one conversation.
    open var threadIdentifier: String { fields.threadIdentifier }
    /// The first line.
    open var title: String { fields.title }
    /// The payload of a push, or what the app put in.
    open var userInfo: [AnyHashable: Any] { fields.userInfo }
    /// Names the part of the app that is opened.
    open var targetContentIdentifier: String? { fields.targetContentIdentifier }
    /// How much it disturbs.
    open var interruptionLevel: UNNotificationInterruptionLevel { fields.interruptionLevel }
    /// Orders the app's notifications in a summary, from 0 to 1.
    open var relevanceScore: Double { fields.relevanceScore }
    /// What a Focus filter looks at.
    open var filterCriteria: String? { fields.filterCriteria }

    /// Gives a content that cannot be changed: itself, if it is one.
    open func copy(with zone: NSZone? = nil) -> Any { frozen() }

    /// Gives a content of its own that can be changed.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(fields) }

    func frozen() -> UNNotificationContent { self }

    /// Compares all fields.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationContent else { return false }
        return other === self || other.fields == fields
    }

    /// Hashes the three texts.
    open override var hash: Int { [title, subtitle, body].hashValue }

    /// Says that archives are read with the classes given.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived content; nil if it is not one.
    public required init?(coder: NSCoder) {
        guard let fields = ContentFields(coder: coder) else { return nil }
        self.fields = fields
        super.init()
    }

    /// Archives all fields; `userInfo` must hold property-list values and nulls only.
    open func encode(with coder: NSCoder) { fields.encode(with: coder) }
}

/// What one notification shows and does; can be changed.
open class UNMutableNotificationContent: UNNotificationContent {
    /// The media files that are shown with it.
    open override var attachments: [UNNotificationAttachment] {
        get { fields.attachments }
        set { fields.attachments = newValue }
    }
    /// The number on the app's icon; nil leaves it, zero removes it.
    open override var badge: NSNumber? {
        get { fields.badge }
        set { fields.badge = newValue }
    }
    /// The text.
    open override var body: String {
        get { fields.body }
        set { fields.body = newValue }
    }
    /// Names the category whose actions are offered.
    open override var categoryIdentifier: String {
        get { fields.categoryIdentifier }
        set { fields.categoryIdentifier = newValue }
    }
    /// Names the image that is shown while the app starts.
    open override var launchImageName: String {
        get { fields.launchImageName }
        set { fields.launchImageName = newValue }
    }
    /// What is heard.
    open override var sound: UNNotificationSound? {
        get { fields.sound }
        set { fields.sound = newValue }
    }
    /// The second line.
    open override var subtitle: String {
        get { fields.subtitle }
        set { fields.subtitle = newValue }
    }
    /// Groups notifications of one conversation.
    open override var threadIdentifier: String {
        get { fields.threadIdentifier }
        set { fields.threadIdentifier = newValue }
    }
    /// The first line.
    open override var title: String {
        get { fields.title }
        set { fields.title = newValue }
    }
    /// The payload of a push, or what the app put in.
    open override var userInfo: [AnyHashable: Any] {
        get { fields.userInfo }
        set { fields.userInfo = newValue }
    }
    /// Names the part of the app that is opened.
    open override var targetContentIdentifier: String? {
        get { fields.targetContentIdentifier }
        set { fields.targetContentIdentifier = newValue }
    }
    /// How much it disturbs.
    open override var interruptionLevel: UNNotificationInterruptionLevel {
        get { fields.interruptionLevel }
        set { fields.interruptionLevel = newValue }
    }
    /// Orders the app's notifications in a summary, from 0 to 1.
    open override var relevanceScore: Double {
        get { fields.relevanceScore }
        set { fields.relevanceScore = newValue }
    }
    /// What a Focus filter looks at.
    open override var filterCriteria: String? {
        get { fields.filterCriteria }
        set { fields.filterCriteria = newValue }
    }

    override func frozen() -> UNNotificationContent { UNNotificationContent(fields) }
}
