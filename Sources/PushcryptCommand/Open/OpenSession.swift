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

    private final class Result {
        var delivery: Delivery?
        var warnings: [String] = []
    }

    /// Opens the push on this thread, however long that takes.
    func run() -> (Delivery, warnings: [String]) {
        let result = Locked(Result())
        weak var current: DeliverySession<Delivery>?
        let session = DeliverySession(
            deadlines: DeliveryDeadlines(), clock: TimelessClock(),
            steps: DeliverySteps(
                open: { if let current { open(current, result) } }, fallback: { push.fallback($0) },
                deliver: { delivery, _ in result.withLock { $0.delivery = delivery } }))
        current = session
        session.receive()
        return outcome(result)
    }

    private func outcome(_ result: Locked<Result>) -> (Delivery, warnings: [String]) {
        result.withLock { result in
            guard let delivery = result.delivery else { preconditionFailure("a session has delivered nothing") }
            return (delivery, result.warnings)
        }
    }

    // MARK: Opening

    private func open(_ session: DeliverySession<Delivery>, _ result: Locked<Result>) {
        let (delivery, warnings) = receiver.receive(
            push, as: pushClass, requestID: requestID, at: console.timestamp, isAwaited: { !session.isOver })
        result.withLock { $0.warnings = warnings }
        session.handle(DeliveryMachine.Event(delivery, content: delivery))
    }
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
