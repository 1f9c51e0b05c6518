internal import Foundation
internal import PushcryptReceiver

/// The clock of a simulated device.
public enum DeviceClock: Sendable {
    /// Real time. A test of an extension that never delivers takes half a minute.
    case real
    /// A clock that the test advances.
    case simulated(SimulatedClock)
}

extension DeviceClock {
    /// The real time to wait for a delivery before simulated time may pass, in seconds.
    var patience: TimeInterval {
        switch self {
        case .real: 60
        // Thirty years are for ever, and a date can hold them.
        case .simulated(let clock): min(clock.patience, 1e9)
        }
    }

    /// The current time.
    var date: Date {
        switch self {
        case .real: Date()
        case .simulated(let clock): clock.date
        }
    }

    /// Calls `body` on another thread after the delay, unless the returned call is cancelled or released first.
    func schedule(afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void) -> ClockCall {
        switch self {
        case .simulated(let clock): return clock.call(afterMilliseconds: delay, body)
        case .real:
            let call = ClockCall(body)
            let delay = DispatchTimeInterval.milliseconds(Int(clamping: delay))
            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak call] in
                if let body = call?.take() { Thread.detachNewThread(body) }
            }
            return call
        }
    }

    /// Runs `body` on a new thread.
    func start(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .real: Thread.detachNewThread(body)
        case .simulated(let clock): clock.start(body)
        }
    }

    /// Waits until the threads of simulated time are idle, so that every run is the same. Returns at once in real time.
    func settle() {
        if case .simulated(let clock) = self { clock.waitUntilIdle() }
    }

    /// Advances simulated time to the next call. Does nothing in real time.
    func pass() {
        if case .simulated(let clock) = self { clock.advanceToNextCall() }
    }
}

/// A call that a clock has not made yet. Releasing the last reference cancels it.
final class ClockCall: ScheduledCall, @unchecked Sendable {
    private let lock = NSLock()
    private var body: (@Sendable () -> Void)?

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Cancels the call, unless it has been made.
    func cancel() { _ = take() }

    /// Whether the call is still to be made.
    var isWanted: Bool { lock.withLock { body != nil } }

    /// Returns the body to the first caller, which runs it; nil to every other.
    func take() -> (@Sendable () -> Void)? {
        lock.withLock {
            defer { body = nil }
            return body
        }
    }
}
