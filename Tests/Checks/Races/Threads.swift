import Foundation
import PushcryptKeyStore
import PushcryptReceiver

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

/// A clock that some thread rings, and everything that is waiting is due.
final class RoundClock: DeliveryClock {
    private final class State {
        var calls: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private final class Ticket: ScheduledCall {
        private let state: Locked<State>

        init(_ state: Locked<State>) { self.state = state }

        deinit { cancel() }

        func cancel() { state.withLock { _ = $0.calls.removeValue(forKey: ObjectIdentifier(self)) } }
    }

    private let state = Locked(State())

    func schedule(
        afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledCall {
        let ticket = Ticket(state)
        state.withLock { $0.calls[ObjectIdentifier(ticket)] = body }
        return ticket
    }

    func ring() {
        let due = state.withLock { state in
            defer { state.calls = [:] }
            return Array(state.calls.values)
        }
        for call in due { call() }
    }
}
