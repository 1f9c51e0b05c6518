internal import Dispatch
internal import PushcryptReceiver

/// The system's clock.
///
/// Each call has its own timer and queue. The system gives the queue a thread even if every thread of the shared pool
/// hangs. Not run on Apple systems.
struct SystemClock: DeliveryClock {
    /// Calls `body` once after the delay, unless the returned value is cancelled or released first.
    ///
    /// - Parameters:
    ///   - delay: The delay in milliseconds.
    ///   - body: Runs on the call's own queue.
    func schedule(afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void) -> any ScheduledCall {
        let queue = DispatchQueue(label: "pushcrypt.deadline", qos: .userInitiated)
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(Int(clamping: delay)))
        timer.setEventHandler(handler: body)
        timer.activate()
        return TimerCall(timer)
    }
}

private final class TimerCall: ScheduledCall, @unchecked Sendable {
    // Its methods may be called on any thread.
    private let timer: any DispatchSourceTimer

    init(_ timer: any DispatchSourceTimer) { self.timer = timer }

    func cancel() { timer.cancel() }

    deinit { timer.cancel() }
}
