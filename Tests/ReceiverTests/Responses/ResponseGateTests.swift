import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore

/// The system's completion handler is called once, whatever happens.
@Suite struct ResponseGateTests {
    final class Counter: Sendable {
        private final class Box { var count = 0 }
        private let box = Locked(Box())
        var count: Int { box.withLock { $0.count } }
        func add() { box.withLock { $0.count += 1 } }
    }

    enum Event: CaseIterable { case completed, deadline, released }

    /// Every order of three events out of three, with repetitions.
    @Test(arguments: Event.allCases, Event.allCases) func itIsCalledOnceInEveryOrder(_ first: Event, _ second: Event) {
        for third in Event.allCases {
            let clock = HandClock()
            let counter = Counter()
            var gate: ResponseGate? = ResponseGate(deadline: 100, clock: clock) { counter.add() }
            #expect(counter.count == 0)
            #expect(gate?.isOver == false)
            for event in [first, second, third] {
                switch event {
                case .completed: gate?.complete()
                case .deadline: clock.advance(byMilliseconds: 100)
                case .released: gate = nil
                }
                #expect(counter.count == (first == .completed || gate == nil || gate?.isOver == true ? 1 : 0))
            }
            #expect(counter.count == 1)
        }
    }

    /// A clock that calls at once, and a handler that comes back to the gate.
    @Test func aHandlerMayUseTheGate() {
        struct HastyClock: DeliveryClock {
            struct Done: ScheduledCall { func cancel() {} }

            func schedule(
                afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
            ) -> any ScheduledCall {
                body()
                return Done()
            }
        }
        let counter = Counter()
        final class Holder { weak var gate: ResponseGate? }
        let holder = Holder()
        let gate = ResponseGate(clock: HandClock()) {
            counter.add()
            holder.gate?.complete()
        }
        holder.gate = gate
        gate.complete()
        #expect(counter.count == 1)
        #expect(ResponseGate(clock: HastyClock()) { counter.add() }.isOver)
        #expect(counter.count == 2)
    }

    @Test func itIsCalledOnceFromManyThreads() async {
        for _ in 0..<500 {
            let clock = HandClock()
            let counter = Counter()
            let gate = ResponseGate(deadline: 1, clock: clock) { counter.add() }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { gate.complete() } }
                group.addTask { clock.advance(byMilliseconds: 1) }
            }
            #expect(counter.count == 1)
        }
    }

    /// The handler's captures live as long as the call, not as long as the gate.
    @Test func theHandlerIsLetGo() {
        weak var counter: Counter?
        let gate: ResponseGate
        do {
            let held = Counter()
            counter = held
            gate = ResponseGate(clock: HandClock()) { held.add() }
        }
        #expect(counter != nil)
        gate.complete()
        #expect(counter == nil)
    }
}

/// A clock that stands still until it is advanced, with one call, which lives only as long as its holder.
private final class HandClock: DeliveryClock {
    private final class Call: ScheduledCall {
        private final class Body {
            var call: (@Sendable () -> Void)?
        }

        private let body = Locked(Body())

        init(_ call: @escaping @Sendable () -> Void) { body.withLock { $0.call = call } }

        func cancel() { _ = take() }

        func take() -> (@Sendable () -> Void)? {
            body.withLock { body in
                defer { body.call = nil }
                return body.call
            }
        }
    }

    private final class State {
        var left: UInt64 = 0
        weak var call: Call?
    }

    private let state = Locked(State())

    func schedule(
        afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledCall {
        let call = Call(body)
        state.withLock { ($0.left, $0.call) = (delay, call) }
        return call
    }

    /// Makes the call if it is due.
    func advance(byMilliseconds milliseconds: UInt64) {
        let call = state.withLock { state in
            state.left -= min(state.left, milliseconds)
            return state.left == 0 ? state.call : nil
        }
        call?.take()?()
    }
}
