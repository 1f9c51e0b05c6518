// The Darwin branches were typechecked and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A system thread for work that blocks: Swift's thread pool has one thread per core and none to spare.
package enum SystemThread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread; returns 0, or the system's error number if no thread is available.
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
