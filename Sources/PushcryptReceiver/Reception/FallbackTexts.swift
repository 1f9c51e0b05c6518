internal import Pushcrypt

/// The texts of a fallback. Apple's sample extension uses the same.
///
/// (`Docs/Format.md`, Opened notification and fallback)
public struct FallbackTexts: Hashable, Sendable {
    /// `(Encrypted)`, in every language.
    public static let standard = FallbackTexts(couldNotOpen: "(Encrypted)", notEncrypted: "(Encrypted)")

    /// The app's localised strings for the key `(Encrypted)`. A language without that key shows the key, which is the
    /// standard text.
    public static let localized = FallbackTexts(
        couldNotOpen: .localized(key: "(Encrypted)", arguments: []),
        notEncrypted: .localized(key: "(Encrypted)", arguments: []))

    /// The most characters of a push's title that a fallback shows; Unicode scalars.
    package static let maximumTitleLength = 64

    /// The title; nil for that of the push, which anyone on the way can choose. It is shown on one line and up to
    /// `maximumTitleLength`.
    public var title: NotificationContent.Text?
    /// The subtitle of a push that did not open, or not in time; its body is empty.
    public var couldNotOpen: NotificationContent.Text
    /// The body of a push that was not sealed.
    public var notEncrypted: NotificationContent.Text

    /// Creates texts, plain or localised.
    public init(
        title: NotificationContent.Text? = nil, couldNotOpen: NotificationContent.Text,
        notEncrypted: NotificationContent.Text
    ) {
        self.title = title
        self.couldNotOpen = couldNotOpen
        self.notEncrypted = notEncrypted
    }

    /// Returns the title shown instead of a push's own. The app's text for a key is the system's to look up.
    ///
    /// With characters that turn text round or take no room, the relay could imitate another title. (N-4)
    package func title(insteadOf clear: NotificationContent.Text) -> NotificationContent.Text {
        if let title { return title }
        switch clear {
        case .plain(let text): return .plain(text.line(Self.maximumTitleLength))
        case .localized(let key, let arguments):
            return .localized(key: key, arguments: arguments.map(\.withoutInvisible))
        }
    }
}

extension String {
    /// Returns the first visible characters on one line.
    fileprivate func line(_ length: Int) -> String {
        var line = UnicodeScalarView()
        for scalar in withoutInvisible.unicodeScalars.prefix(length) {
            line.append(scalar.isControl || "\u{2028}\u{2029}".unicodeScalars.contains(scalar) ? " " : scalar)
        }
        return String(line)
    }
}
