import Foundation

/// The fields of a content, with comparison and archiving.
struct ContentFields: Equatable {
    var attachments: [UNNotificationAttachment] = []
    var badge: NSNumber?
    var body = ""
    var categoryIdentifier = ""
    // Added by an intent; neither compared nor archived.
    var communicationImage: Data?
    var communicationSender: String?
    var filterCriteria: String?
    var interruptionLevel = UNNotificationInterruptionLevel.active
    var launchImageName = ""
    var relevanceScore = 0.0
    var sound: UNNotificationSound?
    var subtitle = ""
    var targetContentIdentifier: String?
    var threadIdentifier = ""
    var title = ""
    var userInfo: [AnyHashable: Any] = [:]

    static func == (a: Self, b: Self) -> Bool {
        a.title == b.title && a.subtitle == b.subtitle && a.body == b.body && a.badge == b.badge && a.sound == b.sound
            && a.attachments == b.attachments && a.categoryIdentifier == b.categoryIdentifier
            && a.threadIdentifier == b.threadIdentifier && a.launchImageName == b.launchImageName
            && a.targetContentIdentifier == b.targetContentIdentifier && a.interruptionLevel == b.interruptionLevel
            && a.relevanceScore == b.relevanceScore && a.filterCriteria == b.filterCriteria
            && NSDictionary(dictionary: a.userInfo).isEqual(NSDictionary(dictionary: b.userInfo))
    }
}

extension ContentFields {
    /// Whether `userInfo` is a property list, which has no null at any depth.
    var hasPropertyList: Bool { Self.isPropertyList(userInfo) }

    private static func isPropertyList(_ value: Any) -> Bool {
        switch value {
        case is NSNull: false
        case let dictionary as [AnyHashable: Any]:
            dictionary.allSatisfy { $0.key is String && isPropertyList($0.value) }
        case let array as [Any]: array.allSatisfy(isPropertyList)
        default: value is String || value is NSNumber || value is Data || value is Date
        }
    }

    // Archives use the names of the properties.
    private enum Key {
        static let attachments = "attachments"
        static let badge = "badge"
        static let body = "body"
        static let categoryIdentifier = "categoryIdentifier"
        static let filterCriteria = "filterCriteria"
        static let interruptionLevel = "interruptionLevel"
        static let launchImageName = "launchImageName"
        static let relevanceScore = "relevanceScore"
        static let sound = "sound"
        static let subtitle = "subtitle"
        static let targetContentIdentifier = "targetContentIdentifier"
        static let threadIdentifier = "threadIdentifier"
        static let title = "title"
        static let userInfo = "userInfo"
    }

    init?(coder: NSCoder) {
        guard let title = coder.string(Key.title), let subtitle = coder.string(Key.subtitle),
            let body = coder.string(Key.body), let category = coder.string(Key.categoryIdentifier),
            let thread = coder.string(Key.threadIdentifier), let image = coder.string(Key.launchImageName),
            let level = UNNotificationInterruptionLevel(
                rawValue: UInt(truncatingIfNeeded: coder.decodeInteger(forKey: Key.interruptionLevel)))
        else { return nil }
        (self.title, self.subtitle, self.body) = (title, subtitle, body)
        (categoryIdentifier, threadIdentifier, launchImageName) = (category, thread, image)
        interruptionLevel = level
        relevanceScore = coder.decodeDouble(forKey: Key.relevanceScore)
        badge = coder.decodeObject(of: NSNumber.self, forKey: Key.badge)
        sound = coder.decodeObject(of: UNNotificationSound.self, forKey: Key.sound)
        targetContentIdentifier = coder.string(Key.targetContentIdentifier)
        filterCriteria = coder.string(Key.filterCriteria)
        attachments =
            coder.decodeObject(of: [NSArray.self, UNNotificationAttachment.self], forKey: Key.attachments)
            as? [UNNotificationAttachment] ?? []
        userInfo =
            coder.decodeObject(
                of: [
                    NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSData.self, NSDate.self,
                ], forKey: Key.userInfo) as? [AnyHashable: Any] ?? [:]
    }

    func encode(with coder: NSCoder) {
        for (key, text) in [
            (Key.title, title), (Key.subtitle, subtitle), (Key.body, body),
            (Key.categoryIdentifier, categoryIdentifier),
            (Key.threadIdentifier, threadIdentifier), (Key.launchImageName, launchImageName),
            (Key.targetContentIdentifier, targetContentIdentifier), (Key.filterCriteria, filterCriteria),
        ] {
            coder.encode(text.map { NSString(string: $0) }, forKey: key)
        }
        coder.encode(Int(interruptionLevel.rawValue), forKey: Key.interruptionLevel)
        coder.encode(relevanceScore, forKey: Key.relevanceScore)
        coder.encode(badge, forKey: Key.badge)
        coder.encode(sound, forKey: Key.sound)
        coder.encode(NSArray(array: attachments), forKey: Key.attachments)
        coder.encode(NSDictionary(dictionary: userInfo), forKey: Key.userInfo)
    }
}

extension NSCoder {
    func string(_ key: String) -> String? {
        decodeObject(of: NSString.self, forKey: key).map { String(describing: $0) }
    }
}
