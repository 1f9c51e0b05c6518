import DeviceSimulator
import PushcryptReceiver
import PushcryptService
import TestPhone
import Testing

/// The extension that opens sealed pushes, on a simulated device, has none of the usual faults.
@Suite struct EncryptedServiceTests {
    private let phone: TestPhone

    init() throws { phone = try TestPhone() }

    @Test func aSealedPushIsShownOpened() async throws {
        let service = ServiceDevice(phone.configuration)
        let outcome = await service.device.push(APNsPush(try phone.seal()))
        #expect(outcome.shown?.title == "Table for two")
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.deliveries == 1)
        #expect(outcome.milliseconds == 0)
        #expect(outcome.faults.isEmpty)
        #expect(await service.codes() == ["opened"])
    }

    @Test func aCopyUnderAnotherIDIsNotShownWithTheEntitlementForThat() async throws {
        var configuration = phone.configuration
        configuration.duplicates = .suppress
        let service = ServiceDevice(configuration)
        service.device.app.hasFilteringEntitlement = true
        let json = try phone.seal()
        #expect(await service.device.push(APNsPush(json)).source == .delivered)
        let copy = await service.device.push(APNsPush(json))
        #expect(copy.source == .nothing)
        #expect(copy.faults.isEmpty)
        #expect(service.device.list.count == 1)

        service.device.app.hasFilteringEntitlement = false
        #expect(await service.device.push(APNsPush(json)).faults == [.emptyWithoutEntitlement])
    }
}
