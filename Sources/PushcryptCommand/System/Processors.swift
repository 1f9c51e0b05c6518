// The Darwin branches were not compiled and not run.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The processors that this process may run on.
enum Processors {
    /// How many there are: at least one.
    static var count: Int {
        #if !canImport(Darwin)
            // A container, or taskset, may leave fewer than the machine has.
            var set = cpu_set_t()
            if unsafe sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 {
                return max(1, unsafe withUnsafeBytes(of: &set) { unsafe $0.reduce(0) { $0 + $1.nonzeroBitCount } })
            }
        #endif
        return max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
