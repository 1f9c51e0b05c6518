// The Darwin branches were not compiled and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Work on a thread of its own, which ends with the work or with the process.
enum Thread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts `body`; throws when the system has no thread left.
    static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
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
            throw SystemError(code: code)
        }
        #if canImport(Darwin)
            if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
    }

    private static func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
        return nil
    }

    /// Waits for so many milliseconds, whatever signals come.
    static func sleep(milliseconds: Int) {
        var rest = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        var time = rest
        repeat { time = rest } while unsafe nanosleep(&time, &rest) == -1 && errno == EINTR
    }
}
