import Foundation

// Ends one push after another from several threads, by timers, by the system and by letting the handler go, while it opens
// and the app changes it; checks that each is given out once. Built with the thread sanitizer, it fails too when two threads
// meet without a lock.
//
//     races ROUNDS

guard CommandLine.arguments.count == 2, let rounds = Int(CommandLine.arguments[1]), rounds > 0 else {
    fatalError("usage: races ROUNDS")
}

let threads = 3
let barrier = Barrier(threads)
let field = try Field(threads: threads)
var failure: String?

for thread in 1..<threads {
    Thread.detachNewThread {
        for round in 0..<rounds { field.play(round, thread, barrier) }
    }
}
for round in 0..<rounds {
    field.prepare(round)
    field.play(round, 0, barrier)
    failure = failure ?? field.fault(round).map { "round \(round): \($0)" }
}
if let failure { fatalError(failure) }
for (outcome, count) in field.outcomes.sorted(by: { $0.key < $1.key }) { print("  \(outcome): \(count)") }
print("races: pushes under \(threads) threads and the sanitizer: \(rounds)")
