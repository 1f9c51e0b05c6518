internal import Dispatch
public import PushcryptReceiver

/// The system's clock.
///
/// Each call has a timer and a queue of its own, which the system gives a thread to, even when every thread of the common
/// pool hangs. Not run on Apple systems.
public struct SystemClock: DeliveryClock {
    /// Gives the clock.
    public init() {}

    /// Calls `body` once when so many milliseconds have passed, unless what is returned is cancelled or gone before.
    public func schedule(afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void) -> any ScheduledCall {
        let queue = DispatchQueue(label: "pushcrypt.deadline", qos: .userInitiated)
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(Int(clamping: delay)))
        timer.setEventHandler(handler: body)
        timer.activate()
        return TimerCall(timer)
    }
}

/// A timer that has not fired yet, or has.
private final class TimerCall: ScheduledCall, @unchecked Sendable {
    // Its methods may be called from any thread.
    private let timer: any DispatchSourceTimer

    init(_ timer: any DispatchSourceTimer) { self.timer = timer }

    func cancel() { timer.cancel() }

    deinit { timer.cancel() }
}
