internal import Foundation
internal import UserNotifications

/// The JSON of a push, as the system reads it. A field whose type differs from Apple's documentation counts as missing.
struct PushPayload {
    let root: [String: Any]
    let aps: [String: Any]

    init?(_ data: Data) {
        guard let root = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] else { return nil }
        self.root = root
        aps = (root["aps"] as? [String: Any] ?? [:]).filter { !($0.value is NSNull) }
    }

    /// A line of the alert: its text, or the key and arguments to look it up in the app.
    struct Line {
        let text: String
        let key: String?
        let arguments: [String]

        var isEmpty: Bool { text.isEmpty && key == nil }
    }

    var title: Line { line("title", key: "title-loc-key", arguments: "title-loc-args") }
    var subtitle: Line { line("subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args") }
    var body: Line {
        if let text = aps["alert"] as? String { return Line(text: text, key: nil, arguments: []) }
        return line("body", key: "loc-key", arguments: "loc-args")
    }

    private func line(_ text: String, key: String, arguments: String) -> Line {
        let alert = aps["alert"] as? [String: Any] ?? [:]
        let key = alert[key] as? String
        return Line(
            text: alert[text] as? String ?? "", key: key?.isEmpty == false ? key : nil,
            arguments: (alert[arguments] as? [Any] ?? []).compactMap { $0 as? String })
    }

    var hasAlert: Bool { aps["alert"] is String || aps["alert"] is [String: Any] }
    var hasAlertText: Bool { ![title, subtitle, body].allSatisfy(\.isEmpty) }
    /// Only the number 1 counts, neither `"1"` nor `true`.
    var isMutable: Bool { number("mutable-content")?.doubleValue == 1 }

    func text(_ name: String) -> String? { aps[name] as? String }

    func number(_ name: String) -> NSNumber? { Self.number(aps[name]) }

    static func number(_ value: Any?) -> NSNumber? {
        // JSON's true and false are numbers too, of C's type char.
        guard let number = value as? NSNumber, unsafe String(cString: number.objCType) != "c" else { return nil }
        return number
    }
}

extension PushPayload {
    /// The content that the system creates from a push before any code of the app runs.
    ///
    /// Localization keys are looked up in the strings of the current notification center.
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
    /// An immutable copy.
    var copied: UNNotificationContent { copy() as? UNNotificationContent ?? self }

    var isEmpty: Bool { title.isEmpty && subtitle.isEmpty && body.isEmpty }
}
