internal import Foundation
internal import UserNotifications

/// One request in the service extension, with an instance of its own.
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

    /// Starts the extension on another thread, and its time.
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
            // The handler must not hold the instance, which mostly holds the handler.
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
