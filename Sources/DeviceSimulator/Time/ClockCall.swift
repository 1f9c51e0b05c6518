internal import Foundation
internal import PushcryptReceiver

/// A call that a clock has not made yet; taken back when its last reference goes.
final class ClockCall: ScheduledCall, @unchecked Sendable {
    private let lock = NSLock()
    private var body: (@Sendable () -> Void)?

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Takes the call back, if it is not too late.
    func cancel() { _ = take() }

    /// Whether the call is still to be made.
    var isWanted: Bool { lock.withLock { body != nil } }

    /// Gives whoever makes the call what to do, once.
    func take() -> (@Sendable () -> Void)? {
        lock.withLock {
            defer { body = nil }
            return body
        }
    }
}
