internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

/// The drawing of a push: three panels, side by side. Renderers only decide how it looks.
///
/// Texts of a payload are `PreviewText`, or facts without control characters; `Markup` escapes both.
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
    /// The part that only the phone can read, in the relay's view.
    let seal: PreviewSeal?
    let facts: [Fact]

    /// The label above the card; the relay has no screen.
    var cardLabel: String { role == .relay ? "In the clear" : "Banner" }

    /// Something that is not visible on the card.
    struct Fact: Equatable, Sendable {
        let name: String
        let value: String
    }
}

/// A notification on a screen: a banner, and the expanded view after a long press.
struct PreviewCard: Equatable, Sendable {
    /// The most lines of each text.
    struct Lines: Sendable {
        let title: Int
        let subtitle: Int
        let body: Int

        /// The system's banner.
        static let banner = Lines(title: 1, subtitle: 1, body: 4)
        /// The expanded view, as much of it as fits a screen.
        static let expanded = Lines(title: 2, subtitle: 2, body: 16)
    }

    /// The small text above the title.
    let tag: String?
    let title: PreviewText
    let subtitle: PreviewText
    let body: PreviewText
    /// The initials of the person that the notification is from, in a circle in place of the app's icon; nil for none.
    let face: String?
    /// The text of the thumbnail, the name extension of the first attachment that the system shows.
    let thumbnail: String?
    let actions: [Action]
    /// The number on the app's icon; nil if it does not change.
    let badge: Int64?

    /// A button of the expanded view.
    struct Action: Equatable, Sendable {
        let title: PreviewText
        let isDestructive: Bool
        /// The other effects of the action, in a few words.
        let note: String
    }

    /// Whether the expanded view shows more than the banner; an estimate if a browser breaks the lines.
    var hasMore: Bool {
        if !actions.isEmpty || thumbnail != nil { return true }
        let lines = Lines.banner
        return [(title, lines.title), (subtitle, lines.subtitle), (body, lines.body)].contains { text, maximum in
            LineLayout(width: Self.usualWidth, maximumLines: maximum, advance: TextMetrics.bold).lines(of: text.text)
                .isCut
        }
    }

    /// The width of texts, in font sizes.
    private static let usualWidth = 14.0

    /// Whether nothing would be shown.
    var isEmpty: Bool { title.isEmpty && subtitle.isEmpty && body.isEmpty }
}

/// The sealed part of a push, as everyone sees it.
struct PreviewSeal: Equatable, Sendable {
    /// The first characters; nil if they differ in every drawing.
    let start: String?
    let characters: Int

    /// The description in one line.
    var text: String { (start.map { "\($0)…, " } ?? "") + "\(characters) characters" }
}

// MARK: The panels of a push

extension PreviewScene {
    init(_ push: PreviewedPush, categories: CategorySet?) {
        panels = [
            PreviewPanel(relayOf: push), PreviewPanel(phoneOf: push, categories),
            PreviewPanel(
                role: .fallback, heading: "If it does not open",
                remark: "Wrong key, changed on the way, too late", card: PreviewCard(push.fallback.content), seal: nil,
                facts: PreviewPanel.facts(of: push.fallback, nil)),
        ]
    }
}

extension PreviewPanel {
    /// The number of the sealed text's characters in a drawing.
    private static let startLength = 12

    fileprivate init(relayOf push: PreviewedPush) {
        let limit = PushType.alert.maximumPushLength
        let aps = push.push.root[PayloadKeys.aps]?.members ?? []
        let others = push.push.root.members.filter {
            $0.name != PayloadKeys.aps && $0.name != PayloadKeys.encryptedData
        }
        var facts = (aps + others).map { Fact($0.name, json: $0.value.minified()) }
        var seal: PreviewSeal?
        if let data = push.push.root[PayloadKeys.encryptedData] {
            if let text = data.string {
                let start = sanitized(forTerminal: String(text.prefix(Self.startLength)))
                seal = PreviewSeal(start: push.isSealedHere ? nil : start, characters: text.count)
            } else {
                facts.append(Fact(PayloadKeys.encryptedData, json: data.minified()))
            }
        }
        self.init(
            role: .relay, heading: "The relay carries", remark: "\(push.length) of \(limit) bytes",
            card: PreviewCard(push.clear), seal: seal, facts: facts)
    }

    fileprivate init(phoneOf push: PreviewedPush, _ categories: CategorySet?) {
        let content = push.shown.content
        let category = categories?[content.categoryIdentifier]
        var attachments: [AttachmentReference] = []
        let sender = push.shown.opened?.from
        if let opened = push.shown.opened { attachments = opened.attachments }
        var remark = "Opened and authenticated"
        if case .fallback(let reason) = push.shown.outcome { remark = "Does not open: \(reason.code)" }
        let card = PreviewCard(content, category, attachments, from: sender)
        self.init(
            role: .phone, heading: "The phone shows", remark: remark, card: card, seal: nil,
            facts: Self.facts(of: push.shown, categories.map { $0[content.categoryIdentifier] }))
    }

