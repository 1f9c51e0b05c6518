/// One-shot `pushcrypt seal` against `age -r`, from process start to end.
enum CommandBench {
    private static let timeLimit = 1.0
    private static let memoryLimit = 10.0

    /// Reads hyperfine's table, in which the two commands take turns, and the most memory that `seal` had resident.
    ///
    /// The shortest run of each turn counts, since other load only adds to them.
    static func printRows(_ lines: [String], _ kilobytes: String) throws(BenchFailure) {
        let times = lines.dropFirst().compactMap(shortest)
        guard times.count >= 2, times.count.isMultiple(of: 2), times.count == lines.count - 1 else {
            throw BenchFailure(what: "hyperfine's table cannot be read")
        }
        guard let memory = Double(kilobytes) else { throw BenchFailure(what: "'\(kilobytes)' is no size") }
        let pairs = stride(from: 0, to: times.count, by: 2).map { (seal: times[$0], age: times[$0 + 1]) }
        Table.printRatio(
            "pushcrypt seal, one process", median(pairs.map(\.seal)), against: median(pairs.map(\.age)), "age -r",
            ratio: median(pairs.map { $0.seal / $0.age }), limit: timeLimit, unit: "ms")
        Table.printAmount("its resident memory", memory * 1024 / 1e6, atMost: memoryLimit, unit: "MB")
    }

    /// Milliseconds, of `command,mean,stddev,median,user,system,min,max` in seconds.
    private static func shortest(_ line: String) -> Double? {
        // From the end: a command may have commas.
        line.split(separator: ",").dropLast().last.flatMap { Double($0) }.map { $0 * 1000 }
    }
}
