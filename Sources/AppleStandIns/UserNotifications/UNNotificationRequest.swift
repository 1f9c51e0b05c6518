public import Foundation

/// What makes a notification appear.
open class UNNotificationTrigger: NSObject, NSCopying, NSSecureCoding {
    /// Whether it happens again; never here.
    public let repeats: Bool

    override package init() {
        repeats = false
        super.init()
    }

    /// Gives itself: a trigger cannot be changed.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Says that archives are read with the classes given.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived trigger.
    public required init?(coder: NSCoder) {
        repeats = false
        super.init()
    }

    /// Archives nothing: there is nothing but the class.
    open func encode(with coder: NSCoder) {}

    /// Compares classes.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationTrigger else { return false }
        return type(of: other) == type(of: self)
    }

    /// The same for all of a class.
    open override var hash: Int { ObjectIdentifier(type(of: self)).hashValue }
}

/// Says that a notification came as a push.
open class UNPushNotificationTrigger: UNNotificationTrigger {}

/// A content on its way to the screen, under a name.
open class UNNotificationRequest: NSObject, NSCopying, NSSecureCoding {
    /// Names it; a later request of the same name replaces it.
    public let identifier: String
    /// What is shown; cannot be changed.
    public let content: UNNotificationContent
    /// What makes it appear; nil for at once.
    public let trigger: UNNotificationTrigger?

    private init(_ identifier: String, _ content: UNNotificationContent, _ trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = content.frozen()
        self.trigger = trigger
        super.init()
    }

    /// Takes a copy of a content.
    public convenience init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.init(identifier, content, trigger)
    }

    /// Gives itself: a request cannot be changed.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares identifier, content and trigger.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationRequest else { return false }
        return other.identifier == identifier && other.content == content && other.trigger == trigger
    }

    /// Hashes the identifier.
    open override var hash: Int { identifier.hashValue }

    /// Says that archives are read with the classes given.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived request; nil if it is not one.
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
