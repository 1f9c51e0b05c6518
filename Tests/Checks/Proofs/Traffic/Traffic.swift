import Synchronization

/// Rotation under traffic: many separate worlds, so that one that fails can be run alone.
enum Traffic {
    private static let worlds = 50

    /// Everything, or the one world that the argument names.
    static func run(_ arguments: [String], seed: UInt64) throws {
        let watch = Stopwatch()
        let only = arguments.first.flatMap { Int($0) }
        let total = Mutex(World.Tally())
        try onEveryProcessor(count: worlds) { number in
            guard only.map({ $0 == number }) ?? true else { return }
            let tally = try World(number, World.Size(), seed: seed).run()
            total.withLock { $0.add(tally) }
        }
        let tally = total.withLock { $0 }
        guard only == nil else { return print("world \(arguments[0]): none lost of \(tally.messages)") }
        printFigure(
            "traffic",
            [
                "messages": tally.messages, "opened": tally.opened, "rotations": tally.rotations,
                "longest-delay-days": tally.longestDelay / 86_400_000,
                "opened-in-the-last-millisecond": tally.openedAtTheEnd,
                "refused-after-the-end": tally.refusedAfterTheEnd, "seconds": watch.seconds,
            ])
    }
}

extension World.Tally {
    fileprivate mutating func add(_ other: World.Tally) {
        messages += other.messages
        opened += other.opened
        rotations += other.rotations
        openedAtTheEnd += other.openedAtTheEnd
        refusedAfterTheEnd += other.refusedAfterTheEnd
        longestDelay = max(longestDelay, other.longestDelay)
    }
}
