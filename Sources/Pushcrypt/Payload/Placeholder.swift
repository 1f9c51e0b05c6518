/// The clear part of a sealed push: what a phone shows when the extension does not run.
///
/// Everything in it is seen by the relay and is under nobody's signature. Its body is always `(Encrypted)`.
/// (`Docs/Format.md`, Clear part)
public struct Placeholder: Hashable, Sendable {
    /// The body of every placeholder.
    public static let body = "(Encrypted)"

    /// The title unless a provider chooses one: `New message`.
    public static let standardTitle = "New message"

    /// The most bytes of a title or of a sound's name: what is longer fits no push.
    static let maximumTextLength = PushType.alert.maximumPushLength

    /// What sounds when the extension does not run.
    public enum Sound: Hashable, Sendable {
        /// The system's default sound when the sealed payload has a sound, otherwise none.
        case matching
        /// No sound.
        case silent
        /// A named sound, whatever the sealed payload has.
        case named(String)
    }

    /// A field of `aps` that may stand in the clear as well.
    ///
    /// The relay reads it. It changes nothing of an opened notification.
    public enum ClearField: String, CaseIterable, Sendable {
        /// The app's badge.
        case badge = "badge"
        /// The category, which carries the text shown when previews are hidden.
        case category = "category"
        /// The key that groups notifications.
        case threadID = "thread-id"
        /// How urgent the notification is.
        case interruptionLevel = "interruption-level"
        /// How relevant the notification is.
        case relevanceScore = "relevance-score"
        /// The window that the system brings forward.
        case targetContentID = "target-content-id"
        /// What a focus filter looks at.
        case filterCriteria = "filter-criteria"
    }

    /// What stands in the place of the real title; not empty.
    public let title: String
    /// What sounds when the extension does not run.
    public let sound: Sound
    /// The fields of `aps` that stand in the clear as well.
    public let clearFields: Set<ClearField>

    /// `New message`, sounding like the sealed payload, with nothing else in the clear.
    public static let standard = Placeholder(unchecked: standardTitle, sound: .matching, clearFields: [])

    /// Makes a placeholder; throws `invalidPlaceholder` for a title or a sound name without a visible character, or of more
    /// bytes than any push has (4096).
    public init(
        title: String = standardTitle, sound: Sound = .matching, clearFields: Set<ClearField> = []
    ) throws(SealError) {
        guard Self.isVisible(title) else {
            throw SealError(
                .invalidPlaceholder,
                "the placeholder's title is empty; a phone would show a notification without a name")
        }
        if case .named(let name) = sound, !Self.isVisible(name) {
            throw SealError(.invalidPlaceholder, "the placeholder's sound has no name; say 'none' for no sound")
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
            "the placeholder's \(what) has \(text.utf8.count) bytes, and a whole push at most \(maximumTextLength); shorten it"
        )
    }

    private init(unchecked title: String, sound: Sound, clearFields: Set<ClearField>) {
        self.title = title
        self.sound = sound
        self.clearFields = clearFields
    }
}
