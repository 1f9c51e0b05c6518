// The Darwin branches were typechecked on Linux and not run.

import PushcryptKeyStore
import PushcryptReceiver

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Starts a thread that runs until the process ends.
func start(_ body: @escaping @Sendable () -> Void) {
    final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    #if canImport(Darwin)
        var thread: pthread_t?
    #else
        var thread = pthread_t()
    #endif
    let code = unsafe pthread_create(
        &thread, nil,
        { work in
            guard let work = unsafe work as UnsafeMutableRawPointer? else { return nil }
            unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
            return nil
        }, work)
    guard code == 0 else { fatalError("no thread: \(code)") }
    #if canImport(Darwin)
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
        pthread_detach(thread)
    #endif
}

/// Where threads wait for each other.
@safe
final class Barrier: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let threads: Int
    // Guarded by the mutex.
    private var waiting = 0
    private var generation = 0

    init(_ threads: Int) {
        self.threads = threads
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    /// Waits until every thread has come.
    func meet() {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        waiting += 1
        guard waiting < threads else {
            waiting = 0
            generation += 1
            unsafe pthread_cond_broadcast(condition)
            return
        }
        let mine = generation
        while generation == mine { unsafe pthread_cond_wait(condition, mutex) }
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }
}

/// A clock that some thread rings, and everything that is waiting is due.
final class RoundClock: DeliveryClock {
    private final class State {
        var calls: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private final class Ticket: ScheduledCall {
        private let state: Locked<State>

        init(_ state: Locked<State>) { self.state = state }

        deinit { cancel() }

        func cancel() { state.withLock { _ = $0.calls.removeValue(forKey: ObjectIdentifier(self)) } }
    }

    private let state = Locked(State())

    func schedule(
        afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledCall {
        let ticket = Ticket(state)
        state.withLock { $0.calls[ObjectIdentifier(ticket)] = body }
        return ticket
    }

    func ring() {
        let due = state.withLock { state in
            defer { state.calls = [:] }
            return Array(state.calls.values)
        }
        for call in due { call() }
    }

    var waiting: Int { state.withLock(\.calls.count) }
}
