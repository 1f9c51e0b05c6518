public import Foundation
public import PushcryptReceiver

/// A clock that a test advances, so that an extension's thirty seconds take no time and every run is the same.
///
/// Between two calls it waits until every thread that it knows is idle: the threads that run the extension's methods
/// and its own calls. It does not know threads and tasks that the extension starts; wait for their results, for example
/// with `Arrival.decided()`, before you advance the clock.
///
/// It is a `DeliveryClock`: pass it to the parts of the extension that have a deadline.
public final class SimulatedClock: DeliveryClock, @unchecked Sendable {
    private struct Entry {
        let time: UInt64
        weak var call: ClockCall?
    }

    // A thread that is busy for this long, in seconds of real time, is treated as blocked by something other than a
    // clock.
    private static let restLimit: TimeInterval = 10
    // Marks the threads that the clock waits for.
    private static let mark = "DeviceSimulator.SimulatedClock"

    /// The real time to wait for work that the clock cannot see, before simulated time may pass, in seconds.
    public let patience: TimeInterval
    private let start: Date
    private let condition = NSCondition()
    private var now: UInt64 = 0
    // Ordered by time, and for equal times by the order of scheduling.
    private var entries: [Entry] = []
    private var isAdvancing = false
    private var busy = 0
    // Threads that did not become idle: they wait for something other than a clock.
    private var stuck = 0

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - date: The initial date. The default is the beginning of 2026.
    ///   - patience: The real time to wait for work that the clock cannot see, before simulated time may pass, in
    ///     seconds. If it is too short, an extension looks late on a busy machine; with `.infinity`, time passes only
    ///     when you advance the clock.
    public init(startingAt date: Date = Date(timeIntervalSince1970: 1_767_225_600), patience: TimeInterval = 5) {
        start = date
        self.patience = patience
    }

    /// The milliseconds that have passed.
    public var milliseconds: UInt64 { condition.withLock { now } }

    /// The current date.
    public var date: Date { start.addingTimeInterval(TimeInterval(milliseconds) / 1000) }

    // MARK: Waiting

    /// Calls `body` on a separate thread after the delay.
    public func schedule(afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void) -> any ScheduledCall {
        call(afterMilliseconds: delay, body)
    }

    func call(afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void) -> ClockCall {
        let call = ClockCall(body)
        condition.withLock {
            let (time, isEndless) = now.addingReportingOverflow(delay)
            insert(Entry(time: isEndless ? .max : time, call: call))
        }
        return call
    }

    /// Blocks the calling thread for some simulated seconds. Use it for slow work in an extension.
    ///
    /// Another thread must advance the clock; a thread that advances it would wait for itself.
    public func sleep(for seconds: TimeInterval) {
        let isMarked = Thread.current.threadDictionary[Self.mark] != nil
        let alarm = Alarm()
        let call = ClockCall { [self] in
            condition.withLock {
                alarm.isRinging = true
                // On behalf of the sleeper: until it runs again, the clock would not know that it is awake.
                if isMarked { busy += 1 }
                condition.broadcast()
            }
        }
        condition.lock()
        defer { condition.unlock() }
        insert(Entry(time: now + Self.milliseconds(seconds), call: call))
        if isMarked { rest() }
        while !alarm.isRinging { condition.wait() }
        withExtendedLifetime(call) {}
    }

    /// Wakes a sleeper. Guarded by the clock's lock.
    private final class Alarm: @unchecked Sendable {
        var isRinging = false
    }

    // MARK: Advancing

    /// Advances the clock by some seconds and makes every call that becomes due, one after another.
    public func advance(by seconds: TimeInterval) {
        move { $0 + Self.milliseconds(seconds) }
    }

    /// Advances the clock to the next call. Does nothing if no call is waiting.
    func advanceToNextCall() {
        move { now in entries.first { $0.call?.isWanted == true }?.time ?? now }
    }

    private func move(to target: (UInt64) -> UInt64) {
        condition.lock()
        defer { condition.unlock() }
        while isAdvancing { condition.wait() }
        isAdvancing = true
        rested()
        let end = target(now)
        while let entry = entries.first, entry.time <= end {
            entries.removeFirst()
            guard let body = entry.call?.take() else { continue }
            now = max(now, entry.time)
            startLocked(body)
            rested()
        }
        now = end
        isAdvancing = false
        condition.broadcast()
    }

    private static func milliseconds(_ seconds: TimeInterval) -> UInt64 {
        precondition(seconds >= 0 && seconds < 1e9, "time runs forward, for at most thirty years")
        return UInt64((seconds * 1000).rounded())
    }

    private func insert(_ entry: Entry) {
        entries.removeAll { $0.call?.isWanted != true }
        let index = entries.firstIndex { $0.time > entry.time } ?? entries.endIndex
        entries.insert(entry, at: index)
    }

    // MARK: Threads

    /// Runs `body` on a thread that the clock waits for.
    func start(_ body: @escaping @Sendable () -> Void) { condition.withLock { startLocked(body) } }

    /// Waits until every thread that the clock knows has ended or is sleeping.
    func waitUntilIdle() { condition.withLock { rested() } }

    private func startLocked(_ body: @escaping @Sendable () -> Void) {
        busy += 1
        Thread.detachNewThread { [self] in
            Thread.current.threadDictionary[Self.mark] = true
            body()
            condition.withLock { rest() }
        }
    }

    private func rest() {
        busy -= 1
        stuck = min(stuck, busy)
        condition.broadcast()
    }

    private func rested() {
        let end = Date(timeIntervalSinceNow: Self.restLimit)
        while busy > stuck {
            if !condition.wait(until: end) {
                stuck = busy
                return
            }
        }
    }
}
