internal import PushcryptCommandKit
internal import PushcryptReceiver

/// A clock whose calls are made by the thread that runs it, until somebody ends it.
///
/// The time is the system's since it started, which nobody sets.
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

        /// What the thread does at this time; nil when there is nothing to wait for but a change.
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

    /// What the caller holds of a call.
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

    /// Makes the calls that are due, each at its time, until `end` is called.
    func run() {
        while true {
            switch calls.wait({ $0.step(at: SystemEnvironment.uptime()) }) {
            case .call(let body): body()
            case .sleep(let milliseconds, let time):
                // Less long when something comes that is to be done before.
                calls.wait(atMostMilliseconds: milliseconds) { calls in
                    calls.isEnded || calls.first.map { $0.time < time } ?? false ? () : nil
                }
            case .end: return
            }
        }
    }

    /// Ends `run`, on whatever thread it is; what is scheduled then is never called.
    func end() { calls.change { $0.isEnded = true } }
}
