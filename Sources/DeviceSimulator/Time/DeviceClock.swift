internal import Foundation

/// The time of a simulated device.
public enum DeviceClock: Sendable {
    /// The real time: an extension that never delivers costs a test half a minute.
    case real
    /// A time that the test moves by hand.
    case simulated(SimulatedClock)
}

extension DeviceClock {
    /// How long, in seconds of real time, to wait for a delivery before the time may pass.
    var patience: TimeInterval {
        switch self {
        case .real: 60
        case .simulated(let clock): clock.patience
        }
    }

    /// The present time.
    var date: Date {
        switch self {
        case .real: Date()
        case .simulated(let clock): clock.date
        }
    }

    /// Calls `body` on another thread after a time, unless what was returned is cancelled or gone.
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

    /// Runs `body` on a thread of its own.
    func start(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .real: Thread.detachNewThread(body)
        case .simulated(let clock): clock.start(body)
        }
    }

    /// Waits for the threads of a simulated time, so that what follows is the same in every run; real time waits for nobody.
    func settle() {
        if case .simulated(let clock) = self { clock.waitUntilIdle() }
    }

    /// Lets a simulated time pass until something happens; real time passes by itself.
    func pass() {
        if case .simulated(let clock) = self { clock.advanceToNextCall() }
    }
}
