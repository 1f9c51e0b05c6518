internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore
internal import PushcryptReceiver

/// The opening of one push, through the delivery session that phones use.
struct OpenSession: Sendable {
    let receiver: CommandReceiver
    let push: PushToOpen
    var pushClass = PushClass.alert
    var requestID: String?
    let console: Console

    /// The time after which the system ends an extension, in milliseconds.
    private static let systemLimit: UInt64 = 30_000

    private final class Result {
        var delivery: Delivery?
        var warnings: [String] = []
    }

    /// Opens the push on this thread, however long that takes.
    func run() -> (Delivery, warnings: [String]) {
        let result = Locked(Result())
        weak var current: DeliverySession<Delivery>?
        let session = session(
            DeliveryDeadlines(), TimelessClock(), result, open: { if let current { open(current, result) } },
            delivered: { _ in })
        current = session
        session.receive()
        return outcome(result)
    }

    /// Opens the push as a phone does, on a separate thread, until there is something to show.
    func runOnPhone() throws(CommandFailure) -> (Delivery, warnings: [String]) {
        let result = Locked(Result())
        let loop = EventLoop()
        let trace = Trace(console)
        let deadlines = DeliveryDeadlines()
        weak var current: DeliverySession<Delivery>?
        var code: Int32 = 0
        let session = session(
            deadlines, loop, result,
            open: {
                guard let current else { return }
                code = SystemThread.start { open(current, result, trace) }
                if code != 0 { loop.end() }
            },
            delivered: { outcome in
                trace.log("delivered: \(outcome)")
                loop.end()
            })
        current = session
        let end = loop.schedule(afterMilliseconds: Self.systemLimit) { session.handle(.expired) }
        trace.log(
            "received; the deadline is \(durationText(Int(clamping: deadlines.delivery), units: millisecondUnits))")
        session.receive()
        loop.run()
        end.cancel()
        guard code == 0 else { throw .failed("cannot start a thread: \(SystemError(code: code).text)") }
        return outcome(result)
    }

    private func session(
        _ deadlines: DeliveryDeadlines, _ clock: any DeliveryClock, _ result: Locked<Result>,
        open: @escaping () -> Void, delivered: @escaping (Delivery.Outcome) -> Void
    ) -> DeliverySession<Delivery> {
        DeliverySession(
            deadlines: deadlines, clock: clock,
            steps: DeliverySteps(
                open: open, fallback: { push.fallback($0) },
                deliver: { delivery, outcome in
                    result.withLock { $0.delivery = delivery }
                    delivered(outcome)
                }))
    }

    private func outcome(_ result: Locked<Result>) -> (Delivery, warnings: [String]) {
        result.withLock { result in
            guard let delivery = result.delivery else { preconditionFailure("a session has delivered nothing") }
            return (delivery, result.warnings)
        }
    }

    // MARK: Opening

    private func open(
        _ session: DeliverySession<Delivery>, _ result: Locked<Result>, opened: (Delivery) -> Void = { _ in }
    ) {
        let (delivery, warnings) = receiver.receive(
            push, as: pushClass, requestID: requestID, at: console.timestamp, isAwaited: { !session.isOver })
        result.withLock { $0.warnings = warnings }
        opened(delivery)
        session.handle(DeliveryMachine.Event(delivery, content: delivery))
    }

    private func open(
        _ session: DeliverySession<Delivery>, _ result: Locked<Result>, _ trace: Trace
    ) {
        let start = SystemEnvironment.uptime()
        open(session, result) { delivery in
            guard !session.isOver else { return }
            let time = "in \(SystemEnvironment.uptime() - start) ms"
            if case .fallback(let reason) = delivery.outcome {
                trace.log("not opened \(time): \(reason.code)")
            } else {
                trace.log("\(delivery.code) \(time)")
            }
        }
    }
}

/// The log of a simulated delivery, with times.
private struct Trace: Sendable {
    private let console: Console
    private let start = SystemEnvironment.uptime()

    init(_ console: Console) { self.console = console }

    func log(_ text: String) { console.log("\(SystemEnvironment.uptime() - start) ms: \(text)") }
}

/// A clock that stands still: `open` has no deadline.
private struct TimelessClock: DeliveryClock {
    private struct Never: ScheduledCall {
        func cancel() {}
    }

    func schedule(
        afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledCall { Never() }
}

// MARK: The clock

/// A clock that makes its calls on the thread that runs it, until `end` is called.
///
/// It measures the system's uptime, which nobody can set.
final class EventLoop: DeliveryClock {
    private let calls = Monitor(Calls())

    private struct Call {
        let id: ObjectIdentifier
        let time: UInt64
        let body: @Sendable () -> Void
    }

    private struct Calls: Sendable {
        var all: [Call] = []
        var isEnded = false

        var first: Call? { all.min { $0.time < $1.time } }

        /// Returns the thread's next step at this time; nil if there is nothing to do until something changes.
        mutating func step(at now: UInt64) -> Step? {
            if isEnded { return .end }
            guard let first else { return nil }
            guard first.time <= now else { return .sleep(milliseconds: first.time - now, until: first.time) }
            remove(first.id)
            return .call(first.body)
        }

        mutating func remove(_ id: ObjectIdentifier) { all.removeAll { $0.id == id } }
    }

    private enum Step {
        case call(@Sendable () -> Void)
        case sleep(milliseconds: UInt64, until: UInt64)
        case end
    }

    /// The caller's handle of a call.
    private final class Ticket: ScheduledCall {
        private let calls: Monitor<Calls>

        init(_ calls: Monitor<Calls>) { self.calls = calls }

        deinit { cancel() }

        func cancel() { calls.change { $0.remove(ObjectIdentifier(self)) } }
    }

    // MARK: Calls

    func schedule(
        afterMilliseconds delay: UInt64, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledCall {
        let ticket = Ticket(calls)
        let (time, overflow) = SystemEnvironment.uptime().addingReportingOverflow(delay)
        let call = Call(id: ObjectIdentifier(ticket), time: overflow ? .max : time, body: body)
        calls.change { $0.all.append(call) }
        return ticket
    }

    // MARK: Running

    /// Makes each call when it is due, until `end` is called.
    func run() {
        while true {
            switch calls.wait({ $0.step(at: SystemEnvironment.uptime()) }) {
            case .call(let body): body()
            case .sleep(let milliseconds, let time):
                // Shorter if an earlier call is scheduled meanwhile.
                calls.wait(atMostMilliseconds: milliseconds) { calls in
                    calls.isEnded || calls.first.map { $0.time < time } ?? false ? () : nil
                }
            case .end: return
            }
        }
    }

    /// Ends `run`, from any thread; calls still scheduled are never made.
    func end() { calls.change { $0.isEnded = true } }
}
