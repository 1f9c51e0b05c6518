public import Foundation

/// The action of somebody who tapped the notification itself.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The action of somebody who dismissed the notification.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

/// A notification that was delivered.
open class UNNotification: NSObject, NSCopying, NSSecureCoding {
    /// When it was delivered.
    public let date: Date
    /// What was delivered.
    public let request: UNNotificationRequest

    /// Makes a notification; on Apple platforms only the system does.
    package init(date: Date, request: UNNotificationRequest) {
        self.date = date
        self.request = request
        super.init()
    }

    /// Gives itself: a notification cannot be changed.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares date and request.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotification else { return false }
        return other.date == date && other.request == request
    }

    /// Hashes the request.
    open override var hash: Int { request.hash }

    /// Says that archives are read with the classes given.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived notification; nil if it is not one.
    public required init?(coder: NSCoder) {
        guard let date = coder.decodeObject(of: NSDate.self, forKey: "date"),
            let request = coder.decodeObject(of: UNNotificationRequest.self, forKey: "request")
        else { return nil }
        self.date = date as Date
        self.request = request
        super.init()
    }

    /// Archives date and request.
    open func encode(with coder: NSCoder) {
        coder.encode(date as NSDate, forKey: "date")
        coder.encode(request, forKey: "request")
    }
}

/// What somebody did with a notification.
open class UNNotificationResponse: NSObject, NSCopying, NSSecureCoding {
    /// The notification.
    public let notification: UNNotification
    /// The action: the app's, default or dismiss.
    public let actionIdentifier: String

    /// Makes a response; on Apple platforms only the system does.
    package init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
        super.init()
    }

    /// Gives itself: a response cannot be changed.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares notification and action.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationResponse, type(of: other) == type(of: self) else { return false }
        return other.notification == notification && other.actionIdentifier == actionIdentifier
    }

    /// Hashes notification and action.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(notification)
        hasher.combine(actionIdentifier)
        return hasher.finalize()
    }

    /// Says that archives are read with the classes given.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived response; nil if it is not one.
    public required init?(coder: NSCoder) {
        guard let notification = coder.decodeObject(of: UNNotification.self, forKey: "notification"),
            let action = coder.string("actionIdentifier")
        else { return nil }
        self.notification = notification
        actionIdentifier = action
        super.init()
    }

    /// Archives notification and action.
    open func encode(with coder: NSCoder) {
        coder.encode(notification, forKey: "notification")
        coder.encode(NSString(string: actionIdentifier), forKey: "actionIdentifier")
    }
}

/// What somebody wrote under a notification.
open class UNTextInputNotificationResponse: UNNotificationResponse {
    /// The text.
    public let userText: String

    /// Makes a response; on Apple platforms only the system does.
    package init(notification: UNNotification, actionIdentifier: String, userText: String) {
        self.userText = userText
        super.init(notification: notification, actionIdentifier: actionIdentifier)
    }

    /// Compares notification, action and text.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNTextInputNotificationResponse, super.isEqual(other) else { return false }
        return other.userText == userText
    }

    /// Reads an archived response; nil if it is not one.
    public required init?(coder: NSCoder) {
        guard let text = coder.string("userText") else { return nil }
        userText = text
        super.init(coder: coder)
    }

    /// Archives notification, action and text.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(NSString(string: userText), forKey: "userText")
    }
}
