import DeviceSimulator
import Foundation
import PushcryptReceiver
import PushcryptService
import UserNotifications

/// A service extension with a test's configuration.
final class GivenService: EncryptedNotificationService {
    private let given: NotificationServiceHandler.Configuration

    init(_ configuration: NotificationServiceHandler.Configuration) {
        given = configuration
        super.init()
    }

    override var configuration: NotificationServiceHandler.Configuration { given }
}

/// A device whose extension opens sealed pushes, with the reports of its deliveries.
struct ServiceDevice {
    let clock: SimulatedClock
    let device: SimulatedDevice
    let reports: Notebook<DeliveryReport>

    /// - Parameter configuration: The app's configuration; its clock is replaced by the simulated one.
    init(_ configuration: NotificationServiceHandler.Configuration) {
        let (clock, reports) = (stillClock(), Notebook<DeliveryReport>())
        var configuration = configuration
        configuration.clock = clock
        configuration.observe = { reports.add($0) }
        device = SimulatedDevice(clock: .simulated(clock)) { [configuration] in GivenService(configuration) }
        (self.clock, self.reports) = (clock, reports)
    }

    /// The codes of so many deliveries, whose reports may arrive a little later.
    func codes(_ count: Int = 1) async -> [String] { await reports.all(count).map(\.code) }
}
