/// One-shot `pushcrypt seal` against `age -r`, from process start to end.
enum CommandBench {
    private static let timeLimit = 1.2
    private static let memoryLimit = 12.0

    /// Takes hyperfine's table, in which the two commands take turns, and the most memory that `seal` had resident.
    static func printRows(_ lines: [String], kilobytes: Double) throws(BenchFailure) {
        let medians = lines.dropFirst().compactMap(milliseconds)
        guard medians.count >= 2, medians.count.isMultiple(of: 2), medians.count == lines.count - 1 else {
            throw BenchFailure(what: "hyperfine's table cannot be read")
        }
        let pairs = stride(from: 0, to: medians.count, by: 2).map { (seal: medians[$0], age: medians[$0 + 1]) }
        Table.printRatio(
            "pushcrypt seal, one process", median(pairs.map(\.seal)), against: median(pairs.map(\.age)), "age -r",
            ratio: median(pairs.map { $0.seal / $0.age }), limit: timeLimit, unit: "ms")
        Table.printAmount("its resident memory", kilobytes * 1024 / 1e6, atMost: memoryLimit, unit: "MB")
    }

    /// The fourth column of `command,mean,stddev,median,…` in seconds, counted from the end: a command may have commas.
    private static func milliseconds(_ line: String) -> Double? {
        let columns = line.split(separator: ",", omittingEmptySubsequences: false)
        guard columns.count >= 8 else { return nil }
        return Double(columns[columns.count - 5]).map { $0 * 1000 }
    }
}
