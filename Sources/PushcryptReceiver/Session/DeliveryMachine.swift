/// The states of one notification on its way to its one delivery: a pure state machine, without clock, lock or thread.
///
/// For any events, in any order, it requests exactly one delivery, and after `received` each of
/// `deadline`, `expired` and `released` leads to it. It delivers the best content available at that moment: the changed
/// one, otherwise the opened one, with its full body if that has arrived, otherwise the fallback. An event that does
/// not fit the state changes nothing. A delivery precedes any cleanup, because cleanup may hang.
///
///     waiting ─received→ opening ─opened→ attaching ─→ changing ─→ delivered
///                           └──── failed ──────────────────────────→┘
package struct DeliveryMachine<Content> {
    /// Something that has happened.
    package enum Event {
        /// The system has handed over a push.
        case received
        /// The push is opened: this content may be shown from now on.
        case opened(Content, Opened)
        /// The push is shown as it came, or not at all, according to the app's policy.
        case decided(Content, Delivery.Outcome)
        /// The push does not open.
        case failed(Delivery.Reason)
        /// The full body has arrived: this content may be shown from now on.
        case extended(Content)
        /// Every attachment that can be had is in this content.
        case attached(Content, isComplete: Bool)
        /// The app has changed the content.
        case changed(Content)
        /// The app's change failed.
        case changeFailed
        /// The time for attachments is over.
        case attachmentDeadline
        /// The receiver's own time is over.
        case deadline
        /// The system's time is over.
        case expired
        /// The session was released.
        case released
    }

    /// The work that remains on an opened push before it is shown.
    package struct Opened: Hashable, Sendable {
        /// Whether there are attachments or a full body to fetch.
        package var hasAttachments: Bool
        /// Whether the app wants to change the content.
        package var isChanged: Bool

        package init(hasAttachments: Bool = false, isChanged: Bool = false) {
            self.hasAttachments = hasAttachments
            self.isChanged = isChanged
        }
    }

    /// Something to do now.
    package enum Action {
        /// Set the timers of both deadlines, and open the push.
        case open
        /// Fetch the attachments and put them into this content.
        case attach(Content)
        /// Stop fetching attachments, and remove those already fetched.
        case stopAttaching
        /// Let the app change this content.
        case change(Content)
        /// Show this; final.
        case deliver(Content, Delivery.Outcome)
        /// Show the fallback; final.
        case deliverFallback(Delivery.Reason)
    }

    fileprivate enum State {
        case waiting
        case opening(isTooLateToAttach: Bool)
        case attaching(Content, isChanged: Bool)
        case changing(Content, Delivery.Outcome)
        case delivered
    }

    private var state = State.waiting

    /// Creates a machine that has received nothing.
    package init() {}

    /// Whether the delivery has been requested.
    package var isOver: Bool { if case .delivered = state { true } else { false } }

    /// Handles an event, and returns what to do, in this order; nothing for an event that is late or repeated.
    package mutating func handle(_ event: Event) -> [Action] {
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

    private mutating func goOn(with content: Content, _ outcome: Delivery.Outcome, isChanged: Bool) -> [Action] {
        guard isChanged else { return deliver(content, outcome) }
        state = .changing(content, outcome)
        return [.change(content)]
    }

    private mutating func deliver(_ content: Content, _ outcome: Delivery.Outcome) -> [Action] {
        state = .delivered
        return [.deliver(content, outcome)]
    }

    private mutating func fallBack(_ reason: Delivery.Reason) -> [Action] {
        state = .delivered
        return [.deliverFallback(reason)]
    }
}

/// Equal machines respond equally to every event, so tests need to follow each state only once.
extension DeliveryMachine: Equatable where Content: Equatable {}
extension DeliveryMachine.State: Equatable where Content: Equatable {}
extension DeliveryMachine: Hashable where Content: Hashable {}
extension DeliveryMachine.State: Hashable where Content: Hashable {}

extension DeliveryMachine.Event {
    /// Creates the event that tells a session the result of receiving a push.
    ///
    /// - Parameters:
    ///   - delivery: The delivery of a `NotificationReceiver`.
    ///   - content: The delivery's content in the form in which it is shown; not evaluated for a fallback.
    ///   - opened: The work that remains on an opened push before it is shown.
    package init(
        _ delivery: Delivery, content: @autoclosure () -> Content,
        _ opened: DeliveryMachine<Content>.Opened = DeliveryMachine<Content>.Opened()
    ) {
        self =
            switch delivery.outcome {
            case .opened, .openedWithoutAttachment: .opened(content(), opened)
            case .passed: .decided(content(), .passed)
            case .suppressed, .withdrawn, .dropped: .decided(content(), delivery.outcome)
            case .fallback(let reason): .failed(reason)
            }
    }
}
