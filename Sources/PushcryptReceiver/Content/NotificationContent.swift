internal import Pushcrypt

/// The content shown for one push, with the fields of `UNNotificationContent`, as an immutable value.
///
/// Attachments are not included: they are files, which the service extension adds. (`Docs/Format.md`, Opened
/// notification and fallback; Apple's "Generating a remote notification")
public struct NotificationContent: Hashable, Sendable {
    /// A text, or the key of a localised one.
    public enum Text: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The text itself.
        case plain(String)
        /// A key of the app's `Localizable.strings`, and the arguments for its `%@`.
        case localized(key: String, arguments: [String])

        /// Creates a plain text.
        public init(stringLiteral text: String) { self = .plain(text) }

        /// Whether nothing would be shown.
        package var isEmpty: Bool { self == .plain("") }
    }

    /// The sound of a notification.
    public enum Sound: Hashable, Sendable {
        /// The system's sound for notifications.
        case standard
        /// A sound file of the app.
        case named(String)
        /// A sound that also plays when the phone is silenced, which needs Apple's permission: a file of the app, or
        /// the system's sound; the volume is from 0 to 1.
        case critical(name: String?, volume: Double)

        /// The same sound, for a phone that is not silenced: what nobody has signed must not ring another. (N-4)
        package var uncritical: Sound {
            guard case .critical(let name, _) = self else { return self }
            return name.map(Sound.named) ?? .standard
        }
    }

    /// How urgently the system presents a notification.
    public enum InterruptionLevel: String, CaseIterable, Hashable, Sendable {
        /// Added to the list without lighting the screen.
        case passive
        /// Presented at once, with light and sound; the default.
        case active
        /// Presented at once, even during a Focus.
        case timeSensitive = "time-sensitive"
        /// Presented even when the phone is silenced.
        case critical
    }

    /// The first line.
    public var title: Text = ""
    /// The second line.
    public var subtitle: Text = ""
    /// The main text.
    public var body: Text = ""
    /// The number on the app's icon: 0 removes it, nil keeps it.
    public var badge: Int64?
    /// The sound; nil for none.
    public var sound: Sound?
    /// The identifier by which the system groups notifications.
    public var threadIdentifier = ""
    /// The category whose actions are offered.
    public var categoryIdentifier = ""
    /// How urgently the system presents the notification.
    public var interruptionLevel = InterruptionLevel.active
    /// The rank in a summary, from 0 to 1.
    public var relevanceScore = 0.0
    /// The window of the app that is brought to the front.
    public var targetContentIdentifier: String?
    /// The value that a Focus filter of the app evaluates.
    public var filterCriteria: String?
    /// The launch screen of the app.
    public var launchImageName = ""
    /// The app's own members of the payload, as the text of one JSON object.
    public var userInfo = emptyUserInfo

    /// An empty JSON object.
    public static let emptyUserInfo = ContiguousArray("{}".utf8)

    /// Creates content that shows nothing.
    package init() {}

    /// The same content, added to the list without sound and without lighting the screen; the icon keeps its number.
    package var quiet: NotificationContent {
        var content = self
        content.sound = nil
        content.interruptionLevel = .passive
        content.badge = nil
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
    /// Never fails: a missing field, or one of another type than in Apple's documentation, is treated as absent. The
    /// key of a localised text takes precedence over the text beside it, as when the system shows the push itself.
    init(payload root: JSONValue) {
        self.init()
        if let aps = root[PayloadKeys.aps] {
            readAlert(aps["alert"])
            badge = aps["badge"]?.wholeNumber.flatMap { $0 >= 0 ? $0 : nil }
            sound = aps["sound"].flatMap(Sound.init(field:))
            threadIdentifier = aps["thread-id"]?.string ?? ""
            categoryIdentifier = aps["category"]?.string ?? ""
            interruptionLevel = aps["interruption-level"]?.string.flatMap(InterruptionLevel.init(rawValue:)) ?? .active
            relevanceScore = aps["relevance-score"]?.fraction ?? 0
            targetContentIdentifier = aps["target-content-id"]?.string
            filterCriteria = aps["filter-criteria"]?.string
        }
        // With a number beyond a double, the system's reader would take none of the members. (N-2)
        let members = root.members.filter { !PayloadKeys.all.contains($0.name) && $0.value.hasDoublesOnly }
        var json = JSONWriter()
        json.object { json in
            for member in members { json.withoutNulls(member.value, for: member.name) }
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

    /// Every element keeps its position, so one that is not a text becomes an empty one.
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
        } else if field["critical"]?.flag == true {
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

extension JSONWriter {
    /// Writes a value without the nulls in it: the system takes a property list, which has none.
    fileprivate mutating func withoutNulls(_ value: JSONValue, for name: String? = nil) {
        switch value.kind {
        case .null: break
        case .object:
            object(for: name) { json in
                for member in value.members { json.withoutNulls(member.value, for: member.name) }
            }
        case .array: array(for: name) { json in for element in value.elements { json.withoutNulls(element) } }
        case .string, .number, .bool: raw(value, for: name)
        }
    }
}

extension JSONValue {
    /// The number limited to the range from 0 to 1.
    fileprivate var fraction: Double? { double.map { min(max($0, 0), 1) } }
}
