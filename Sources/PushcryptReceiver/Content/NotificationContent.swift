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
