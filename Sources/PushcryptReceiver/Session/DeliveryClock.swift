/// Calls back after a time; the library itself has no clock.
///
/// A service extension gives the system's, a test one that it moves by hand.
public protocol DeliveryClock: Sendable {
    /// Calls `body` once, on any thread, when so many milliseconds have passed; or never, if what was returned is gone or
    /// cancelled before.
    func schedule(afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void) -> any ScheduledCall
}

/// A call that has not been made yet.
public protocol ScheduledCall: Sendable {
    /// Takes the call back, if it is not too late.
    func cancel()
}
