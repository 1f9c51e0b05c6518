// The Darwin branches were typechecked on Linux and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A state that one thread at a time can change, and that threads can wait for.
@safe
package final class Monitor<State: Sendable>: @unchecked Sendable {
    // On the heap, because neither may be moved.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    // Guarded by the mutex.
    private var state: State

    package init(_ state: State) {
        self.state = state
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

    /// Changes the state, and wakes waiting threads. `body` must not use the monitor.
    package func change<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Calls `body` now and after every change, until it returns a value.
    package func wait<R>(_ body: (inout State) -> R?) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Like `wait`, but returns nil after `time` milliseconds.
    @discardableResult package func wait<R>(atMostMilliseconds time: UInt64, _ body: (inout State) -> R?) -> R? {
        let (sum, overflow) = SystemEnvironment.uptime().addingReportingOverflow(time)
        let end = overflow ? .max : sum
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            let now = SystemEnvironment.uptime()
            guard now < end else { return nil }
            sleep(from: now, until: end)
        }
    }

    /// Waits for a change or until `time`; may return earlier.
    private func sleep(from now: UInt64, until time: UInt64) {
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
}
