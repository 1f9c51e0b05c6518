internal import Foundation
internal import UserNotifications

extension PushPayload {
    /// The content that the system makes of a push before any code of the app runs.
    ///
    /// Keys of texts are looked up in the strings of the current notification center.
    var content: UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = title.resolved
        content.subtitle = subtitle.resolved
        content.body = body.resolved
        content.badge = number("badge")
        content.sound = sound
        content.threadIdentifier = text("thread-id") ?? ""
        content.categoryIdentifier = text("category") ?? ""
        content.targetContentIdentifier = text("target-content-id")
        content.interruptionLevel = text("interruption-level").flatMap(Interruption.init(rawValue:))?.level ?? .active
        content.relevanceScore = number("relevance-score")?.doubleValue ?? 0
        if #available(iOS 16, macOS 13, *) { content.filterCriteria = text("filter-criteria") }
        #if !os(macOS)
            content.launchImageName = (aps["alert"] as? [String: Any])?["launch-image"] as? String ?? ""
        #endif
        content.userInfo = root
        return content.copied
    }

    private var sound: UNNotificationSound? {
        if let name = text("sound") { return name.isEmpty ? nil : Self.sound(named: name) }
        guard let field = aps["sound"] as? [String: Any] else { return nil }
        let name = (field["name"] as? String).flatMap { $0.isEmpty ? nil : $0 }
        guard Self.number(field["critical"])?.doubleValue == 1 else { return name.map(Self.sound(named:)) }
        let volume = Self.number(field["volume"])?.floatValue ?? 1
        guard let name, name != "default" else { return .defaultCriticalSound(withAudioVolume: volume) }
        return .criticalSoundNamed(UNNotificationSoundName(name), withAudioVolume: volume)
    }

    private static func sound(named name: String) -> UNNotificationSound {
        name == "default" ? .default : UNNotificationSound(named: UNNotificationSoundName(name))
    }
}

extension PushPayload.Line {
    var resolved: String {
        guard let key else { return text }
        return NSString.localizedUserNotificationString(forKey: key, arguments: arguments)
    }
}

extension UNNotificationContent {
    /// A copy that nobody can change.
    var copied: UNNotificationContent { copy() as? UNNotificationContent ?? self }

    /// Whether there is nothing to read.
    var isEmpty: Bool { title.isEmpty && subtitle.isEmpty && body.isEmpty }
}
