/// A clock that calls back after a time; the library itself has none.
///
/// A service extension passes the system's clock, a test one that it moves by hand.
public protocol DeliveryClock: Sendable {
    /// Calls `body` once, on any thread, after this many milliseconds; never, if the returned call is released or
    /// cancelled before.
    func schedule(afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void) -> any ScheduledCall
}

/// A call that has not been made yet.
public protocol ScheduledCall: Sendable {
    /// Cancels the call, if it is not too late.
    func cancel()
}

/// The times at which a delivery stops waiting, in milliseconds from the moment the push was received.
public struct DeliveryDeadlines: Hashable, Sendable {
    /// When the best content available is shown; 25 seconds, because the system gives about 30.
    public var delivery: UInt64
    /// When missing attachments are given up; 15 seconds.
    public var attachments: UInt64

    /// Creates deadlines in milliseconds; that of the delivery must be below the system's 30 seconds.
    public init(delivery: UInt64 = 25_000, attachments: UInt64 = 15_000) {
        self.delivery = delivery
        self.attachments = attachments
    }
}
