import Pushcrypt

/// `pushcrypt seal --batch` as a whole process, and what the yardstick for it needs.
enum BatchBench {
    private static let limit = 1.12
    /// Of suite 2, where libsodium's part is larger.
    private static let suite2Limit = 1.08
    /// The limit of what two jobs gain, against what two processes with the bare calls gain: 1.95 if that is 2.
    private static let twoJobs = 0.975
    private static let growthLimit = 1.05
    private static let memoryLimit = 32.0
    /// 20,000 a second, if a seal takes 90 µs.
    private static let registrationLimit = 50.0 / 90

    /// Seconds of so many bare seals.
    static func bare(_ count: Int, _ suite: CipherSuite) throws -> Double {
        try LibraryBench(suite).secondsOfBareSeals(count)
    }

    /// Prints so many registration records, one a line, with random ids.
    static func printDevices(_ count: Int, _ suite: CipherSuite) throws {
        let time = Timestamp(milliseconds: 1_790_000_000_000)
        for _ in 0..<count {
            let key = try DeviceKey(suite).publicKey
            let id = "\(UInt64.random(in: .min ... .max))"
            print(#"{"device":"\#(id)","record":{"public_key":"\#(key)","created":\#(time.milliseconds)}}"#)
        }
    }

    /// Reads lines of seconds: the bare calls, the same in each of two processes at once, one job, two jobs, one job with
    /// a store, and registrations; and the microseconds that the processors worked for a line of few and of a million, with
    /// the kilobytes of the latter.
    ///
    /// The best of each counts, since other load only adds to them.
    static func printRows(_ lines: [String], _ figures: [Double]) throws(BenchFailure) {
        let samples = lines.map { $0.split(separator: " ").compactMap { Double($0) } }
        guard !samples.isEmpty, samples.allSatisfy({ $0.count == 6 }), figures.count == 4, figures[0] > 0 else {
            throw BenchFailure(what: "a sample is not six numbers, or a figure is missing")
        }
        let scale = 1e6 / figures[0]
        let times = (0..<6).map { column in best(samples.map { $0[column] }) * scale }
        let (bare, one, two, store) = (times[0], times[2], times[3], times[4])
        // Two processes make twice as many seals in their time.
        let (gain, bareGain) = (one / two, 2 * bare / times[1])
        Table.printRatio(
            "seal --batch, one job", one, against: bare, "libsodium", ratio: one / bare, limit: limit, unit: "µs")
        Table.printRatio(
            "gain of two jobs", gain, against: bareGain, "bare calls", ratio: gain / bareGain, atLeast: twoJobs)
        Table.printRatio(
            "with a store, one job", store, against: bare, "libsodium", ratio: store / bare, limit: limit, unit: "µs")
        Table.printRatio(
            "device add --batch --reply", times[5], against: bare, "libsodium", ratio: times[5] / bare,
            limit: registrationLimit, unit: "µs")
        Table.printRatio(
            "1,000,000 lines", figures[2], against: figures[1], "10,000", ratio: figures[2] / figures[1],
            limit: growthLimit, unit: "µs")
        Table.printAmount("their resident memory", figures[3] * 1024 / 1e6, atMost: memoryLimit, unit: "MB")
    }

    /// Reads lines of seconds: the bare calls of suite 2, and one job; the best of each counts.
    static func printSuite2Row(_ lines: [String], _ count: Double) throws(BenchFailure) {
        let samples = lines.map { $0.split(separator: " ").compactMap { Double($0) } }
        guard !samples.isEmpty, samples.allSatisfy({ $0.count == 2 }), count > 0 else {
            throw BenchFailure(what: "a sample is not two numbers, or there is no count")
        }
        let times = (0..<2).map { column in best(samples.map { $0[column] }) * 1e6 / count }
        Table.printRatio(
            "seal --batch, one job, suite 2", times[1], against: times[0], "libsodium", ratio: times[1] / times[0],
            limit: suite2Limit, unit: "µs")
    }
}
