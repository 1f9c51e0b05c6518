internal import Dispatch
internal import Foundation
internal import UserNotifications

/// One push on a device, during and after the extension's run.
public final class Arrival: @unchecked Sendable {
    private let reception: Reception
    private let clock: DeviceClock
    // Retained, so that late calls of the extension's object are noticed.
    private let run: ExtensionRun?

    init(_ reception: Reception, _ run: ExtensionRun?, clock: DeviceClock) {
        self.reception = reception
        self.run = run
        self.clock = clock
    }

    /// The identifier of the notification: the collapse id, otherwise the id of the push.
    public var requestIdentifier: String { reception.requestIdentifier }

    /// The outcome so far; nil while it is undecided. Later calls of the content handler still count.
    public var outcome: Outcome? { reception.outcome }

    /// Waits for the outcome.
    ///
    /// Simulated time passes only if nothing is delivered within the clock's `patience`. On return, the extension's
    /// `didReceive` has also returned, or is waiting for simulated time to pass.
    public func decided() async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.waitUntilDecided()) }
        }
    }

    /// Waits like `decided()`, blocking the calling thread. Do not call it on the main thread, which the app's delegate
    /// needs.
    public func waitUntilDecided() -> Outcome {
        dispatchPrecondition(condition: .notOnQueue(.main))
        while true {
            if let outcome = reception.outcome(within: clock.patience) {
                reception.waitUntilReturned(clock)
                return reception.outcome ?? outcome
            }
            clock.pass()
        }
    }
}

/// One request in the service extension, with its own instance.
final class ExtensionRun: @unchecked Sendable {
    private let reception: Reception
    private let device: SimulatedDevice
    private let make: @Sendable () -> UNNotificationServiceExtension
    private let lock = NSLock()
    private var instance: UNNotificationServiceExtension?

    init(
        _ reception: Reception, on device: SimulatedDevice,
        making make: @escaping @Sendable () -> UNNotificationServiceExtension
    ) {
        self.reception = reception
        self.device = device
        self.make = make
    }

    /// Starts the extension on another thread, and its time limit.
    func start() {
        reception.keep(device.clock.schedule(afterMilliseconds: device.limits.delivery) { self.expire() })
        device.clock.start { self.receive() }
        device.clock.settle()
    }

    private func receive() {
        reception.note("the extension runs")
        device.inProcess {
            let instance = make()
            lock.withLock { self.instance = instance }
            // The handler must not retain the instance, which usually retains the handler.
            instance.didReceive(device.request(for: reception)) { [reception, device] content in
                guard let copy = reception.deliver(content) else { return }
                device.show(copy, for: reception)
            }
        }
        reception.didReturn()
    }

    private func expire() {
        guard reception.expire() else { return }
        reception.keep(device.clock.schedule(afterMilliseconds: device.limits.expiry) { self.end() })
        device.inProcess { lock.withLock { instance }?.serviceExtensionTimeWillExpire() }
    }

    private func end() {
        guard reception.end() else { return }
        device.show(nil, for: reception)
    }
}
