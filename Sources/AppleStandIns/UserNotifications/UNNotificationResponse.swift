public import Foundation

/// The action identifier for tapping the notification itself.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The action identifier for dismissing the notification.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

/// A delivered notification.
open class UNNotification: NSObject, NSCopying, NSSecureCoding {
    /// The date of delivery.
    public let date: Date
    /// The delivered request.
    public let request: UNNotificationRequest

    /// Creates a notification. On Apple platforms only the system can.
    package init(date: Date, request: UNNotificationRequest) {
        self.date = date
        self.request = request
        super.init()
    }

    /// Returns itself: a notification is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares date and request.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotification else { return false }
        return other.date == date && other.request == request
    }

    /// Hashes the request.
    open override var hash: Int { request.hash }

    /// Whether archives support secure coding: yes.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived notification. Returns nil if the archive is invalid.
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

/// A user's response to a notification.
open class UNNotificationResponse: NSObject, NSCopying, NSSecureCoding {
    /// The notification.
    public let notification: UNNotification
    /// The identifier of the action: the app's, default or dismiss.
    public let actionIdentifier: String

    /// Creates a response. On Apple platforms only the system can.
    package init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
        super.init()
    }

    /// Returns itself: a response is immutable.
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

    /// Whether archives support secure coding: yes.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived response. Returns nil if the archive is invalid.
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

/// A user's response with text.
open class UNTextInputNotificationResponse: UNNotificationResponse {
    /// The body.
    public let userText: String

    /// Creates a response. On Apple platforms only the system can.
    package init(notification: UNNotification, actionIdentifier: String, userText: String) {
        self.userText = userText
        super.init(notification: notification, actionIdentifier: actionIdentifier)
    }

    /// Compares notification, action and text.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNTextInputNotificationResponse, super.isEqual(other) else { return false }
        return other.userText == userText
    }

    /// Reads an archived response. Returns nil if the archive is invalid.
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
