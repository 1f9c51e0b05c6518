/// The memory of processes that did one thing each.
enum MemoryBench {
    private static let openLimit = 8.0
    private static let attachmentLimit = 1.0
    private static let growthLimit = 1.0

    /// Creates it from peaks in kilobytes: of a process that did nothing; that opened one push; of a million opens in the beginning
    /// and in the end; that opened a small file; that opened a large one; that opened one push of suite 2, if there is that.
    static func printRows(_ kilobytes: [Double]) throws(BenchFailure) {
        guard kilobytes.count == 6 || kilobytes.count == 7 else { throw BenchFailure(what: "these are not six peaks") }
        var rows = [
            ("memory to open one push", 0, 1, openLimit), ("growth over 1,000,000 opens", 2, 3, growthLimit),
            ("50 MB against 64 KB attached", 4, 5, attachmentLimit),
        ]
        if kilobytes.count == 7 { rows.append(("memory to open one, suite 2", 0, 6, openLimit)) }
        for (what, from, to, limit) in rows {
            let more = max(0, kilobytes[to] - kilobytes[from])
            Table.printAmount(what, more * 1024 / 1e6, atMost: limit, unit: "MB")
        }
    }
}
