internal import Foundation
internal import UserNotifications

/// What is known of one push: its deliveries are counted here, and the first is taken.
///
/// The extension holds it through the content handler, for as long as it likes; it holds the extension in no way.
final class Reception: @unchecked Sendable {
    // Guarded by the condition.
    private struct Progress {
        var deliveries = 0
        var lateDeliveries = 0
        var milliseconds: UInt64?
        var delivered: UNNotificationContent?
        var copy: UNNotificationContent?
        var isEmptyWithoutEntitlement = false
        var isExpired = false
        var isOver = false
        var isReturned = false
        var decision: (source: Outcome.Source, shown: Shown?)?
        var trace: [String] = []
        // Kept, because a call goes with its last reference.
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

    /// Takes a call of the content handler in; gives the copy that is to be shown if it is the first and in time.
    func deliver(_ content: UNNotificationContent) -> UNNotificationContent? {
        let now = elapsed
        return condition.withLock {
            progress.deliveries += 1
            progress.milliseconds = progress.milliseconds ?? now
            if progress.isOver { progress.lateDeliveries += 1 }
            guard progress.copy == nil, !progress.isOver else {
                note("delivery \(progress.deliveries), which nobody takes", now)
                return nil
            }
            note("delivered", now)
            progress.delivered = content
            progress.copy = content.copied
            return progress.copy
        }
    }

    /// Tells whether the extension must be told that its time is almost over.
    func expire() -> Bool {
        let now = elapsed
        return condition.withLock {
            guard progress.copy == nil else { return false }
            progress.isExpired = true
            note("time will expire", now)
            return true
        }
    }

    /// Tells whether the time ends without a delivery.
    func end() -> Bool {
        let now = elapsed
        return condition.withLock {
            guard progress.copy == nil, !progress.isOver else { return false }
            progress.isOver = true
            note("time is over: the push is shown as it came", now)
            return true
        }
    }

    /// Notes that the delivered content may not be shown, because the app has no entitlement for showing nothing.
    func refuseEmpty() {
        note("nothing to read was delivered, without the entitlement: the push is shown as it came")
        condition.withLock { progress.isEmptyWithoutEntitlement = true }
    }

    /// Notes what a person is shown.
    func decide(_ source: Outcome.Source, _ shown: Shown?) {
        let now = elapsed
        condition.withLock {
            progress.decision = (source, shown)
            progress.timers = []
            note(shown.map { "shown: \($0)" } ?? "nothing is shown", now)
            condition.broadcast()
        }
    }

    /// Notes that `didReceive` has returned.
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

    /// What has become of it; nil while that is open.
    var outcome: Outcome? { condition.withLock { makeOutcome() } }

    /// Waits so many seconds of real time.
    func outcome(within seconds: TimeInterval) -> Outcome? {
        let end = Date(timeIntervalSinceNow: seconds)
        return condition.withLock {
            while progress.decision == nil, condition.wait(until: end) {}
            return makeOutcome()
        }
    }

    /// Waits until `didReceive` has returned, or waits for a time to come.
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
        if progress.isEmptyWithoutEntitlement { faults.append(.emptyWithoutEntitlement) }
        return faults
    }
}
