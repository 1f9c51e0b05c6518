internal import Dispatch
internal import Foundation
internal import UserNotifications

/// One push on its way through a device: it is in the extension, or was.
public final class Arrival: @unchecked Sendable {
    private let reception: Reception
    private let clock: DeviceClock
    // Kept, so that what the extension's object does too late is seen.
    private let run: ExtensionRun?

    init(_ reception: Reception, _ run: ExtensionRun?, clock: DeviceClock) {
        self.reception = reception
        self.run = run
        self.clock = clock
    }

    /// Names the notification: the collapse id, otherwise the push's own id.
    public var requestIdentifier: String { reception.requestIdentifier }

    /// What has become of the push so far; nil while that is open. Calls of the handler that come later still count.
    public var outcome: Outcome? { reception.outcome }

    /// Waits until it is decided what is shown.
    ///
    /// Simulated time passes only when nothing was delivered for the clock's `patience`. When it returns, the extension's
    /// `didReceive` has returned too, or waits for a time to come.
    public func decided() async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.waitUntilDecided()) }
        }
    }

    /// Waits like `decided()`, and blocks the calling thread. Not on the main thread, which the app's delegate needs.
    public func waitUntilDecided() -> Outcome {
        dispatchPrecondition(condition: .notOnQueue(.main))
        while true {
            if let outcome = reception.outcome(within: clock.patience) {
                reception.waitUntilReturned(clock)
                return reception.outcome ?? outcome
            }
            clock.pass()
        }
    }
}
