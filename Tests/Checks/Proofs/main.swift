import Glibc

// Proofs that take longer than a test may: see README.md. Each is a part of `make nightly`.
//     Proofs PART [ARGUMENTS]
let arguments = Array(CommandLine.arguments.dropFirst())
let rest = Array(arguments.dropFirst())
if arguments.first == "dead-random" { ConstantSource.install() }
Primitives.start()

do {
    switch arguments.first {
    case "exhaustive": try Exhaustive.run(rest, seed: Numbers.chosenSeed())
    case "contexts": try Contexts.run(rest, seed: Numbers.chosenSeed())
    case "dead-random": try DeadRandom.run(seed: Numbers.chosenSeed())
    case "timing": try Timing.run(rest, seed: Numbers.chosenSeed())
    case "traffic": try Traffic.run(rest, seed: Numbers.chosenSeed())
    case "replay": try Replay.run(seed: Numbers.chosenSeed())
    case "replay-worker": try ReplayWorker.run(rest)
    case "stack": try StackProof.run(seed: Numbers.chosenSeed())
    default: throw Misuse("no such part: see Tests/Checks/Proofs/README.md")
    }
} catch {
    let message = "proofs: error: \(error)\n"
    _ = unsafe write(STDERR_FILENO, message, message.utf8.count)
    exit(1)
}
