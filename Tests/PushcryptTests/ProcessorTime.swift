import Foundation

/// The time that the processor has worked on this thread, in seconds: other work on the machine does not lengthen it.
func processorSeconds() -> Double {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
