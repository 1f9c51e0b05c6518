internal import Pushcrypt

/// What a person is shown of one push, field by field, as `UNNotificationContent` has them.
///
/// A value that no thread can change behind another's back. Attachments are not in it: they are files, which the session's
/// shell brings. (`Docs/Format.md`, Opened notification and fallback; Apple's "Generating a remote notification")
public struct NotificationContent: Hashable, Sendable {
    /// A text, or the key of one that the app brings in the person's language.
    public enum Text: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The text itself.
        case plain(String)
        /// A key of the app's `Localizable.strings`, and what stands for its `%@`.
        case localized(key: String, arguments: [String])

        /// Takes the text itself.
        public init(stringLiteral text: String) { self = .plain(text) }

        /// Whether nothing would be shown.
        public var isEmpty: Bool { self == .plain("") }
    }

    /// What is played.
    public enum Sound: Hashable, Sendable {
        /// The system's sound for notifications.
        case standard
        /// A sound file of the app.
        case named(String)
        /// A sound that also plays when the phone is silenced, which needs Apple's permission: a file of the app, or the
        /// system's; the volume from 0 to 1.
        case critical(name: String?, volume: Double)
    }

    /// How loudly the system may call for attention.
    public enum InterruptionLevel: String, CaseIterable, Hashable, Sendable {
        /// Into the list, without lighting the screen.
        case passive
        /// As most notifications: at once, with light and sound.
        case active
        /// At once, also through a Focus.
        case timeSensitive = "time-sensitive"
        /// Also when the phone is silenced.
        case critical
    }

    /// The first line.
    public var title: Text = ""
    /// The second line.
    public var subtitle: Text = ""
    /// The text.
    public var body: Text = ""
    /// The number on the app's icon: 0 takes it away, nil leaves it.
    public var badge: Int64?
    /// What is played; nil for silence.
    public var sound: Sound?
    /// What the system groups notifications by.
    public var threadIdentifier = ""
    /// The category whose actions are offered.
    public var categoryIdentifier = ""
    /// How loudly the system may call for attention.
    public var interruptionLevel = InterruptionLevel.active
    /// How far up the system puts it in a summary, from 0 to 1.
    public var relevanceScore = 0.0
    /// The window of the app that is brought forward.
    public var targetContentIdentifier: String?
    /// What a Focus filter of the app decides by.
    public var filterCriteria: String?
    /// The launch screen of the app.
    public var launchImageName = ""
    /// The app's own members of the payload, as the text of one JSON object.
    public var userInfo = emptyUserInfo

    /// No member at all.
    public static let emptyUserInfo = ContiguousArray("{}".utf8)

    /// Makes content that shows nothing.
    public init() {}

    /// The same content, to be put into the list without sound and without lighting the screen.
    public var quiet: NotificationContent {
        var content = self
        content.sound = nil
        content.interruptionLevel = .passive
        return content
    }
}

extension NotificationContent.Text: CustomStringConvertible {
    /// The text, or the key with its arguments, for example `INVITE(Ann, 8 pm)`.
    public var description: String {
        switch self {
        case .plain(let text): text
        case .localized(let key, let arguments):
            arguments.isEmpty ? key : "\(key)(\(arguments.joined(separator: ", ")))"
        }
    }
}

extension NotificationContent {
    /// Reads every field of a payload that a receiver can set.
    ///
    /// Total: a field that is absent or of another type than Apple's documents give it is as if it were not there. A key
    /// for a localised text wins over the text beside it, as in a push that the system shows itself.
    init(payload root: JSONValue) {
        self.init()
        if let aps = root[PayloadKeys.aps] {
            readAlert(aps["alert"])
            badge = aps["badge"]?.integer.flatMap { $0 >= 0 ? $0 : nil }
            sound = aps["sound"].flatMap(Sound.init(field:))
            threadIdentifier = aps["thread-id"]?.string ?? ""
            categoryIdentifier = aps["category"]?.string ?? ""
            interruptionLevel = aps["interruption-level"]?.string.flatMap(InterruptionLevel.init(rawValue:)) ?? .active
            relevanceScore = aps["relevance-score"]?.fraction ?? 0
            targetContentIdentifier = aps["target-content-id"]?.string
            filterCriteria = aps["filter-criteria"]?.string
        }
        var json = JSONWriter()
        json.object { json in
            for member in root.members where !PayloadKeys.all.contains(member.name) {
                json.raw(member.value, for: member.name)
            }
        }
        userInfo = json.bytes
    }

    private mutating func readAlert(_ alert: JSONValue?) {
        guard let alert else { return }
        if let text = alert.string {
            body = .plain(text)
            return
        }
        title = Text(alert, plain: "title", key: "title-loc-key", arguments: "title-loc-args")
        subtitle = Text(alert, plain: "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
        body = Text(alert, plain: "body", key: "loc-key", arguments: "loc-args")
        launchImageName = alert["launch-image"]?.string ?? ""
    }
}

extension NotificationContent.Text {
    fileprivate init(_ alert: JSONValue, plain: String, key: String, arguments: String) {
        if let key = alert[key]?.string, !key.isEmpty {
            self = .localized(key: key, arguments: alert[arguments]?.elements.map(Self.argument) ?? [])
        } else {
            self = .plain(alert[plain]?.string ?? "")
        }
    }

    /// Every element has its place, so one that is no text is none that is left out.
    private static func argument(_ element: JSONValue) -> String {
        switch element.kind {
        case .string: element.string ?? ""
        case .number: String(decoding: element.minified(), as: UTF8.self)
        default: ""
        }
    }
}

extension NotificationContent.Sound {
    fileprivate init?(field: JSONValue) {
        if let name = field.string {
            self.init(name: name)
        } else if field["critical"]?.integer == 1 {
            let name = field["name"]?.string
            self = .critical(
                name: name.flatMap { $0.isEmpty || $0 == "default" ? nil : $0 }, volume: field["volume"]?.fraction ?? 1)
        } else if let name = field["name"]?.string {
            self.init(name: name)
        } else {
            return nil
        }
    }

    private init?(name: String) {
        if name.isEmpty { return nil }
        self = name == "default" ? .standard : .named(name)
    }
}

extension JSONValue {
    /// A number from 0 to 1; what lies outside becomes the nearer end.
    fileprivate var fraction: Double? { double.map { min(max($0, 0), 1) } }
}
