internal import Foundation
internal import UserNotifications

/// The progress of one push. It counts deliveries and accepts the first.
///
/// The extension retains it through the content handler. It does not retain the extension.
final class Reception: @unchecked Sendable {
    // Guarded by the condition.
    private struct Progress {
        var deliveries = 0
        var lateDeliveries = 0
        var milliseconds: UInt64?
        var delivered: UNNotificationContent?
        var copy: UNNotificationContent?
        var refusal: Fault?
        var isExpired = false
        var isOver = false
        var isReturned = false
        var decision: (source: Outcome.Source, shown: Shown?)?
        var trace: [String] = []
        // Retained, because releasing a call cancels it.
        var timers: [ClockCall] = []
    }

    let requestIdentifier: String
    let original: UNNotificationContent
    let skipped: SkipReason?
    private let start: Date
    private let clock: DeviceClock
    private let condition = NSCondition()
    private var progress = Progress()

    init(_ identifier: String, _ original: UNNotificationContent, _ skipped: SkipReason?, _ clock: DeviceClock) {
        requestIdentifier = identifier
        self.original = original
        self.skipped = skipped
        self.clock = clock
        start = clock.date
    }

    // MARK: Events

    /// Records a call of the content handler. Returns the copy to show if the call is the first and in time.
    func deliver(_ content: UNNotificationContent) -> UNNotificationContent? {
        let now = elapsed
        return condition.withLock {
            progress.deliveries += 1
            progress.milliseconds = progress.milliseconds ?? now
            if progress.isOver { progress.lateDeliveries += 1 }
            guard progress.copy == nil, !progress.isOver else {
                note("delivery \(progress.deliveries) is ignored", now)
                return nil
            }
            note("delivered", now)
            progress.delivered = content
            progress.copy = content.copied
            return progress.copy
        }
    }

    /// Returns whether to tell the extension that its time is almost over.
    func expire() -> Bool {
        let now = elapsed
        return condition.withLock {
            guard progress.copy == nil else { return false }
            progress.isExpired = true
            note("time will expire", now)
            return true
        }
    }

    /// Returns whether the time ends without a delivery.
    func end() -> Bool {
        let now = elapsed
        return condition.withLock {
            guard progress.copy == nil, !progress.isOver else { return false }
            progress.isOver = true
            note("time is over: the push is shown as received", now)
            return true
        }
    }

    /// Records that the system does not take what was delivered.
    func refuse(_ fault: Fault) {
        note("\(fault): the push is shown as received")
        condition.withLock { progress.refusal = fault }
    }

    /// Records the outcome.
    func decide(_ source: Outcome.Source, _ shown: Shown?) {
        let now = elapsed
        condition.withLock {
            progress.decision = (source, shown)
            progress.timers = []
            note(shown.map { "shown: \($0)" } ?? "nothing is shown", now)
            condition.broadcast()
        }
    }

    /// Records that `didReceive` has returned.
    func didReturn() {
        condition.withLock {
            progress.isReturned = true
            condition.broadcast()
        }
    }

    func keep(_ timer: ClockCall) {
        condition.withLock { if progress.decision == nil { progress.timers.append(timer) } }
    }

    func note(_ line: String) {
        let now = elapsed
        condition.withLock { note(line, now) }
    }

    private func note(_ line: String, _ milliseconds: UInt64) {
        let hundredths = milliseconds / 10
        progress.trace.append("\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10) s  \(line)")
    }

    private var elapsed: UInt64 { UInt64(max(0, clock.date.timeIntervalSince(start)) * 1000 + 0.5) }

    // MARK: Outcome

    /// The outcome; nil while it is undecided.
    var outcome: Outcome? { condition.withLock { makeOutcome() } }

    /// Waits for the outcome, for at most some seconds of real time.
    func outcome(within seconds: TimeInterval) -> Outcome? {
        let end = Date(timeIntervalSinceNow: seconds)
        return condition.withLock {
            while progress.decision == nil, condition.wait(until: end) {}
            return makeOutcome()
        }
    }

    /// Waits until `didReceive` has returned or is waiting for simulated time to pass.
    func waitUntilReturned(_ clock: DeviceClock) {
        guard skipped == nil else { return }
        guard case .real = clock else { return clock.settle() }
        let end = Date(timeIntervalSinceNow: 1)
        condition.withLock { while !progress.isReturned, condition.wait(until: end) {} }
    }

    private func makeOutcome() -> Outcome? {
        guard let (source, shown) = progress.decision else { return nil }
        return Outcome(
            requestIdentifier: requestIdentifier, skipped: skipped, source: source, shown: shown,
            deliveries: progress.deliveries, lateDeliveries: progress.lateDeliveries,
            milliseconds: progress.milliseconds, isExpired: progress.isExpired, faults: faults, trace: progress.trace)
    }

    private var faults: [Fault] {
        guard skipped == nil else { return [] }
        var faults: [Fault] = []
        if progress.isOver, progress.deliveries == 0 { faults.append(.neverDelivered) }
        if progress.lateDeliveries > 0 { faults.append(.deliveredLate) }
        if progress.deliveries > 1 { faults.append(.deliveredTwice) }
        if let delivered = progress.delivered, let copy = progress.copy, !copy.isEqual(delivered) {
            faults.append(.changedAfterDelivery)
        }
        if let refusal = progress.refusal { faults.append(refusal) }
        return faults
    }
}
