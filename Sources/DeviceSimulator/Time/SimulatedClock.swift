public import Foundation
public import PushcryptReceiver

/// A time that a test moves by hand, so that the thirty seconds of an extension cost nothing and every run is the same.
///
/// Between two calls it waits until every thread that it knows has come to rest: those that run the extension's methods, and
/// those of its own calls. It does not know the threads and tasks that an extension starts itself; a test waits for what
/// they do, for example with `Arrival.decided()`, before it moves on.
///
/// It is a `DeliveryClock`: give it to whatever of the extension keeps a deadline.
public final class SimulatedClock: DeliveryClock, @unchecked Sendable {
    private struct Entry {
        let time: UInt64
        weak var call: ClockCall?
    }

    // After so many seconds of real time, a thread is held to be blocked by something that is no clock.
    private static let restLimit: TimeInterval = 10
    // Marks the threads whose rest the clock waits for.
    private static let mark = "DeviceSimulator.SimulatedClock"

    /// How long, in seconds of real time, to wait for work that the clock cannot see, before simulated time may pass.
    public let patience: TimeInterval
    private let start: Date
    private let condition = NSCondition()
    private var now: UInt64 = 0
    // In the order of their times, and for one time in the order of the calls that scheduled them.
    private var entries: [Entry] = []
    private var isAdvancing = false
    private var busy = 0
    // Threads that were waited for in vain: they wait for something that is no clock.
    private var stuck = 0

    /// Makes a clock that stands at a date.
    ///
    /// - Parameters:
    ///   - date: the first moment; the beginning of 2026 unless given.
    ///   - patience: how long, in seconds of real time, to wait for work that the clock cannot see, before simulated time
    ///     may pass. Too short a time makes an extension look late on a busy machine.
    public init(startingAt date: Date = Date(timeIntervalSince1970: 1_767_225_600), patience: TimeInterval = 5) {
        start = date
        self.patience = patience
    }

    /// How many milliseconds have passed.
    public var milliseconds: UInt64 { condition.withLock { now } }

    /// The present moment.
    public var date: Date { start.addingTimeInterval(TimeInterval(milliseconds) / 1000) }

    // MARK: Waiting

    /// Calls `body` on a thread of its own when so much time has passed.
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

    /// Blocks the calling thread until so many seconds have passed: stands for slow work in an extension.
    ///
    /// Somebody else has to move the clock; a thread that moves it would wait for itself.
    public func sleep(for seconds: TimeInterval) {
        let isMarked = Thread.current.threadDictionary[Self.mark] != nil
        let alarm = Alarm()
        let call = ClockCall { [self] in
            condition.withLock {
                alarm.isRinging = true
                // In the sleeper's place: until it runs again, the clock would not know that it is awake.
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

    /// What wakes a sleeper; guarded by the clock's lock.
    private final class Alarm: @unchecked Sendable {
        var isRinging = false
    }

    // MARK: Moving

    /// Lets so many seconds pass, and makes every call that falls due on the way, one after the other.
    public func advance(by seconds: TimeInterval) {
        move { $0 + Self.milliseconds(seconds) }
    }

    /// Lets time pass until the next call is made; does nothing if none is waiting.
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
        precondition(seconds >= 0 && seconds < 1e9, "time runs forward, and ends after thirty years")
        return UInt64((seconds * 1000).rounded())
    }

    private func insert(_ entry: Entry) {
        entries.removeAll { $0.call?.isWanted != true }
        let index = entries.firstIndex { $0.time > entry.time } ?? entries.endIndex
        entries.insert(entry, at: index)
    }

    // MARK: Threads

    /// Runs `body` on a thread whose rest the clock waits for.
    func start(_ body: @escaping @Sendable () -> Void) { condition.withLock { startLocked(body) } }

    /// Waits until every thread that the clock knows has ended or sleeps.
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
