internal import Foundation
internal import Pushcrypt
public import PushcryptReceiver
public import UserNotifications

// Conversions between this package's values and the system's. Not run on Apple systems.

extension UNNotificationContent {
    /// An immutable copy.
    var frozen: UNNotificationContent { copy() as? UNNotificationContent ?? self }

    /// A mutable copy.
    var thawed: UNMutableNotificationContent {
        // Foundation types every copy as Any; this class returns no other type.
        mutableCopy() as? UNMutableNotificationContent ?? UNMutableNotificationContent()
    }
}

extension UNNotificationContent {
    /// Whether there is nothing to show.
    var isBlank: Bool {
        title.isEmpty && subtitle.isEmpty && body.isEmpty && sound == nil && badge == nil && attachments.isEmpty
            && userInfo.isEmpty
    }

    /// The same content, as shown when it has rung before.
    func quiet(isDuplicate: Bool) -> UNNotificationContent {
        let content = thawed
        content.sound = nil
        content.interruptionLevel = .passive
        content.badge = nil
        if isDuplicate {
            content.categoryIdentifier = ""
            content.attachments = []
        }
        return content
    }
}

extension UNMutableNotificationContent {
    /// Creates system content with every field of `content`.
    convenience init(_ content: NotificationContent) {
        self.init()
        title = content.title.system
        subtitle = content.subtitle.system
        body = content.body.system
        badge = content.badge.map { NSNumber(value: $0) }
        sound = content.sound?.system
        threadIdentifier = content.threadIdentifier
        categoryIdentifier = content.categoryIdentifier
        interruptionLevel = content.interruptionLevel.system
        relevanceScore = content.relevanceScore
        targetContentIdentifier = content.targetContentIdentifier
        if #available(iOS 16, macOS 13, watchOS 9, *) { filterCriteria = content.filterCriteria }
        #if !os(macOS)
            launchImageName = content.launchImageName
        #endif
        let json = try? JSONSerialization.jsonObject(with: Data(content.userInfo))
        userInfo = json as? [AnyHashable: Any] ?? [:]
    }
}

extension NotificationContent.Text {
    /// The text as the system takes it. The system looks up a key when it shows the notification, in the user's
    /// language at that time.
    var system: String {
        switch self {
        case .plain(let text): text
        case .localized(let key, let arguments):
            NSString.localizedUserNotificationString(forKey: key, arguments: arguments)
        }
    }
}

extension NotificationContent.Sound {
    fileprivate var system: UNNotificationSound {
        switch self {
        case .standard: .default
        case .named(let name): UNNotificationSound(named: UNNotificationSoundName(name))
        case .critical(let name?, let volume):
            .criticalSoundNamed(UNNotificationSoundName(name), withAudioVolume: Float(volume))
        case .critical(nil, let volume): .defaultCriticalSound(withAudioVolume: Float(volume))
        }
    }
}

extension NotificationContent.InterruptionLevel {
    fileprivate var system: UNNotificationInterruptionLevel {
        switch self {
        case .passive: .passive
        case .active: .active
        case .timeSensitive: .timeSensitive
        case .critical: .critical
        }
    }
}

// MARK: Responses

extension NotificationResponseValue {
    /// Creates a value from the system's response.
    ///
    /// If the `userInfo` of a local notification cannot be JSON, it is left out.
    public init(_ response: UNNotificationResponse) {
        let request = response.notification.request
        self.init(
            requestIdentifier: request.identifier, action: Action(identifier: response.actionIdentifier),
            userText: (response as? UNTextInputNotificationResponse)?.userText,
            userInfo: CustomKeys.json(request.content.userInfo),
            categoryIdentifier: request.content.categoryIdentifier)
        account = request.content.mark?.account
        mark = request.content.mark?.message
    }

    /// The custom keys as a dictionary.
    public var customKeys: [AnyHashable: Any] { CustomKeys.dictionary(userInfo) }
}

/// Converts custom keys between JSON and Foundation's types.
enum CustomKeys {
    /// Returns the text of one JSON object. Keys that cannot be JSON give an empty object; with the marks of a push
    /// they give an empty text, which is never treated as the app's own.
    static func json(_ userInfo: [AnyHashable: Any]) -> ContiguousArray<UInt8> {
        var userInfo = userInfo
        // The receiver's own mark, not the app's.
        userInfo[PayloadKeys.reserved] = nil
        // Foundation traps on an invalid object.
        guard let object = userInfo as? [String: Any], JSONSerialization.isValidJSONObject(object),
            let data = try? JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
        else {
            let isPush = userInfo[PayloadKeys.aps] != nil || userInfo[PayloadKeys.encryptedData] != nil
            return isPush ? [] : NotificationContent.emptyUserInfo
        }
        return ContiguousArray(data)
    }

    static func dictionary(_ json: ContiguousArray<UInt8>) -> [AnyHashable: Any] {
        let object = try? JSONSerialization.jsonObject(with: Data(json))
        return object as? [AnyHashable: Any] ?? [:]
    }
}
