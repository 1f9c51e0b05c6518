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
    package func title(insteadOf clear: NotificationContent.Text) -> NotificationContent.Text {
        if let title { return title }
        switch clear {
        case .plain(let text): return .plain(text.line(Self.maximumTitleLength))
        case .localized(let key, let arguments):
            return .localized(key: key, arguments: arguments.map { String($0.unicodeScalars.visible) })
        }
    }
}

extension String {
    /// Returns the first visible characters on one line.
    fileprivate func line(_ length: Int) -> String {
        var line = UnicodeScalarView()
        for scalar in unicodeScalars.visible.prefix(length) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar)
            }
        }
        return String(line)
    }
}

extension String.UnicodeScalarView {
    /// The characters without those that turn text round or take no room, with which the relay could imitate another title.
    /// Persian and family emoji need U+200C and U+200D. (N-4)
    fileprivate var visible: Self {
        filter { scalar in
            switch scalar.value {
            case 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060, 0x2066...0x2069, 0xFEFF: false
            default: true
            }
        }
    }
}
