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
        /// The requested delay, in milliseconds.
        var delays: [UInt64] = []
    }

    /// What was scheduled lives only as long as somebody holds it.
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
            state.delays.append(delay)
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

    /// How many calls would still be made.
    var waiting: Int { state.withLock { $0.calls.count { $0.call?.isWaiting == true } } }

    /// The requests so far.
    var delays: [UInt64] { state.withLock(\.delays) }
}

/// Content as bad as it can be: anyone who has it can change it.
final class Slip {
    var number: Int

    init(_ number: Int) { self.number = number }

    static let tampered = -1
}

/// A session over a stopped clock, and its requests.
final class SessionScene {
    /// What outlives the session.
    final class Record {
        var delivered: [Due] = []
        var log: [String] = []
    }

    let clock: HandClock
    /// Nil once its last owner has let it go.
    private(set) var session: DeliverySession<Slip>?
    private let record = Record()

    var delivered: [Due] { record.delivered }
    var log: [String] { record.log }

    init(_ clock: HandClock = HandClock(), deadlines: DeliveryDeadlines = DeliveryDeadlines()) {
        self.clock = clock
        session = DeliverySession(
            deadlines: deadlines, clock: clock, freeze: { Slip($0.number) }, steps: record.steps)
    }

    /// Lets one thing happen. A caller that brought content changes it at once.
    func happen(_ happening: Happening, content: Int, kind: SessionOracle.Kind) {
        let slip = Slip(content)
        switch happening {
        case .received: session?.receive()
        case .released: session = nil
        case .deadline, .attachmentDeadline, .secondRequest:
            preconditionFailure("a session is not told of \(happening): the clock is, or another session")
        default: if let event = happening.event(slip, kind) { session?.handle(event) }
        }
        slip.number = Slip.tampered
    }
}

extension SessionScene.Record {
    /// Steps that spoil whatever they are given.
    fileprivate var steps: DeliverySteps<Slip> {
        DeliverySteps(
            open: { self.log.append("open") },
            attach: { slip in
                self.log.append("attach")
                slip.number = Slip.tampered
            },
            stopAttaching: { self.log.append("stop") },
            change: { slip in
                self.log.append("change")
                slip.number = Slip.tampered
            },
            fallback: { _ in Slip(0) },
            deliver: { slip, outcome in
                self.log.append("deliver")
                if case .fallback(let reason) = outcome {
                    self.delivered.append(.fallback(slip.number == 0 ? reason.code : "no fallback: \(slip.number)"))
                } else {
                    self.delivered.append(.content(slip.number, outcome))
                }
                slip.number = Slip.tampered
            })
    }
}

extension Happening {
    /// What the machine is told; nil for what only concerns another notification.
    func event<Content>(_ content: Content, _ kind: SessionOracle.Kind) -> DeliveryMachine<Content>.Event? {
        switch self {
        case .received: .received
        case .opened: .opened(content, .init(hasAttachments: kind.hasAttachments, isChanged: kind.isChanged))
        case .failed: .failed(SessionOracle.failure)
        case .bodyDone: .extended(content)
        case .attachmentDone: .attached(content, isComplete: true)
        case .attachmentFailed: .attached(content, isComplete: false)
        case .deadline: .deadline
        case .expired: .expired
        case .secondRequest: nil
        case .released: .released
        case .attachmentDeadline: .attachmentDeadline
        case .changed: .changed(content)
        case .changeFailed: .changeFailed
        case .decided: .decided(content, .passed)
        }
    }
}
