internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

/// The drawing of a push: the relay's view, the phone's, and the fallback.
///
/// Texts of a payload are `PreviewText`, or have no control characters.
struct Scene: Sendable {
    let panels: [Panel]

    init(_ push: PreviewedPush, categories: CategorySet?) {
        let category = categories.map { $0[push.shown.content.categoryIdentifier] }
        var remark = "Opened and authenticated"
        if case .fallback(let reason) = push.shown.outcome { remark = "Does not open: \(reason.code)" }
        panels = [
            Panel(relayOf: push),
            Panel(
                heading: "The phone shows", remark: remark,
                card: Card(push.shown.content, push.shown.opened, category ?? nil),
                facts: Fact.facts(of: push.shown, category)),
            Panel(
                heading: "If it does not open", remark: "Wrong key, changed on the way, too late",
                card: Card(push.fallback.content), facts: Fact.facts(of: push.fallback, nil)),
        ]
    }
}

/// One view of a push.
struct Panel: Sendable {
    let heading: String
    /// One line below the heading.
    let remark: String
    /// The label above the card; the relay has no screen.
    var label = "Banner"
    let card: Card
    /// The relay's view of the part that only the phone can read.
    var sealed: String?
    let facts: [Fact]
}

/// A notification on a screen: a banner, and the expanded view after a long press.
struct Card: Sendable {
    /// The small text above the title.
    let tag: String
    let title: PreviewText
    let subtitle: PreviewText
    let body: PreviewText
    /// The initials of the person that the notification is from, in place of the app's icon.
    let face: String?
    /// The name extension of the first attachment that the system shows, in place of its picture.
    let thumbnail: String?
    let actions: [Action]

    /// A button of the expanded view.
    struct Action: Sendable {
        let title: PreviewText
        let isDestructive: Bool
        /// The other effects of the action, in a few words.
        let note: String
    }

    /// The texts of a view, with their names and the most lines that the system gives each.
    func texts(isExpanded: Bool) -> [(text: PreviewText, name: String, lines: Int)] {
        let lines = isExpanded ? (title: 2, body: 16) : (title: 1, body: 4)
        return [(title, "title", lines.title), (subtitle, "subtitle", lines.title), (body, "body", lines.body)]
    }
}

/// A property that is not visible on the card.
struct Fact: Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = sanitized(forTerminal: name)
        self.value = sanitized(forTerminal: value)
    }

    fileprivate init(_ name: String, json: ContiguousArray<UInt8>) {
        self.init(name, String(decoding: json, as: UTF8.self))
    }
}

// MARK: Reading a push

extension Panel {
    /// The length of the sealed text's beginning in a drawing.
    private static let startLength = 12

    fileprivate init(relayOf push: PreviewedPush) {
        let root = push.push.root
        let data = root[PayloadKeys.encryptedData]
        let members = (root[PayloadKeys.aps]?.members ?? []) + root.members.filter { $0.name != PayloadKeys.aps }
        // With discarded keys, it begins with other characters in every drawing.
        let sealed = data?.string.map { text in
            (push.isSealedHere ? "" : sanitized(forTerminal: String(text.prefix(Self.startLength))) + "…, ")
                + "\(text.count) characters"
        }
        self.init(
            heading: "The relay carries", remark: "\(push.length) of \(PushType.alert.maximumPushLength) bytes",
            label: "In the clear", card: Card(push.clear), sealed: sealed,
            facts: members.filter { sealed == nil || $0.name != PayloadKeys.encryptedData }
                .map { Fact($0.name, json: $0.value.minified()) })
    }
}

extension Card {
    fileprivate init(
        _ content: NotificationContent, _ opened: OpenedNotification? = nil, _ category: CategoryDeclaration? = nil
    ) {
        let sender = opened?.from?.name
        tag = content.interruptionLevel == .timeSensitive ? "Time Sensitive" : ""
        // The system shows the sender's name as the title.
        title = PreviewText(sender ?? content.title.description)
        subtitle = PreviewText(content.subtitle.description)
        body = PreviewText(content.body.description)
        face = sender.map { name in
            sanitized(forTerminal: String(name.split(separator: " ").prefix(2).compactMap(\.first))).uppercased()
        }
        thumbnail = opened?.attachments.lazy.compactMap { ShownFileType(type: $0.type) }.first?.fileExtensions[0]
            .uppercased()
        actions = category?.actions.map(Action.init) ?? []
    }
}

extension Card.Action {
    fileprivate init(_ action: ActionDeclaration) {
        title = PreviewText(action.title.description)
        isDestructive = action.options.contains(.destructive)
        let notes = [
            (action.textInput != nil, "asks for a text"), (action.options.contains(.foreground), "opens the app"),
            (action.options.contains(.authenticationRequired), "unlocks first"),
        ]
        note = notes.filter(\.0).map(\.1).joined(separator: ", ")
    }
}

extension Fact {
    /// Returns a notification's properties besides its texts; `category` is nil if the app's categories are unknown.
    fileprivate static func facts(of delivery: Delivery, _ category: CategoryDeclaration??) -> [Fact] {
        let (content, opened) = (delivery.content, delivery.opened)
        let actions =
            switch category {
            case nil: "; its actions are the app's (--categories)"
            case .some(nil): "; the app does not declare it"
            case .some(let declared?): declared.actions.isEmpty ? "; no actions" : ""
            }
        let keys = [content.title, content.subtitle, content.body].filter {
            if case .localized = $0 { true } else { false }
        }
        let sender = opened?.from.map {
            $0.name + ($0.avatar == nil ? "" : ", with a picture that the phone fetches")
        }
        let values: [(String, String?)] =
            [
                ("sound", content.sound?.words ?? "none"), ("attention", content.interruptionLevel.words),
                ("badge", content.badge.map { $0 == 0 ? "removed from the icon" : "\($0)" }),
                ("grouped by", content.threadIdentifier),
                ("category", content.categoryIdentifier.isEmpty ? nil : content.categoryIdentifier + actions),
                ("when hidden", (category ?? nil)?.hiddenPreviewsBodyPlaceholder?.description),
                ("localised", keys.map(\.description).joined(separator: ", ")),
            ]
            + (opened?.attachments ?? []).map {
                ("attachment", "\($0.type), \($0.file.size) bytes, fetched by the phone")
            } + [
                ("from", sender),
                ("full body", opened?.fullBody.map { _ in "fetched by the phone, instead of this one" }),
            ]
        let facts = values.compactMap { name, value in value.flatMap { $0.isEmpty ? nil : Fact(name, $0) } }
        return content.userInfo == NotificationContent.emptyUserInfo
            ? facts : facts + [Fact("for the app", json: content.userInfo)]
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
