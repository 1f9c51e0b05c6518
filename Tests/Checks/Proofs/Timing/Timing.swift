import Pushcrypt

/// Measures whether the time of a refusal depends on where the fault lies: in a tag, a signature, a padding; or on a secret.
///
/// The two sets of a pair are interleaved at random, so that whatever else the machine does befalls both.
enum Timing {
    /// How many envelopes there are of each set, and how many times one of either is opened.
    private static let poolSize = 2000
    private static let samples = 40_000
    private static let limit = 10.0
    private static let attempts = 3

    static func run(_ arguments: [String], seed: UInt64) throws {
        let watch = Stopwatch()
        try printPlaces(seed: seed)
        let pairs = arguments.isEmpty ? Places.Pair.allCases : arguments.compactMap(Places.Pair.init(rawValue:))
        guard !pairs.isEmpty else { throw Misuse("timing [PAIR]") }
        var figures: [(String, Double)] = []
        for pair in pairs {
            let middle = try middle(pair, seed: seed)
            guard abs(middle.t) <= limit else {
                throw Disproof(
                    "the time of a refusal depends on where the fault lies in the \(pair.rawValue): t is \(middle.t.rounded(to: 2))",
                    again: "timing \(pair.rawValue)", seed: seed)
            }
            figures += [
                ("t-\(pair.rawValue)", middle.t), ("resolution-nanoseconds-\(pair.rawValue)", middle.resolution),
            ]
        }
        let control = try measure(.padding, seed: seed, isLeaking: true)
        print("control: a padding check that ends at the first fault: t \(control.t.rounded(to: 2))")
        guard abs(control.t) > limit else {
            throw Misuse("a check that leaks was not noticed: the machine is too busy")
        }
        guard arguments.isEmpty else { return }
        let values = figures.map { "\($0.0)=\($0.1.rounded(to: 2))" }.joined(separator: " ")
        print(
            "figure: timing \(values) t-control=\(control.t.rounded(to: 2)) samples=\(samples) limit=\(Int(limit)) seconds=\(watch.seconds)"
        )
    }

    /// The middle one of three by the size of t: a difference that is there shows in most of them, and what else the machine does may
    /// spoil one.
    private static func middle(_ pair: Places.Pair, seed: UInt64) throws -> Welch {
        var results: [Welch] = []
        for attempt in 1...attempts {
            let result = try measure(pair, seed: seed &+ UInt64(attempt))
            print(
                "\(pair.rawValue): t \(result.t.rounded(to: 2)); a difference of \(result.resolution.rounded(to: 0)) ns would have shown"
            )
            results.append(result)
        }
        return results.sorted { abs($0.t) < abs($1.t) }[attempts / 2]
    }

    private static func measure(_ pair: Places.Pair, seed: UInt64, isLeaking: Bool = false) throws -> Welch {
        var places = try Places(seed: seed)
        // The sets mix at random in memory as well: taking turns, one would have every other page, and caches tell those apart.
        var numbers = Numbers(seed: seed, case: 1)
        let sets = (0..<2 * poolSize).map { $0 < poolSize }.shuffled(using: &numbers)
        var pool: [Places.Sample] = []
        for isFirst in sets { pool.append(try places.sample(pair, isFirst: isFirst)) }
        var times = [(sum: Double, count: Double)](repeating: (0, 0), count: pool.count)
        for round in -poolSize..<samples {
            let index = numbers.below(pool.count)
            let start = Stopwatch.now()
            try refuse(pool[index])
            if isLeaking { leak(isFirst: sets[index]) }
            let time = Double(Stopwatch.now() - start)
            // The first ones warm up.
            if round < 0 { continue }
            times[index].sum += time
            times[index].count += 1
        }
        // An envelope and its key take their own time wherever they lie in memory, in each of their turns. So each envelope counts
        // once, with its mean: its turns are no samples that are independent of each other.
        let means = zip(sets, times).filter { $0.1.count > 0 }.map { (isFirst: $0, time: $1.sum / $1.count) }
        return Welch(means.filter(\.isFirst).map(\.time), means.filter { !$0.isFirst }.map(\.time))
    }

    @inline(never)
    private static func refuse(_ sample: Places.Sample) throws {
        do throws(OpenError) {
            _ = try sample.opener.open(sample.envelope, at: Places.now)
        } catch {
            guard error.code == .authenticationFailed else { throw Misuse("refused elsewhere: \(error.code)") }
            return
        }
        throw Misuse("an envelope with a fault opens")
    }

    /// The extra time of a check that compares byte by byte and ends at the first difference.
    @inline(never)
    private static func leak(isFirst: Bool) {
        var padding = [UInt8](repeating: 0, count: Places.padding)
        padding[isFirst ? 0 : Places.padding - 1] = 1
        guard padding.contains(where: { $0 != 0 }) else { preconditionFailure("there is a fault") }
    }

    // MARK: Places

    /// How long each place of the order takes to be reached: these times differ, and may.
    private static func printPlaces(seed: UInt64) throws {
        var places = try Places(seed: seed)
        for place in try places.allPlaces() {
            var times: [UInt64] = []
            for _ in 0..<2000 {
                let start = Stopwatch.now()
                _ = try? place.sample.opener.open(place.sample.envelope, at: Places.now)
                times.append(Stopwatch.now() - start)
            }
            times.sort()
            print("refused at \(place.name): \((Double(times[times.count / 2]) / 1000).rounded(to: 1)) microseconds")
        }
    }
}

extension Double {
    fileprivate func rounded(to digits: Int) -> Double {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
