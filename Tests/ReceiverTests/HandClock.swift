import PushcryptReceiver

@testable import PushcryptKeyStore

/// A clock that stands still until it is moved, and calls on the thread that moves it.
final class HandClock: DeliveryClock {
    private final class Call: ScheduledCall {
        let time: UInt64
        private let body: Locked<Body>

        private final class Body {
            var call: (@Sendable () -> Void)?
            init(_ call: @escaping @Sendable () -> Void) { self.call = call }
        }

        init(at time: UInt64, _ call: @escaping @Sendable () -> Void) {
            self.time = time
            body = Locked(Body(call))
        }

        var isWaiting: Bool { body.withLock { $0.call != nil } }

        func cancel() { _ = take() }

        func make() { take()?() }

        private func take() -> (@Sendable () -> Void)? {
            body.withLock { body in
                defer { body.call = nil }
                return body.call
            }
        }
    }

    private final class State {
        var time: UInt64 = 0
        var calls: [Weak] = []
    }

    /// A scheduled call lives only as long as its holder.
    private struct Weak {
        weak var call: Call?
    }

    private let state = Locked(State())

    func schedule(
        afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledCall {
        state.withLock { state in
            let call = Call(at: state.time + delay, body)
            state.calls.append(Weak(call: call))
            return call
        }
    }

    /// Moves the time on, and makes the calls that are due, the earliest first.
    func advance(byMilliseconds milliseconds: UInt64) {
        let due = state.withLock { state in
            state.time += milliseconds
            let waiting = state.calls.compactMap(\.call)
            state.calls = waiting.filter { $0.time > state.time }.map(Weak.init)
            return waiting.filter { $0.time <= state.time }.sorted { $0.time < $1.time }
        }
        for call in due { call.make() }
    }
}
