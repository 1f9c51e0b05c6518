/// What a person sees and hears of one notification.
public struct Shown: Hashable, Sendable {
    /// Where a notification is seen.
    public struct Places: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Takes the bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Over whatever is on the screen of an unlocked device.
        public static let banner = Places(rawValue: 1 << 0)
        /// On the screen of a locked device, which lights up.
        public static let lockScreen = Places(rawValue: 1 << 1)
        /// In the list of notifications.
        public static let list = Places(rawValue: 1 << 2)
    }

    /// What is played.
    public enum Sound: Hashable, Sendable {
        /// The system's sound.
        case standard
        /// A sound file of the app.
        case named(String)
        /// A sound for what must be heard: a file of the app, or the system's; the volume from 0 to 1, if it was given.
        case critical(name: String?, volume: Float?)
        /// A sound of which only the system knows more. Only on Apple platforms.
        case other
    }

    /// The first line.
    public var title = ""
    /// The second line.
    public var subtitle = ""
    /// The text, or what stands for it when previews are hidden.
    public var body = ""
    /// What is played as it arrives; nil for silence.
    public var sound: Sound?
    /// The number that it puts on the app's icon, 0 for none; nil if it leaves the icon as it is.
    public var badge: Int?
    /// The identifiers of the attachments.
    public var attachments: [String] = []
    /// Where it is seen.
    public var places: Places = []
    /// How loudly it calls for attention.
    public var interruption = Interruption.active
    /// Whether the person's settings hide the text.
    public var isPreviewHidden = false

    /// Shows nothing.
    public init() {}

    /// Whether nothing is seen, heard or counted.
    var isNothing: Bool { places.isEmpty && sound == nil && badge == nil }
}
