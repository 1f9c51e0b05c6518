internal import Foundation
internal import PushcryptReceiver
internal import UserNotifications

// What a person is shown, as the system has it. Not run on Apple systems.

extension UNNotificationContent {
    /// A copy that nobody can change.
    var frozen: UNNotificationContent { copy() as? UNNotificationContent ?? self }

    /// A copy that only the caller can change.
    var thawed: UNMutableNotificationContent {
        // Foundation's type of every copy is Any; this class gives no other.
        mutableCopy() as? UNMutableNotificationContent ?? UNMutableNotificationContent()
    }
}

extension UNMutableNotificationContent {
    /// Takes every field.
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
    /// A key is looked up by the system when the notification is shown, in the language that the person has then.
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
