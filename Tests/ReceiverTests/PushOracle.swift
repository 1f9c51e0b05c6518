import PushcryptReceiver

/// Everything that can happen to a notification, in an order that nobody chooses.
enum Happening: UInt8, CaseIterable, Sendable {
    case opened, failed, decided, bodyDone, attachmentDone, attachmentFailed, changed, changeFailed
    case attachmentDeadline, deadline, expired, released

    /// The system, the clock or the last owner ends the waiting.
    var isEnd: Bool { self == .deadline || self == .expired || self == .released }
}

/// The expected presentation, by the rules and not by the road.
enum Due: Hashable, Sendable {
    /// The content that came in at this place of the sequence.
    case content(Int, Delivery.Outcome)
    /// The fallback, for a reason of this code.
    case fallback(String)
}

/// Derives what must be delivered and when from a record of the events; it has no states.
struct PushOracle: Hashable {
    /// The content of the push, and whether the app changes notifications.
    struct Kind: Hashable, Sendable {
        var hasAttachments = false
        var isChanged = false

        static let all = [false, true].flatMap { attachments in
            [false, true].map { Kind(hasAttachments: attachments, isChanged: $0) }
        }
    }

    static let failure = Delivery.Reason(code: "some-failure", description: "for a test")

    /// The outcome of opening: the first report counts.
    private enum Result: Hashable {
        case opened(Int)
        case decided(Int)
        case failed
    }

    let kind: Kind
    private var result: Result?
    private var attached: Int?
    private var isAttachedCompletely = false
    private var isTooLateToAttach = false
    private var changed: Int?
    private var hasChangeFailed = false
    private var end: Happening?
    /// Whether the one delivery has been due.
    private(set) var isDelivered = false

    init(_ kind: Kind) { self.kind = kind }

    /// Records an event, and returns what is due at this moment.
    mutating func note(_ happening: Happening, content: Int) -> Due? {
        if isDelivered { return nil }
        record(happening, content)
        let due = due
        // After the end nothing of the record matters.
        if due != nil { self = PushOracle(kind, isDelivered: true) }
        return due
    }

    private init(_ kind: Kind, isDelivered: Bool) {
        self.kind = kind
        self.isDelivered = isDelivered
    }

    private mutating func record(_ happening: Happening, _ content: Int) {
        switch happening {
        case .opened: result = result ?? .opened(content)
        case .failed: result = result ?? .failed
        case .decided: result = result ?? .decided(content)
        case .bodyDone:
            // The longer text takes the place of the short one, until nothing more can be attached.
            guard case .opened = result, textWithAttachments == nil else { return }
            result = .opened(content)
        case .attachmentDone, .attachmentFailed:
            guard case .opened = result, textWithAttachments == nil else { return }
            attached = content
            isAttachedCompletely = happening == .attachmentDone
        case .attachmentDeadline: if textWithAttachments == nil { isTooLateToAttach = true }
        case .changed: if textWithAttachments != nil, kind.isChanged { changed = content }
        case .changeFailed: if textWithAttachments != nil { hasChangeFailed = true }
        case .deadline, .expired, .released: end = happening
        }
    }

    /// The content as it is without the app's change, once nothing more can be attached.
    private var textWithAttachments: Due? {
        guard case .opened(let text) = result else { return nil }
        if !kind.hasAttachments { return .content(text, .opened) }
        if let attached { return .content(attached, isAttachedCompletely ? .opened : .openedWithoutAttachment) }
        return isTooLateToAttach ? .content(text, .openedWithoutAttachment) : nil
    }

    private var due: Due? {
        switch result {
        case .failed: return .fallback(Self.failure.code)
        case .decided(let content): return .content(content, .passed)
        case .opened(let text):
            guard case .content(let complete, let outcome) = textWithAttachments else {
                // The text is never held back for a file.
                return end == nil ? nil : .content(text, .openedWithoutAttachment)
            }
            if !kind.isChanged || hasChangeFailed || end != nil { return .content(complete, outcome) }
            return changed.map { .content($0, outcome) }
        case nil:
            switch end {
            case .deadline: return .fallback("deadline")
            case .expired: return .fallback("system-expired")
            case .released: return .fallback("abandoned")
            default: return nil
            }
        }
    }
}
