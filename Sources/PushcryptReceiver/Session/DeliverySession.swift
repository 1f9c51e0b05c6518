internal import PushcryptKeyStore

/// One notification, one delivery: the state machine behind a lock, with its two timers.
///
/// Events may come from any thread, several at once, late or more than once. After `receive()`, `deliver` is called exactly
/// once and outside the lock, whatever happens: at the latest when the deadline passes, the system's time ends, or the last
/// reference to the session goes. Content is frozen as it comes in, so that nobody changes it behind the delivery's back.
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

        init(_ steps: DeliverySteps<Content>) { self.steps = steps }
    }

    /// Makes a session that has received nothing yet.
    ///
    /// - Parameter freeze: makes a copy that nobody else can change; content that is a value needs none.
    public init(
        deadlines: DeliveryDeadlines = DeliveryDeadlines(), clock: any DeliveryClock,
        freeze: @escaping @Sendable (Content) -> Content = { $0 }, steps: DeliverySteps<Content>
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
        let (actions, steps, timers) = progress.withLock { progress in
            let actions = progress.machine.handle(event)
            let steps = progress.steps
            guard progress.machine.isOver else { return (actions, steps, [any ScheduledCall]()) }
            defer {
                progress.steps = nil
                progress.timers = []
            }
            return (actions, steps, progress.timers)
        }
        for timer in timers { timer.cancel() }
        guard let steps else { return }
        for action in actions { perform(action, steps) }
    }

    private func perform(_ action: DeliveryMachine<Content>.Action, _ steps: DeliverySteps<Content>) {
        switch action {
        case .open:
            setTimers()
            steps.open()
        case .attach(let content): steps.attach(content)
        case .stopAttaching: steps.stopAttaching()
        case .change(let content): steps.change(content)
        case .deliver(let content, let outcome): steps.deliver(content, outcome)
        case .deliverFallback(let reason): steps.deliver(freeze(steps.fallback(reason)), .fallback(reason))
        }
    }

    // MARK: Time

    private func setTimers() {
        let timers = [
            clock.schedule(afterMilliseconds: deadlines.attachments) { [weak self] in
                self?.handle(.attachmentDeadline)
            },
            clock.schedule(afterMilliseconds: deadlines.delivery) { [weak self] in self?.handle(.deadline) },
        ]
        let isTooLate = progress.withLock { progress in
            if !progress.machine.isOver { progress.timers = timers }
            return progress.machine.isOver
        }
        if isTooLate { for timer in timers { timer.cancel() } }
    }

    // MARK: Freezing

    private func frozen(_ event: DeliveryMachine<Content>.Event) -> DeliveryMachine<Content>.Event {
        switch event {
        case .opened(let content, let opened): .opened(freeze(content), opened)
        case .decided(let content, let outcome): .decided(freeze(content), outcome)
        case .attached(let content, let isComplete): .attached(freeze(content), isComplete: isComplete)
        case .changed(let content): .changed(freeze(content))
        default: event
        }
    }
}
