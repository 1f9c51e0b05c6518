internal import UserNotifications

/// The visible and audible presentation of one notification.
public struct Shown: Hashable, Sendable {
    /// The places where a notification is visible.
    public struct PresentationOptions: OptionSet, Hashable, Sendable {
        /// The bits of the set.
        public let rawValue: UInt
        /// Creates a set from its bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A banner on an unlocked device.
        public static let banner = PresentationOptions(rawValue: 1 << 0)
        /// The screen of a locked device, which lights up.
        public static let lockScreen = PresentationOptions(rawValue: 1 << 1)
        /// The list of notifications.
        public static let list = PresentationOptions(rawValue: 1 << 2)
    }

    /// A sound that is played.
    public enum Sound: Hashable, Sendable {
        /// The system's sound.
        case standard
        /// A sound file of the app.
        case named(String)
        /// A critical sound: a file of the app, or the system's if the name is nil; the volume from 0 to 1, if given.
        case critical(name: String?, volume: Float?)
        /// A sound that only the system can describe. Only on Apple platforms.
        case other
    }

    /// The title.
    public var title = ""
    /// The subtitle.
    public var subtitle = ""
    /// The body, or its placeholder while previews are hidden.
    public var body = ""
    /// The sound on arrival; nil for silence.
    public var sound: Sound?
    /// The new number on the app's icon, 0 for none; nil if the icon does not change.
    public var badge: Int?
    /// The identifiers of the attachments.
    public var attachments: [String] = []
    /// The places where it is visible.
    public var presentation: PresentationOptions = []
    /// The interruption level.
    public var interruption = Interruption.active
    /// Whether the user's settings hide the text.
    public var isPreviewHidden = false

    /// Creates a presentation of nothing.
    public init() {}

    /// Whether there is nothing visible, no sound and no badge.
    var isNothing: Bool { presentation.isEmpty && sound == nil && badge == nil }
}

/// The interruption levels, with their names in payloads.
public enum Interruption: String, CaseIterable, Hashable, Sendable {
    /// Added to the list, without sound and without lighting the screen.
    case passive
    /// Presented immediately, with sound.
    case active
    /// Presented immediately, also during a Focus.
    case timeSensitive = "time-sensitive"
    /// Presented immediately, also on a silenced device.
    case critical

    var level: UNNotificationInterruptionLevel {
        switch self {
        case .passive: .passive
        case .active: .active
        case .timeSensitive: .timeSensitive
        case .critical: .critical
        }
    }

    init(_ level: UNNotificationInterruptionLevel) {
        self = Self.allCases.first { $0.level == level } ?? .active
    }
}
