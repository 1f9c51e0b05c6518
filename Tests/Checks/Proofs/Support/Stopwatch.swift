import Glibc

/// Measures from its making on; nobody sets its clock.
struct Stopwatch {
    private let start = now()

    /// Nanoseconds since some moment before this process.
    static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    var seconds: UInt64 { (Self.now() - start) / 1_000_000_000 }
}
