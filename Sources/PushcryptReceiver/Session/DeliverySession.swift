internal import PushcryptKeyStore

/// One notification, one delivery: the state machine behind a lock, with its two timers.
///
/// Events may come from any thread, several at once, late or more than once. After `receive()`, `deliver` is called exactly
/// once and outside the lock, whatever happens: at the latest when the deadline passes, the system's time ends, or the last
/// reference to the session goes. Content is frozen as it comes in, and what goes out is a copy of its own, so that nobody
/// changes it behind the delivery's back.
///
/// It opens nothing and fetches nothing: `steps` starts that work, and whoever does it tells the session what came of it.
/// What comes after the delivery is ignored. The steps should hold the session weakly; they are let go with the delivery.
public final class DeliverySession<Content>: @unchecked Sendable {
    private let progress: Locked<Progress>
    private let freeze: @Sendable (Content) -> Content
    private let clock: any DeliveryClock
    private let deadlines: DeliveryDeadlines

    /// What the lock guards.
    private final class Progress {
        var machine = DeliveryMachine<Content>()
        /// Gone after the delivery, and with it the content handler and whatever it holds.
        var steps: DeliverySteps<Content>?
        var timers: [any ScheduledCall] = []
        var attachmentsAreStopped = false

        init(_ steps: DeliverySteps<Content>) { self.steps = steps }
    }

    /// What an event leads to, to be done outside the lock.
    private struct Turn {
        /// The state that has gone; the last reference to content goes with it, and runs code that is not ours.
        let before: DeliveryMachine<Content>
        let actions: [DeliveryMachine<Content>.Action]
        let steps: DeliverySteps<Content>?
        let timers: [any ScheduledCall]
    }

    /// Makes a session that has received nothing yet.
    ///
    /// - Parameters:
    ///   - deadlines: when to stop waiting.
    ///   - clock: what calls at the deadlines.
    ///   - freeze: makes a copy that shares nothing with its original that either of them can change; called on any
    ///     thread, also on several at once with the same original.
    ///   - steps: what the session asks for.
    public init(
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
    public var isOver: Bool { progress.withLock { $0.machine.isOver } }

    /// Starts: sets the timers, and has the push opened. A second call does nothing.
    public func receive() { handle(.received) }

    /// Takes in what has happened, and does on this thread what there is to do then.
    public func handle(_ event: DeliveryMachine<Content>.Event) {
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
            // Another thread may have stopped what had not begun.
            if progress.withLock({ $0.attachmentsAreStopped }) { steps.stopAttaching() }
        case .stopAttaching: steps.stopAttaching()
        case .change(let content): steps.change(freeze(content))
        case .deliver(let content, let outcome): steps.deliver(freeze(content), outcome)
        case .deliverFallback(let reason): steps.deliver(freeze(steps.fallback(reason)), .fallback(reason))
        }
    }

    // MARK: Time

    /// Tells whether there is time left.
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
    /// Makes a session whose content nobody can change, so that it need not be copied.
    public convenience init(
        deadlines: DeliveryDeadlines = DeliveryDeadlines(), clock: any DeliveryClock, steps: DeliverySteps<Content>
    ) {
        self.init(deadlines: deadlines, clock: clock, freeze: { $0 }, steps: steps)
    }
}
