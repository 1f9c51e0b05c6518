internal import PushcryptKeyStore

/// One response, one completion: calls the system's completion handler exactly once, whatever happens.
///
/// It is called when the work is done, at the latest when the deadline passes or the last reference is released; on any
/// thread, and outside every lock. Without the call the system considers the app hanging, kills it, and may not wake it
/// for the next response; a second call crashes the app.
///
///     let gate = ResponseGate(clock: clock, completion: completionHandler)
///     Task { await handle(response); gate.complete() }
///
/// The app's work for the response continues after the deadline, as long as the system lets it.
package final class ResponseGate: @unchecked Sendable {
    /// How long a response may take if the app does not say, in milliseconds: less than the system allows.
    package static let standardDeadline: UInt64 = 20_000

    private let state: Locked<State>

    /// The state guarded by the lock.
    private struct State {
        /// nil after the call, which releases whatever it holds.
        var completion: (() -> Void)?
        var timer: (any ScheduledCall)?
    }

    /// Creates a gate for a completion handler, and starts the deadline, in milliseconds.
    package init(
        deadline: UInt64 = standardDeadline, clock: any DeliveryClock, completion: @escaping () -> Void
    ) {
        state = Locked(State(completion: completion))
        let timer = clock.schedule(afterMilliseconds: deadline) { [weak self] in self?.complete() }
        let isOver = state.withLock { state in
            if state.completion != nil { state.timer = timer }
            return state.completion == nil
        }
        if isOver { timer.cancel() }
    }

    deinit { complete() }

    /// Whether the handler was called, or is being called on another thread.
    package var isOver: Bool { state.withLock { $0.completion == nil } }

    /// Calls the handler, if it has not been called.
    package func complete() {
        let (completion, timer) = state.withLock { state in
            defer { (state.completion, state.timer) = (nil, nil) }
            return (state.completion, state.timer)
        }
        timer?.cancel()
        completion?()
    }
}
