internal import CProcess

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Prepares the process for secrets and pipes. Call it once, before anything is opened.
///
/// It protects memory from core dumps and from debuggers of the same user, makes `write` return errors for a closed pipe and
/// for a limit on file sizes, and occupies the descriptors 0 to 2, so that a key file is never opened as standard output.
package func prepareProcess() {
    // Using a closed stream remains an error; /dev/null may be missing.
    for number: Int32 in 0...2 where fcntl(number, F_GETFD) == -1 { _ = unsafe open("/", pushcrypt_no_access) }
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    #if canImport(Darwin)
        _ = unsafe setrlimit(RLIMIT_CORE, &none)
    #else
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    #endif
    _ = pushcrypt_forbid_dumps()
}

package func endProcess(_ code: Int32) -> Never {
    exit(code)
}

/// The environment variables and the clocks of the process.
package enum SystemEnvironment {
    /// Returns a variable of the environment. Secrets must not come from here.
    package static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// The system's time in milliseconds since 1970-01-01 UTC; 0 if the clock is set before then.
    package static func milliseconds() -> UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0, time.tv_sec >= 0 else { return 0 }
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }

    /// The milliseconds on a monotonic clock, since some moment before this process.
    package static func uptime() -> UInt64 { nanoseconds() / 1_000_000 }

    /// Like `uptime`, in nanoseconds.
    package static func nanoseconds() -> UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0, time.tv_sec >= 0 else { return 0 }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Waits for `milliseconds`, also if signals arrive.
    package static func sleep(milliseconds: Int) {
        var rest = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        var time = rest
        repeat { time = rest } while unsafe nanosleep(&time, &rest) == -1 && errno == EINTR
    }
}

package enum ProcessMemory {
    /// Returns large allocations to the system as soon as they are freed, for many threads that rarely need one.
    package static func returnLargePieces() { pushcrypt_return_large_memory() }
}

/// The number of bytes that this process can lock in memory; nil if unlimited.
package func lockableMemory() -> UInt64? {
    var limit = rlimit()
    #if canImport(Darwin)
        let code = unsafe getrlimit(RLIMIT_MEMLOCK, &limit)
    #else
        let code = unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
    #endif
    return code != 0 || limit.rlim_cur > UInt64(Int64.max) ? nil : UInt64(limit.rlim_cur)
}

/// The processors of this machine.
package enum Processors {
    /// The number of processors that this process may use, at least one; containers and `taskset` limit it.
    package static var count: Int {
        let usable = Int(pushcrypt_usable_processors())
        return max(1, usable > 0 ? usable : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
