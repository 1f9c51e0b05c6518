import Glibc
import Pushcrypt
import PushcryptKeyStore

/// Delivers a million messages, each one to three times, to four threads of two processes on one replay guard: each is new once
/// and rings once, also if a process ends between taking a message and handing it over.
enum Replay {
    /// And one round more, with more messages than a guard keeps.
    private static let rounds = 16

    static func run(seed: UInt64) throws {
        let watch = Stopwatch()
        let directory = try temporaryDirectory()
        defer { remove(directory) }
        _ = try ReplayFile.create(
            in: directory, floor: ReplayPlan.start.subtracting(milliseconds: 86_400_000))
        let workers = try (0..<ReplayWorker.processes).map { process in
            try WorkerProcess(["replay-worker", directory, "\(process)", "\(rounds)", "\(seed)"])
        }
        var tally = Tally()
        for round in 0..<rounds { try play(round, workers, seed: seed, &tally) }
        var overfull = Tally()
        try play(rounds, workers, seed: seed, &overfull)
        print("of \(overfull.messages) messages, more than a guard keeps, \(overfull.new) were new, each once")
        printFigure(
            "replay",
            [
                "messages": tally.messages, "copies": tally.copies, "new": tally.new, "rings": tally.rings,
                "duplicates": tally.duplicates,
                "same-request": tally.sameRequest, "overfull-messages": overfull.messages,
                "overfull-new": overfull.new, "processes": ReplayWorker.processes,
                "threads": ReplayWorker.processes * ReplayWorker.threads, "seconds": watch.seconds,
            ])
    }

    private struct Tally {
        var messages = 0
        var copies = 0
        var new = 0
        var rings = 0
        var sameRequest = 0
        var duplicates = 0
    }

    private static func play(_ round: Int, _ workers: [WorkerProcess], seed: UInt64, _ tally: inout Tally) throws {
        let plan = ReplayPlan(round: round, isOverfull: round == rounds, seed: seed)
        for worker in workers { try worker.send("\(round)") }
        var answers = [ReplayAnswer?](repeating: nil, count: plan.copies.count)
        for (process, worker) in workers.enumerated() {
            let places = (0..<ReplayWorker.threads).flatMap { thread in
                ReplayWorker.places(of: plan, worker: process * ReplayWorker.threads + thread)
            }
            for (place, answer) in zip(places, try worker.receive(places.count)) {
                answers[place] = ReplayAnswer(answer)
            }
        }
        try check(plan, answers, seed: seed, &tally)
        print("round \(round): \(plan.messages) messages, \(plan.copies.count) copies")
        fflush(nil)
    }

    private static func check(
        _ plan: ReplayPlan, _ answers: [ReplayAnswer?], seed: UInt64, _ tally: inout Tally
    ) throws {
        /// The copy of each message that was new.
        var shown = [ReplayPlan.Copy?](repeating: nil, count: plan.messages)
        var rings = [Int](repeating: 0, count: plan.messages)
        var isLost = [Bool](repeating: true, count: plan.messages)
        let isOverfull = plan.round == rounds
        func disproof(_ message: Int, _ what: String) -> Disproof {
            Disproof("round \(plan.round): message \(message) \(what)", again: "replay", seed: seed)
        }
        for (copy, answer) in zip(plan.copies, answers) {
            guard let answer else { throw disproof(copy.message, "has no answer") }
            if !copy.isLost { isLost[copy.message] = false }
            if answer.rings { rings[copy.message] += 1 }
            guard answer.verdict == .new else { continue }
            guard shown[copy.message] == nil else { throw disproof(copy.message, "was new twice") }
            shown[copy.message] = copy
        }
        for message in rings.indices {
            // A row that had to go between two steps of one copy is made again, and another may have rung before.
            let isRight = isOverfull ? rings[message] <= 2 : rings[message] == (isLost[message] ? 0 : 1)
            guard isRight else { throw disproof(message, "rang \(rings[message]) times") }
            tally.rings += rings[message]
        }
        for (copy, answer) in zip(plan.copies, answers) {
            tally.copies += 1
            guard let first = shown[copy.message] else {
                // What was sent before what had to be forgotten counts as seen: a fault only where nothing had to be.
                guard isOverfull, answer?.verdict == .seen else { throw disproof(copy.message, "was never new") }
                tally.duplicates += 1
                continue
            }
            switch answer?.verdict {
            case .new: tally.new += 1
            case .again where first.request == copy.request: tally.sameRequest += 1
            case .copy where first.request != copy.request: tally.duplicates += 1
            // Where the row had to go, the floor stands in its place and knows no request.
            case .seen where isOverfull: tally.duplicates += 1
            default: throw disproof(copy.message, "has another answer than its request: \(answer, default: "none")")
            }
        }
        tally.messages += plan.messages
    }

    // MARK: The directory

    private static func temporaryDirectory() throws -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/pushcrypt-proofs-XXXXXX".utf8CString)
        guard let path = unsafe mkdtemp(&template) else { throw Misuse("no directory in \(base): \(errno)") }
        return unsafe String(cString: path)
    }

    private static func remove(_ directory: String) {
        for name in ["replay.db", "replay.db-journal"] { unsafe unlink("\(directory)/\(name)") }
        unsafe rmdir(directory)
    }
}
