import Foundation
import Testing
import Waiting

/// Simulates a world for each seed, in a process of its own: a seed's trace is the same in each run. It tries 50 seeds, or as many
/// as `PUSHCRYPT_WORLDS` says. `PUSHCRYPT_SECONDS=600` tries new ones for ten minutes; `PUSHCRYPT_SEED=7731` replays one, and
/// writes its trace to a file. `PUSHCRYPT_GO_ON=1` goes on after a violation.
@Suite struct SimulationTests {
    @Test func nothingIsLostRingsTwiceOrRefuses() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            // The world blocks its thread while handlers run as tasks, so it needs a thread of its own.
            try await SeparateThread { tryAll() }.value
        }
        // After a crash only this file knows the seed.
        let last = (try? String(contentsOfFile: Files.last, encoding: .utf8)) ?? ""
        print(result.map { String(decoding: $0.standardOutputContent, as: UTF8.self) } ?? "the last seed was \(last)")
    }
}

private enum Files {
    static let folder = FileManager.default.currentDirectoryPath + "/.build"
    static let last = "\(folder)/simulation-seed.txt"

    static func trace(_ seed: UInt64) -> String { "\(folder)/simulation-\(seed).txt" }
}

private func tryAll() {
    let environment = ProcessInfo.processInfo.environment
    func number(_ name: String) -> UInt64? { environment[name].flatMap { UInt64($0) } }
    let only = number("PUSHCRYPT_SEED")
    let seconds = number("PUSHCRYPT_SECONDS").map { Double($0) }
    let most = number("PUSHCRYPT_WORLDS") ?? 50
    let begin = Date()
    // Other worlds each night.
    var seed = only ?? (seconds == nil ? 1 : UInt64(begin.timeIntervalSince1970) * 1000)
    var count: UInt64 = 0
    while only != nil ? count < 1 : seconds.map({ Date().timeIntervalSince(begin) < $0 }) ?? (count < most) {
        try? "\(seed)".write(toFile: Files.last, atomically: false, encoding: .utf8)
        let trace = simulate(seed)
        if only != nil || !trace.violations.isEmpty {
            let text = trace.lines.map { "\($0)\n" }.joined()
            try? text.write(toFile: Files.trace(seed), atomically: true, encoding: .utf8)
            print("simulation: the trace of seed \(seed) is \(Files.trace(seed))")
        }
        if !trace.violations.isEmpty {
            Issue.record("PUSHCRYPT_SEED=\(seed), \(Files.trace(seed)): \(trace.violations.joined(separator: "; "))")
            if environment["PUSHCRYPT_GO_ON"] == nil { return }
        }
        (seed, count) = (seed + 1, count + 1)
    }
    print("interleavings: simulated worlds: \(count)")
}
