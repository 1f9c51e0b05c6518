#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A value that one thread at a time may use. (The standard library's `Mutex` needs iOS 18.)
@safe
package final class Locked<Value>: @unchecked Sendable {
    // On the heap, because a mutex must not move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: Value

    package init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        precondition(unsafe pthread_mutex_init(mutex, nil) == 0, "the system has no mutex left")
    }

    /// Calls `body` with the value; `body` must neither keep it nor lock again.
    package func withLock<R, E: Error>(_ body: (Value) throws(E) -> R) throws(E) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(value)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }
}

/// Carries a value that only one thread uses at a time to another thread.
package struct UncheckedSendableBox<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
