/// The visible content of a sealed push, which a phone shows if the extension does not run.
///
/// The relay can read all of it, and it is not signed. The body is always `(Encrypted)`. (`Docs/Format.md`, Clear part)
public struct Placeholder: Hashable, Sendable {
    /// The body of every placeholder.
    package static let body = "(Encrypted)"

    /// The default title: `New message`.
    public static let standardTitle = "New message"

    /// The maximum length of a title or a sound name in bytes: a longer one does not fit into a push.
    static let maximumTextLength = PushType.alert.maximumPushLength

    /// The sound if the extension does not run.
    public enum Sound: Hashable, Sendable {
        /// The system's default sound if the sealed payload has a sound, otherwise none.
        case matching
        /// No sound.
        case silent
        /// A named sound, whether or not the sealed payload has one.
        case named(String)
    }

    /// A field of `aps` that may also be in the clear.
    ///
    /// The relay can read it. It does not change the opened notification.
    public enum ClearField: String, CaseIterable, Sendable {
        /// The app's badge.
        case badge = "badge"
        /// The category, which has the text that is shown when previews are hidden.
        case category = "category"
        /// The key that groups notifications.
        case threadID = "thread-id"
        /// How urgent the notification is.
        case interruptionLevel = "interruption-level"
        /// How relevant the notification is.
        case relevanceScore = "relevance-score"
        /// The window that the system brings to the front.
        case targetContentID = "target-content-id"
        /// The criteria for Focus filters.
        case filterCriteria = "filter-criteria"
    }

    /// The title that is shown instead of the real one; not empty.
    package let title: String
    /// The sound if the extension does not run.
    package let sound: Sound
    /// The fields of `aps` that are also in the clear.
    package let clearFields: Set<ClearField>

    /// The default: `New message`, with a sound if the sealed payload has one, and nothing else in the clear.
    public static let standard = Placeholder(unchecked: standardTitle, sound: .matching, clearFields: [])

    /// Creates a placeholder.
    ///
    /// - Throws: `invalidPlaceholder` for a title or a sound name without a visible character or with more than 4096
    ///   bytes.
    public init(
        title: String = standardTitle, sound: Sound = .matching, clearFields: Set<ClearField> = []
    ) throws(SealError) {
        guard Self.isVisible(title) else {
            throw SealError(
                .invalidPlaceholder,
                "the placeholder's title is empty; a phone would show a notification without a title")
        }
        if case .named(let name) = sound, !Self.isVisible(name) {
            throw SealError(
                .invalidPlaceholder,
                "the name of the placeholder's sound is empty; for no sound, choose silence instead")
        }
        try Self.checkLength(of: title, "title")
        if case .named(let name) = sound { try Self.checkLength(of: name, "sound") }
        self.init(unchecked: title, sound: sound, clearFields: clearFields)
    }

    private static func isVisible(_ text: String) -> Bool { text.contains { !$0.isWhitespace } }

    private static func checkLength(of text: String, _ what: StaticString) throws(SealError) {
        guard text.utf8.count > maximumTextLength else { return }
        throw SealError(
            .invalidPlaceholder,
            "the placeholder's \(what) has \(text.utf8.count) bytes, and a whole push has at most \(maximumTextLength); shorten it"
        )
    }

    private init(unchecked title: String, sound: Sound, clearFields: Set<ClearField>) {
        self.title = title
        self.sound = sound
        self.clearFields = clearFields
    }
}
