internal import PushcryptKeyStore

/// The closures that a session calls; each may be called on any thread, and none while the session's lock is held.
///
/// They may call the session back before they return. The content passed to them is theirs: changing it changes no
/// delivery.
package struct DeliverySteps<Content> {
    /// Opens the push; ends in `opened`, `decided` or `failed`.
    package var open: () -> Void
    /// Fetches the attachments or the full body of this content; ends in `attached`, perhaps after `extended`.
    package var attach: (Content) -> Void
    /// Stops fetching, and removes what was fetched; may be called while `attach` still runs, and once more after it.
    package var stopAttaching: () -> Void
    /// Lets the app change this content; ends in `changed` or `changeFailed`.
    package var change: (Content) -> Void
    package var fallback: (Delivery.Reason) -> Content
    /// Shows this; final.
    package var deliver: (Content, Delivery.Outcome) -> Void

    /// Creates the steps; a push that is neither attached to nor changed needs the first and the last two.
    package init(
        open: @escaping () -> Void, attach: @escaping (Content) -> Void = { _ in },
        stopAttaching: @escaping () -> Void = {}, change: @escaping (Content) -> Void = { _ in },
        fallback: @escaping (Delivery.Reason) -> Content, deliver: @escaping (Content, Delivery.Outcome) -> Void
    ) {
        self.open = open
        self.attach = attach
        self.stopAttaching = stopAttaching
        self.change = change
        self.fallback = fallback
        self.deliver = deliver
    }
}

/// One notification, one delivery: the state machine behind a lock, with its two timers.
///
/// Events may arrive on any thread, several at once, late or repeated. After `receive()`, `deliver` is called exactly
/// once and outside the lock: at the latest when the deadline passes, the system's time ends, or the last reference to
/// the session is released. Content is frozen when it arrives, and a separate copy is delivered, so that nobody changes
/// it afterwards.
///
/// The session opens nothing and fetches nothing: `steps` starts that work, which reports back with events. Events
/// after the delivery are ignored. The steps should hold the session weakly; they are released with the delivery.
package final class DeliverySession<Content>: @unchecked Sendable {
    private let progress: Locked<Progress>
    private let freeze: @Sendable (Content) -> Content
    private let clock: any DeliveryClock
    private let deadlines: DeliveryDeadlines

    /// The state guarded by the lock.
    private final class Progress {
        var machine = DeliveryMachine<Content>()
        /// nil after the delivery, which releases the content handler and whatever it holds.
        var steps: DeliverySteps<Content>?
        var timers: [any ScheduledCall] = []
        var attachmentsAreStopped = false

        init(_ steps: DeliverySteps<Content>) { self.steps = steps }
    }

    /// The consequences of an event, to be carried out outside the lock.
    private struct Turn {
        /// The state before; the last reference to content is released with it, which runs foreign code.
        let before: DeliveryMachine<Content>
        let actions: [DeliveryMachine<Content>.Action]
        let steps: DeliverySteps<Content>?
        let timers: [any ScheduledCall]
    }

    /// Creates a session that has received nothing.
    ///
    /// - Parameters:
    ///   - deadlines: When to stop waiting.
    ///   - clock: Calls at the deadlines.
    ///   - freeze: Makes a copy that shares nothing mutable with its original; called on any thread, also on several at
    ///     once with the same original.
    ///   - steps: The closures that the session calls.
    package init(
        deadlines: DeliveryDeadlines = DeliveryDeadlines(), clock: any DeliveryClock,
        freeze: @escaping @Sendable (Content) -> Content, steps: DeliverySteps<Content>
    ) {
        progress = Locked(Progress(steps))
        self.freeze = freeze
        self.clock = clock
        self.deadlines = deadlines
    }

    deinit { handle(.released) }

    /// Whether the delivery was made, or is being made on another thread.
    package var isOver: Bool { progress.withLock { $0.machine.isOver } }

    /// Starts: sets the timers, and has the push opened. A second call does nothing.
    package func receive() { handle(.received) }

    /// Handles an event, and carries out its consequences on this thread.
    package func handle(_ event: DeliveryMachine<Content>.Event) {
        let event = frozen(event)
        let turn = progress.withLock { Self.turn($0, event) }
        if let steps = turn.steps { for action in turn.actions { perform(action, steps) } }
        for timer in turn.timers { timer.cancel() }
    }

    private static func turn(_ progress: Progress, _ event: DeliveryMachine<Content>.Event) -> Turn {
        let before = progress.machine
        let actions = progress.machine.handle(event)
        for case .stopAttaching in actions { progress.attachmentsAreStopped = true }
        guard progress.machine.isOver else {
            return Turn(before: before, actions: actions, steps: progress.steps, timers: [])
        }
        defer {
            progress.steps = nil
            progress.timers = []
        }
        return Turn(before: before, actions: actions, steps: progress.steps, timers: progress.timers)
    }

    private func perform(_ action: DeliveryMachine<Content>.Action, _ steps: DeliverySteps<Content>) {
        switch action {
        case .open: if setTimers() { steps.open() }
        case .attach(let content):
            steps.attach(freeze(content))
            // Another thread may have stopped the fetch before it began.
            if progress.withLock({ $0.attachmentsAreStopped }) { steps.stopAttaching() }
        case .stopAttaching: steps.stopAttaching()
        case .change(let content): steps.change(freeze(content))
        case .deliver(let content, let outcome): steps.deliver(freeze(content), outcome)
        case .deliverFallback(let reason): steps.deliver(freeze(steps.fallback(reason)), .fallback(reason))
        }
    }

    // MARK: Time

    /// Sets the timers; returns whether there is time left.
    private func setTimers() -> Bool {
        let timers = [
            clock.schedule(afterMilliseconds: deadlines.attachments) { [weak self] in
                self?.handle(.attachmentDeadline)
            },
            clock.schedule(afterMilliseconds: deadlines.delivery) { [weak self] in self?.handle(.deadline) },
        ]
        let isInTime = progress.withLock { progress in
            if !progress.machine.isOver { progress.timers = timers }
            return !progress.machine.isOver
        }
        if !isInTime { for timer in timers { timer.cancel() } }
        return isInTime
    }

    // MARK: Freezing

    private func frozen(_ event: DeliveryMachine<Content>.Event) -> DeliveryMachine<Content>.Event {
        switch event {
        case .opened(let content, let opened): .opened(freeze(content), opened)
        case .decided(let content, let outcome): .decided(freeze(content), outcome)
        case .extended(let content): .extended(freeze(content))
        case .attached(let content, let isComplete): .attached(freeze(content), isComplete: isComplete)
        case .changed(let content): .changed(freeze(content))
        default: event
        }
    }
}

extension DeliverySession where Content: Sendable {
    /// Creates a session whose content is immutable, so that it need not be copied.
    package convenience init(
        deadlines: DeliveryDeadlines = DeliveryDeadlines(), clock: any DeliveryClock, steps: DeliverySteps<Content>
    ) {
        self.init(deadlines: deadlines, clock: clock, freeze: { $0 }, steps: steps)
    }
}
