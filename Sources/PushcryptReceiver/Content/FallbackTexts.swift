/// The two texts that stand in for content. Apple's sample extension uses the same.
///
/// (`Docs/Format.md`, Opened notification and fallback)
public struct FallbackTexts: Hashable, Sendable {
    /// `(Encrypted)`, in every language.
    public static let standard = FallbackTexts(couldNotOpen: "(Encrypted)", notEncrypted: "(Encrypted)")

    /// What the app's `Localizable.strings` have for the key `(Encrypted)`. A language without that key shows the key, which
    /// is the standard text.
    public static let localized = FallbackTexts(
        couldNotOpen: .localized(key: "(Encrypted)", arguments: []),
        notEncrypted: .localized(key: "(Encrypted)", arguments: []))

    /// The subtitle of a push that did not open, or not in time; its body is empty.
    public var couldNotOpen: NotificationContent.Text
    /// The body of a push that was not sealed.
    public var notEncrypted: NotificationContent.Text

    /// Takes the texts, or their keys in the app's `Localizable.strings`.
    public init(couldNotOpen: NotificationContent.Text, notEncrypted: NotificationContent.Text) {
        self.couldNotOpen = couldNotOpen
        self.notEncrypted = notEncrypted
    }
}
