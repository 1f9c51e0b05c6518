internal import PushcryptKeyStore
package import PushcryptReceiver

/// A clock that a test advances.
package final class ManualClock: DeliveryClock {
    private final class State {
        var time: UInt64 = 0
        var calls: [Call] = []
    }

    private final class Call: ScheduledCall {
        let time: UInt64
        let body: @Sendable () -> Void
        private let cancelled = Locked(Flag())

        private final class Flag {
            var isSet = false
        }

        init(_ time: UInt64, _ body: @escaping @Sendable () -> Void) {
            self.time = time
            self.body = body
        }

        var isCancelled: Bool { cancelled.withLock { $0.isSet } }

        func cancel() { cancelled.withLock { $0.isSet = true } }
    }

    private let state = Locked(State())

    package init() {}

    package func schedule(
        afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledCall {
        state.withLock { state in
            let call = Call(state.time + delay, body)
            state.calls.append(call)
            return call
        }
    }

    /// How many calls are to be made.
    package var scheduled: Int { state.withLock { $0.calls.count { !$0.isCancelled } } }

    /// Advances the time and makes the due calls on this thread.
    package func advance(milliseconds: UInt64) {
        let due = state.withLock { state in
            state.time += milliseconds
            let due = state.calls.filter { $0.time <= state.time }
            state.calls.removeAll { $0.time <= state.time }
            return due.sorted { $0.time < $1.time }
        }
        for call in due where !call.isCancelled { call.body() }
    }
}
