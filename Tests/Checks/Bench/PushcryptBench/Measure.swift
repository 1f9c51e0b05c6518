#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Two ways to do the same work, measured against each other in one run.
struct Comparison {
    /// Nanoseconds of one call: the median of the blocks.
    let measured: Double
    /// Nanoseconds of one call of the yardstick: the median of the blocks.
    let yardstick: Double
    /// The median over all pairs of neighbouring blocks.
    ///
    /// Other load slows both blocks of a pair, and so moves this less than the quotient of the two medians.
    let ratio: Double
    /// Nanoseconds that one call takes more than one of the yardstick, by the fastest block of each.
    let difference: Double

    /// Runs short blocks of both in turn, each pair in the other order than the one before.
    init(
        pairs: Int = 300, callsPerBlock: Int = 10, of measured: () throws -> Void, against yardstick: () throws -> Void
    ) rethrows {
        // The first pairs fill the caches and are not counted.
        let warmUp = 20
        var blocks: [(measured: Double, yardstick: Double)] = []
        for pair in 0..<warmUp + pairs {
            var first = 0.0
            if pair.isMultiple(of: 2) { first = try nanoseconds(callsPerBlock, measured) }
            let second = try nanoseconds(callsPerBlock, yardstick)
            if !pair.isMultiple(of: 2) { first = try nanoseconds(callsPerBlock, measured) }
            if pair >= warmUp { blocks.append((first, second)) }
        }
        self.measured = median(blocks.map(\.measured))
        self.yardstick = median(blocks.map(\.yardstick))
        ratio = median(blocks.map { $0.measured / $0.yardstick })
        difference = best(blocks.map(\.measured)) - best(blocks.map(\.yardstick))
    }
}

/// The nanoseconds of one of `calls` calls.
func nanoseconds(_ calls: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = now()
    for _ in 0..<calls { try body() }
    return Double(now() - start) / Double(calls)
}

/// Nanoseconds of a clock that nobody sets.
func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func best(_ times: [Double]) -> Double { times.min() ?? .infinity }

/// The most memory that this process had resident, in kilobytes; its own, not that of the process that started it.
func peakKilobytes() throws(BenchFailure) -> Int {
    guard let file = unsafe fopen("/proc/self/status", "r") else { throw BenchFailure(what: "there is no /proc") }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while unsafe fgets(&line, CInt(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("VmHWM:"), let kilobytes = text.split(separator: " ").dropLast().last.flatMap({ Int($0) }) {
            return kilobytes
        }
    }
    throw BenchFailure(what: "/proc/self/status does not say how much memory there was")
}

/// The size of a file, zero if there is none.
func megabytes(of path: String) throws(BenchFailure) -> Double {
    guard let file = unsafe fopen(path, "r") else { return 0 }
    defer { unsafe fclose(file) }
    guard unsafe fseek(file, 0, SEEK_END) == 0 else { throw BenchFailure(what: "the size of a file is not known") }
    return unsafe Double(ftell(file)) / 1e6
}
