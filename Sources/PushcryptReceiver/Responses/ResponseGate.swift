internal import PushcryptKeyStore

/// One response, one completion: the system's completion handler, called exactly once, whatever happens.
///
/// It is called when the work is over, at the latest when the deadline passes or the last reference goes; on whatever thread
/// that is, and outside every lock. Without it the system counts the app as hanging, ends it, and may not wake it for the
/// next response; called twice, it ends the app.
///
///     let gate = ResponseGate(clock: clock, completion: completionHandler)
///     Task { await take(response); gate.complete() }
///
/// What the app does for the response goes on after the deadline, as long as the system lets it.
public final class ResponseGate: @unchecked Sendable {
    /// How long a response may take unless the app says otherwise, in milliseconds: less than the system gives.
    public static let standardDeadline: UInt64 = 20_000

    private let state: Locked<State>

    /// What the lock guards.
    private final class State {
        /// Gone after the call, and with it whatever it holds.
        var completion: (() -> Void)?
        var timer: (any ScheduledCall)?

        init(_ completion: @escaping () -> Void) { self.completion = completion }
    }

    /// Takes the completion handler, and starts the deadline.
    public init(
        deadline: UInt64 = standardDeadline, clock: any DeliveryClock, completion: @escaping () -> Void
    ) {
        state = Locked(State(completion))
        let timer = clock.schedule(afterMilliseconds: deadline) { [weak self] in self?.complete() }
        let isOver = state.withLock { state in
            if state.completion != nil { state.timer = timer }
            return state.completion == nil
        }
        if isOver { timer.cancel() }
    }

    deinit { complete() }

    /// Whether the handler was called, or is being called on another thread.
    public var isOver: Bool { state.withLock { $0.completion == nil } }

    /// Calls the handler, if nobody has.
    public func complete() {
        let (completion, timer) = state.withLock { state in
            defer { (state.completion, state.timer) = (nil, nil) }
            return (state.completion, state.timer)
        }
        timer?.cancel()
        completion?()
    }
}
