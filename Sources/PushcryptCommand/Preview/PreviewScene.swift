/// What is drawn of a push: three panels, side by side. Renderers decide how it looks, and nothing else.
///
/// Texts of a payload are `PreviewText`, or facts in which nothing acts on a terminal; markup escapes both.
struct PreviewScene: Sendable {
    let panels: [PreviewPanel]
}

/// One view of a push.
struct PreviewPanel: Sendable {
    /// Whose view it is.
    enum Role: String, CaseIterable, Sendable { case relay, phone, fallback }

    let role: Role
    let heading: String
    /// One line below the heading.
    let remark: String
    let card: PreviewCard
    /// What nobody but the phone can read, in the relay's view.
    let seal: PreviewSeal?
    let facts: [Fact]

    /// What stands above the card: the relay has no screen.
    var cardLabel: String { role == .relay ? "In the clear" : "Banner" }

    /// What is not seen on the card, as name and value.
    struct Fact: Equatable, Sendable {
        let name: String
        let value: String
    }
}

/// A notification on a screen: a banner, and the expanded view when it is held down.
struct PreviewCard: Equatable, Sendable {
    /// How many lines of each text are shown.
    struct Lines: Sendable {
        let title: Int
        let subtitle: Int
        let body: Int

        /// The system's banner.
        static let banner = Lines(title: 1, subtitle: 1, body: 4)
        /// The expanded view, as much of it as fits a screen.
        static let expanded = Lines(title: 2, subtitle: 2, body: 16)
    }

    /// What stands above the title, in small letters.
    let tag: String?
    let title: PreviewText
    let subtitle: PreviewText
    let body: PreviewText
    /// What stands in the place of the first attachment that the system shows: how the names of such files end.
    let thumbnail: String?
    let actions: [Action]
    /// The number on the app's icon; nil leaves it.
    let badge: Int64?

    /// A button of the expanded view.
    struct Action: Equatable, Sendable {
        let title: PreviewText
        let isDestructive: Bool
        /// What happens besides, in a few words.
        let note: String
    }

    /// Whether the expanded view has more than the banner. Where a browser breaks the lines, this is an estimate.
    var hasMore: Bool {
        if !actions.isEmpty || thumbnail != nil { return true }
        let lines = Lines.banner
        return [(title, lines.title), (subtitle, lines.subtitle), (body, lines.body)].contains { text, maximum in
            LineLayout(width: Self.usualWidth, maximumLines: maximum, advance: TextMetrics.bold).lines(of: text.text)
                .isCut
        }
    }

    /// The room for texts, in font sizes.
    private static let usualWidth = 14.0

    /// Whether nothing would be shown.
    var isEmpty: Bool { title.isEmpty && subtitle.isEmpty && body.isEmpty }
}

/// The sealed part of a push, as anybody sees it.
struct PreviewSeal: Equatable, Sendable {
    /// The first characters; nil where they differ with every drawing.
    let start: String?
    let characters: Int

    /// What can be told in a line.
    var text: String { (start.map { "\($0)…, " } ?? "") + "\(characters) characters" }
}
