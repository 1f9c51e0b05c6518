internal import CProcess

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The processors of this machine.
package enum Processors {
    /// How many this process may use, at least one: a container, or `taskset`, may leave fewer than there are.
    package static var count: Int {
        let usable = Int(pushcrypt_usable_processors())
        return max(1, usable > 0 ? usable : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
