// The Darwin branches were typechecked and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A thread of the system's own, for work that waits: Swift's pool has one thread for each core and none to spare.
///
/// Nothing in this module starts one. It lies here for two modules that share no other: `PushcryptBatch`, and the command,
/// which does without Swift's concurrency library.
package enum SystemThread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts `body` on a thread that ends with it; gives the system's error number when there is no thread left, else 0.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let work = unsafe Unmanaged.passRetained(Work(body))
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = unsafe pthread_create(&thread, nil, { unsafe Self.run($0) }, work.toOpaque())
        #else
            var thread = pthread_t()
            let code = unsafe pthread_create(&thread, nil, { unsafe Self.run($0) }, work.toOpaque())
        #endif
        guard code == 0 else {
            unsafe work.release()
            return code
        }
        #if canImport(Darwin)
            if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
        return 0
    }

    private static func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
        return nil
    }
}
