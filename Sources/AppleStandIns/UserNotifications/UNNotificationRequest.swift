public import Foundation

/// The condition for delivering a notification.
open class UNNotificationTrigger: NSObject, NSCopying, NSSecureCoding {
    /// Whether it repeats; never here.
    public let repeats: Bool

    override package init() {
        repeats = false
        super.init()
    }

    /// Returns itself: a trigger is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether archives support secure coding: yes.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived trigger.
    public required init?(coder: NSCoder) {
        repeats = false
        super.init()
    }

    /// Archives nothing but the class.
    open func encode(with coder: NSCoder) {}

    /// Compares classes.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationTrigger else { return false }
        return type(of: other) == type(of: self)
    }

    /// The same for all triggers of a class.
    open override var hash: Int { ObjectIdentifier(type(of: self)).hashValue }
}

/// The trigger of a remote notification.
open class UNPushNotificationTrigger: UNNotificationTrigger {}

/// A content to deliver, with an identifier.
open class UNNotificationRequest: NSObject, NSCopying, NSSecureCoding {
    /// The identifier. A later request with the same identifier replaces this one.
    public let identifier: String
    /// The content; immutable.
    public let content: UNNotificationContent
    /// The trigger; nil to deliver immediately.
    public let trigger: UNNotificationTrigger?

    private init(_ identifier: String, _ content: UNNotificationContent, _ trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = content.frozen()
        self.trigger = trigger
        super.init()
    }

    /// Creates a request with a copy of a content.
    public convenience init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.init(identifier, content, trigger)
    }

    /// Returns itself: a request is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares identifier, content and trigger.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationRequest else { return false }
        return other.identifier == identifier && other.content == content && other.trigger == trigger
    }

    /// Hashes the identifier.
    open override var hash: Int { identifier.hashValue }

    /// Whether archives support secure coding: yes.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived request. Returns nil if the archive is invalid.
    public required init?(coder: NSCoder) {
        guard let identifier = coder.string("identifier"),
            let content = coder.decodeObject(of: UNNotificationContent.self, forKey: "content")
        else { return nil }
        self.identifier = identifier
        self.content = content.frozen()
        trigger =
            coder.decodeObject(
                of: [UNNotificationTrigger.self, UNPushNotificationTrigger.self], forKey: "trigger")
            as? UNNotificationTrigger
        super.init()
    }

    /// Archives identifier, content and trigger.
    open func encode(with coder: NSCoder) {
        coder.encode(NSString(string: identifier), forKey: "identifier")
        coder.encode(content, forKey: "content")
        coder.encode(trigger, forKey: "trigger")
    }
}
