// The Darwin branches were not compiled and not run.

internal import PushcryptReceiver

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A clock whose calls are made by the thread that runs it, until somebody ends it.
///
/// The time is the system's since it started, which nobody sets.
@safe
final class EventLoop: DeliveryClock, @unchecked Sendable {
    // On the heap, because neither may move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    // Guarded by the mutex.
    private var calls: [Call] = []
    private var isEnded = false

    private struct Call {
        let id: ObjectIdentifier
        let time: UInt64
        let body: @Sendable () -> Void
    }

    /// What the caller holds of a call.
    private final class Ticket: ScheduledCall {
        private let loop: EventLoop

        init(_ loop: EventLoop) { self.loop = loop }

        deinit { cancel() }

        func cancel() { loop.remove(ObjectIdentifier(self)) }
    }

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        precondition(unsafe pthread_mutex_init(mutex, nil) == 0, "the system has no mutex left")
        #if canImport(Darwin)
            precondition(unsafe pthread_cond_init(condition, nil) == 0, "the system has no condition left")
        #else
            var attributes = pthread_condattr_t()
            unsafe pthread_condattr_init(&attributes)
            unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            precondition(unsafe pthread_cond_init(condition, &attributes) == 0, "the system has no condition left")
            unsafe pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    // MARK: Calls

    func schedule(
        afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledCall {
        let ticket = Ticket(self)
        let (time, overflow) = Surroundings.uptime().addingReportingOverflow(delay)
        change { calls.append(Call(id: ObjectIdentifier(ticket), time: overflow ? .max : time, body: body)) }
        return ticket
    }

    private func remove(_ id: ObjectIdentifier) { change { calls.removeAll { $0.id == id } } }

    // MARK: Running

    /// Makes the calls that are due, each at its time, until `end` is called.
    func run() {
        while let call = next() { call() }
    }

    /// Ends `run`, on whatever thread it is; what is scheduled then is never called.
    func end() { change { isEnded = true } }

    /// Waits for the next call; nil at the end.
    private func next() -> (@Sendable () -> Void)? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isEnded {
            guard let first = calls.min(by: { $0.time < $1.time }) else {
                unsafe pthread_cond_wait(condition, mutex)
                continue
            }
            let now = Surroundings.uptime()
            if first.time <= now {
                calls.removeAll { $0.id == first.id }
                return first.body
            }
            wait(from: now, until: first.time)
        }
        return nil
    }

    /// Waits for a change, or for a time; may return before either.
    private func wait(from now: UInt64, until time: UInt64) {
        #if canImport(Darwin)
            var span = Self.interval(time - now)
            _ = unsafe pthread_cond_timedwait_relative_np(condition, mutex, &span)
        #else
            var moment = Self.interval(time)
            _ = unsafe pthread_cond_timedwait(condition, mutex, &moment)
        #endif
    }

    private static func interval(_ milliseconds: UInt64) -> timespec {
        timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    }

    private func change(_ body: () -> Void) {
        unsafe pthread_mutex_lock(mutex)
        body()
        unsafe pthread_cond_signal(condition)
        unsafe pthread_mutex_unlock(mutex)
    }
}
