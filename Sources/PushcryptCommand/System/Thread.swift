// The Darwin branches were not compiled and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif
internal import Pushcrypt

/// Work on a thread of its own, which ends with the work or with the process.
enum Thread {
    /// Starts `body`; throws when the system has no thread left.
    static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let code = SystemThread.start(body)
        guard code == 0 else { throw SystemError(code: code) }
    }

    /// Waits for so many milliseconds, whatever signals come.
    static func sleep(milliseconds: Int) {
        var rest = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        var time = rest
        repeat { time = rest } while unsafe nanosleep(&time, &rest) == -1 && errno == EINTR
    }
}