    /// Returns what a notification has besides its texts; `category` is nil if the app's categories are unknown.
    fileprivate static func facts(of delivery: Delivery, _ category: CategoryDeclaration??) -> [Fact] {
        let content = delivery.content
        var facts = [Fact("sound", content.sound?.words ?? "none")]
        if let attention = content.interruptionLevel.words { facts.append(Fact("attention", attention)) }
        if let badge = content.badge { facts.append(Fact("badge", badge == 0 ? "removed from the icon" : "\(badge)")) }
        if !content.threadIdentifier.isEmpty { facts.append(Fact("grouped by", content.threadIdentifier)) }
        if !content.categoryIdentifier.isEmpty {
            let actions =
                switch category {
                case nil: "; its actions are the app's (--categories)"
                case .some(nil): "; the app does not declare it"
                case .some(let declared?): declared.actions.isEmpty ? "; no actions" : ""
                }
            facts.append(Fact("category", content.categoryIdentifier + actions))
        }
        if let hidden = (category ?? nil)?.hiddenPreviewsBodyPlaceholder {
            facts.append(Fact("when hidden", hidden.description))
        }
        let keys = [content.title, content.subtitle, content.body].filter {
            if case .localized = $0 { true } else { false }
        }
        if !keys.isEmpty { facts.append(Fact("localised", keys.map(\.description).joined(separator: ", "))) }
        if let opened = delivery.opened {
            facts += opened.attachments.map {
                Fact("attachment", "\($0.type), \($0.file.size) bytes, fetched by the phone")
            }
            if let sender = opened.from {
                let picture = sender.avatar == nil ? "" : ", with a picture that the phone fetches"
                facts.append(Fact("from", sender.name + picture))
            }
            if opened.fullBody != nil {
                facts.append(Fact("full body", "fetched by the phone, instead of this one"))
            }
        }
        if content.userInfo != NotificationContent.emptyUserInfo {
            facts.append(Fact("for the app", json: content.userInfo))
        }
        return facts
    }
}

extension PreviewPanel.Fact {
    init(_ name: String, _ value: String) {
        self.init(name: sanitized(forTerminal: name), value: sanitized(forTerminal: value))
    }

    fileprivate init(_ name: String, json: ContiguousArray<UInt8>) {
        self.init(name, String(decoding: json, as: UTF8.self))
    }
}

extension PreviewCard {
    fileprivate init(
        _ content: NotificationContent, _ category: CategoryDeclaration? = nil,
        _ attachments: [AttachmentReference] = [], from sender: CommunicationSender? = nil
    ) {
        tag = content.interruptionLevel == .timeSensitive ? "Time Sensitive" : nil
        // The system shows the sender's name as the title.
        title = PreviewText(sender?.name ?? content.title.description)
        face = sender.map { Self.initials(of: $0.name) }
        subtitle = PreviewText(content.subtitle.description)
        body = PreviewText(content.body.description)
        thumbnail = attachments.lazy.compactMap { ShownFileType(type: $0.type) }.first.map {
            $0.fileExtensions[0].uppercased()
        }
        actions = category?.actions.map(Action.init) ?? []
        badge = content.badge
    }
}

extension PreviewCard {
    /// The first characters of a name's first two words.
    private static func initials(of name: String) -> String {
        sanitized(forTerminal: String(name.split(separator: " ").prefix(2).compactMap(\.first))).uppercased()
    }
}

extension PreviewCard.Action {
    fileprivate init(_ action: ActionDeclaration) {
        title = PreviewText(action.title.description)
        isDestructive = action.options.contains(.destructive)
        var notes: [String] = []
        if action.textInput != nil { notes.append("asks for a text") }
        if action.options.contains(.foreground) { notes.append("opens the app") }
        if action.options.contains(.authenticationRequired) { notes.append("unlocks first") }
        note = notes.joined(separator: ", ")
    }
}

extension NotificationContent.Sound {
    fileprivate var words: String {
        switch self {
        case .standard: "the system's"
        case .named(let name): name
        case .critical(let name, let volume): "\(name ?? "the system's"), even when silenced, volume \(volume)"
        }
    }
}

extension NotificationContent.InterruptionLevel {
    fileprivate var words: String? {
        switch self {
        case .passive: "passive: only in the list; the screen stays dark"
        case .active: nil
        case .timeSensitive: "time-sensitive: breaks through a Focus"
        case .critical: "critical: even when silenced"
        }
    }
}
