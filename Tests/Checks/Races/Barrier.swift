import Foundation

/// Where threads wait for each other.
final class Barrier: @unchecked Sendable {
    private let condition = NSCondition()
    private let threads: Int
    // Guarded by the condition.
    private var waiting = 0
    private var generation = 0

    init(_ threads: Int) { self.threads = threads }

    /// Waits until every thread has come.
    func meet() {
        condition.lock()
        defer { condition.unlock() }
        waiting += 1
        guard waiting < threads else {
            waiting = 0
            generation += 1
            condition.broadcast()
            return
        }
        let mine = generation
        while generation == mine { condition.wait() }
    }
}
