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
    public static let maximumTitleLength = 64

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

    /// Returns the title shown instead of a push's own.
    package func title(insteadOf clear: NotificationContent.Text) -> NotificationContent.Text {
        if let title { return title }
        var rest = Self.maximumTitleLength
        switch clear {
        case .plain(let text): return .plain(text.line(&rest))
        case .localized(let key, let arguments):
            // The system shows a key that the app does not have.
            let key = key.line(&rest)
            rest = Self.maximumTitleLength
            return .localized(key: key, arguments: arguments.map { $0.line(&rest) })
        }
    }
}

extension String {
    /// Returns the first `rest` characters on one line, and reduces `rest` by their number.
    fileprivate func line(_ rest: inout Int) -> String {
        var line = UnicodeScalarView()
        for scalar in unicodeScalars.prefix(rest) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar)
            }
            rest -= 1
        }
        return String(line)
    }
}
