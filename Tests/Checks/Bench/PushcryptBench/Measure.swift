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
