/// One notification's way to its one delivery: a pure state machine, without clock, lock or thread.
///
/// Whatever events come, in whatever order, it asks for one delivery and no more, and after `received` every one of
/// `deadline`, `expired` and `released` ends in it. What it delivers is the best there is at that moment: the changed
/// content, otherwise the opened one, with its full body if that has come, otherwise the fallback. An event that does not
/// fit the state changes nothing. A delivery stands before whatever there is to tidy up, because that may hang.
///
///     waiting ─received→ opening ─opened→ attaching ─→ changing ─→ delivered
///                           └──── failed ──────────────────────────→┘
public struct DeliveryMachine<Content> {
    /// What has happened.
    public enum Event {
        /// The system has handed a push over.
        case received
        /// The push is opened: this is what a person may be shown from now on.
        case opened(Content, Opened)
        /// The push is shown as it came, or not at all, as a policy of the app says.
        case decided(Content, DeliveryOutcome)
        /// The push does not open.
        case failed(Delivery.Reason)
        /// The full body has come: this is what a person may be shown from now on.
        case extended(Content)
        /// Every attachment that can be had is in this content.
        case attached(Content, isComplete: Bool)
        /// The app has changed the content.
        case changed(Content)
        /// The app's change failed.
        case changeFailed
        /// The time for attachments is up.
        case attachmentDeadline
        /// The receiver's own time is up.
        case deadline
        /// The system says that its time is up.
        case expired
        /// Nobody holds the session any more.
        case released
    }

    /// What there is to do with an opened push before it is shown.
    public struct Opened: Hashable, Sendable {
        /// There are attachments to fetch, or a full body.
        public var hasAttachments: Bool
        /// The app wants to change the content.
        public var isChanged: Bool

        /// Takes what there is to do.
        public init(hasAttachments: Bool = false, isChanged: Bool = false) {
            self.hasAttachments = hasAttachments
            self.isChanged = isChanged
        }
    }

    /// What to do now.
    public enum Action {
        /// Set the timers of both deadlines, and open the push.
        case open
        /// Fetch the attachments and put them into this content.
        case attach(Content)
        /// Stop fetching attachments, and remove what is there of them.
        case stopAttaching
        /// Let the app change this content.
        case change(Content)
        /// Show this, once and for all.
        case deliver(Content, DeliveryOutcome)
        /// Show the fallback, once and for all.
        case deliverFallback(Delivery.Reason)
    }

    fileprivate enum State {
        case waiting
        case opening(isTooLateToAttach: Bool)
        case attaching(Content, isChanged: Bool)
        case changing(Content, DeliveryOutcome)
        case delivered
    }

    private var state = State.waiting

    /// Starts with nothing received.
    public init() {}

    /// Whether the delivery has been asked for.
    public var isOver: Bool { if case .delivered = state { true } else { false } }

    /// Takes an event in, and says what to do, in this order; nothing for an event that comes too late or twice.
    public mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.waiting, .received):
            state = .opening(isTooLateToAttach: false)
            return [.open]
        case (.opening, .attachmentDeadline):
            state = .opening(isTooLateToAttach: true)
            return []
        case (.opening(let isTooLate), .opened(let content, let opened)) where opened.hasAttachments:
            if isTooLate { return goOn(with: content, .openedWithoutAttachment, isChanged: opened.isChanged) }
            state = .attaching(content, isChanged: opened.isChanged)
            return [.attach(content)]
        case (.opening, .opened(let content, let opened)):
            return goOn(with: content, .opened, isChanged: opened.isChanged)
        case (.opening, .decided(let content, let outcome)): return deliver(content, outcome)
        case (.opening, .failed(let reason)): return fallBack(reason)
        case (.opening, .deadline): return fallBack(.deadline)
        case (.opening, .expired): return fallBack(.systemExpired)
        case (.opening, .released): return fallBack(.abandoned)

        case (.attaching(_, let isChanged), .extended(let content)):
            state = .attaching(content, isChanged: isChanged)
            return []
        case (.attaching(_, let isChanged), .attached(let content, let isComplete)):
            return goOn(with: content, isComplete ? .opened : .openedWithoutAttachment, isChanged: isChanged)
        case (.attaching(let content, isChanged: true), .attachmentDeadline):
            return [.stopAttaching] + goOn(with: content, .openedWithoutAttachment, isChanged: true)
        case (.attaching(let content, _), .attachmentDeadline), (.attaching(let content, _), .deadline),
            (.attaching(let content, _), .expired), (.attaching(let content, _), .released):
            return deliver(content, .openedWithoutAttachment) + [.stopAttaching]

        case (.changing(_, let outcome), .changed(let content)): return deliver(content, outcome)
        case (.changing(let content, let outcome), .changeFailed), (.changing(let content, let outcome), .deadline),
            (.changing(let content, let outcome), .expired), (.changing(let content, let outcome), .released):
            return deliver(content, outcome)
        default: return []
        }
    }

    private mutating func goOn(with content: Content, _ outcome: DeliveryOutcome, isChanged: Bool) -> [Action] {
        guard isChanged else { return deliver(content, outcome) }
        state = .changing(content, outcome)
        return [.change(content)]
    }

    private mutating func deliver(_ content: Content, _ outcome: DeliveryOutcome) -> [Action] {
        state = .delivered
        return [.deliver(content, outcome)]
    }

    private mutating func fallBack(_ reason: Delivery.Reason) -> [Action] {
        state = .delivered
        return [.deliverFallback(reason)]
    }
}

/// Two machines are equal when they answer alike whatever comes; what tests follow once, they follow for all equal ones.
extension DeliveryMachine: Equatable where Content: Equatable {}
extension DeliveryMachine.State: Equatable where Content: Equatable {}
extension DeliveryMachine: Hashable where Content: Hashable {}
extension DeliveryMachine.State: Hashable where Content: Hashable {}
