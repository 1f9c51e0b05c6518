import DeviceSimulator
import Foundation
import PushcryptReceiver
import PushcryptService
import UserNotifications

/// The service extension of an app that says what a test says.
final class GivenService: EncryptedNotificationService {
    private let given: NotificationServiceHandler.Configuration

    init(_ configuration: NotificationServiceHandler.Configuration) {
        given = configuration
        super.init()
    }

    override var configuration: NotificationServiceHandler.Configuration { given }
}

/// A device whose extension opens sealed pushes, and the reports of its deliveries.
struct ServiceDevice {
    let clock: SimulatedClock
    let device: SimulatedDevice
    let reports: Notebook<DeliveryReport>

    /// - Parameter configuration: what the app says; the deadlines are the simulated clock's.
    init(_ configuration: NotificationServiceHandler.Configuration) {
        // So much patience that a busy machine makes no extension look late.
        let (clock, reports) = (SimulatedClock(patience: 60), Notebook<DeliveryReport>())
        var configuration = configuration
        configuration.clock = clock
        configuration.observe = { reports.add($0) }
        device = SimulatedDevice(clock: .simulated(clock)) { [configuration] in GivenService(configuration) }
        (self.clock, self.reports) = (clock, reports)
    }

    /// The codes of so many deliveries, whose reports may come a little later.
    func codes(_ count: Int = 1) async -> [String] { await reports.all(count).map(\.code) }
}
