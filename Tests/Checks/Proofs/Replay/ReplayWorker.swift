import Glibc
import Pushcrypt
import PushcryptKeyStore
import Synchronization

/// A process that takes and hands over its part of every round, on two threads: for each line on standard input one byte for each of its copies on
/// standard output.
enum ReplayWorker {
    static let threads = 2
    static let processes = 2
    /// How long a call waits for the others, in milliseconds: they never rest, as no phone's processes do.
    private static let patience: Int32 = 60_000

    /// `arguments` are the directory, the number of this process, the rounds, and the seed.
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 4, let process = Int(arguments[1]), let rounds = Int(arguments[2]),
            let seed = UInt64(arguments[3])
        else { throw Misuse("replay-worker DIRECTORY PROCESS ROUNDS SEED") }
        // One process shares a guard between its threads, the other has one for each.
        let first = ReplayFile.open(in: arguments[0], at: ReplayPlan.start, busyTimeout: patience)
        let second =
            process == 0 ? first : ReplayFile.open(in: arguments[0], at: ReplayPlan.start, busyTimeout: patience)
        let guards = [first, second]
        let senders = try ReplayPlan.senderKeys()
        while let line = readLine(), let round = Int(line) {
            let plan = ReplayPlan(round: round, isOverfull: round == rounds, seed: seed)
            let answers = Mutex([[UInt8]](repeating: [], count: threads))
            try onEveryProcessor(count: threads) { thread in
                let mine = try judge(plan, guards[thread], senders, worker: process * threads + thread)
                answers.withLock { $0[thread] = mine }
            }
            try write(answers.withLock { $0[0] + $0[1] })
        }
    }

    /// The places of a plan that a worker has: neighbours have different workers.
    static func places(of plan: ReplayPlan, worker: Int) -> StrideTo<Int> {
        stride(from: worker, to: plan.copies.count, by: processes * threads)
    }

    private static func judge(
        _ plan: ReplayPlan, _ file: ReplayFile, _ senders: [SenderPublicKey], worker: Int
    ) throws -> [UInt8] {
        try places(of: plan, worker: worker).map { place in
            let copy = plan.copies[place]
            let message = ReplayMessage(
                try plan.id(copy.message), from: senders[copy.message % plan.senders],
                to: plan.account(copy.message), requestID: copy.request, sentAt: plan.sentAt(copy.message),
                expiresAt: plan.expiresAt(copy.message))
            let taking = file.take(message, at: plan.now)
            if let problem = taking.problem { throw Misuse("the guard was not written: \(problem)") }
            guard !copy.isLost else { return try ReplayAnswer(taking.verdict, rings: false).byte }
            let handover = file.handOver(message, after: taking.verdict, at: plan.now)
            if let problem = handover.problem { throw Misuse("the guard was not written: \(problem)") }
            return try ReplayAnswer(taking.verdict, rings: handover.rings).byte
        }
    }

    private static func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.write(STDOUT_FILENO, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
            }
            guard count > 0 else { throw Misuse("nobody reads the answers") }
            sent += count
        }
    }
}
