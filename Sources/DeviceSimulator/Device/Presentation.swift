internal import Foundation
internal import UserNotifications

/// Determines how a device presents a content, from its settings and state. Not run on Apple systems.
struct Presentation {
    /// The parts of a notification that the app allows while it is in the foreground.
    struct Allowed: OptionSet {
        let rawValue: UInt

        static let banner = Allowed(rawValue: 1 << 0)
        static let list = Allowed(rawValue: 1 << 1)
        static let sound = Allowed(rawValue: 1 << 2)
        static let badge = Allowed(rawValue: 1 << 3)
        static let all: Allowed = [.banner, .list, .sound, .badge]
    }

    /// The body of a hidden preview, if the category declares none.
    static let standardPlaceholder = "Notification"

    let settings: SimulatedDevice.Settings
    let lock: SimulatedDevice.LockState
    let app: SimulatedDevice.App
    /// The categories that the app declares.
    let categories: Set<UNNotificationCategory>

    /// Returns the text of a content, one of `count` notifications in its thread.
    func text(of content: UNNotificationContent, among count: Int) -> Shown {
        var shown = Shown()
        shown.interruption = Interruption(content.interruptionLevel)
        if settings.showsPreviews(lock) {
            (shown.title, shown.subtitle, shown.body) = (content.title, content.subtitle, content.body)
            shown.attachments = content.attachments.map(\.identifier)
            return shown
        }
        let category = categories.first { $0.identifier == content.categoryIdentifier }
        shown.isPreviewHidden = true
        shown.title = category?.options.contains(.hiddenPreviewsShowTitle) == true ? content.title : app.name
        shown.subtitle = category?.options.contains(.hiddenPreviewsShowSubtitle) == true ? content.subtitle : ""
        let placeholder = category?.hiddenPreviewsBodyPlaceholder ?? ""
        shown.body =
            placeholder.isEmpty
            ? Self.standardPlaceholder : placeholder.replacingOccurrences(of: "%u", with: String(count))
        return shown
    }

    /// Returns the presentation of a content on arrival.
    func arrival(of content: UNNotificationContent, among count: Int, allowed: Allowed) -> Shown {
        guard settings.permission == .allowed || settings.permission == .provisional else { return Shown() }
        let isVisible = settings.alerts && !content.isEmpty
        var shown = isVisible ? text(of: content, among: count) : Shown()
        shown.interruption = Interruption(content.interruptionLevel)
        let isQuiet = settings.permission == .provisional || shown.interruption == .passive
        if isVisible, allowed.contains(.list) { shown.presentation.insert(.list) }
        if isVisible, allowed.contains(.banner), !isQuiet {
            shown.presentation.insert(lock == .unlocked ? .banner : .lockScreen)
        }
        if allowed.contains(.sound), !isQuiet, let sound = content.sound.map(Shown.Sound.init),
            settings.sounds || (sound.isCritical && settings.criticalAlerts)
        {
            shown.sound = sound
        }
        if allowed.contains(.badge), settings.badges, let badge = content.badge { shown.badge = max(0, badge.intValue) }
        return shown
    }
}

extension Shown.Sound {
    var isCritical: Bool { if case .critical = self { true } else { false } }

    init(_ sound: UNNotificationSound) {
        #if os(Linux)
            let name = sound.name?.rawValue
            self =
                sound.isCritical
                ? .critical(name: name, volume: sound.volume) : name.map { .named($0) } ?? .standard
        #else
            self =
                sound.isEqual(UNNotificationSound.default)
                ? .standard
                : sound.isEqual(UNNotificationSound.defaultCritical) ? .critical(name: nil, volume: nil) : .other
        #endif
    }
}
