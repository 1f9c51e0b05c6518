import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptService
import Testing

/// The app's extension, with a test's keys and clock.
final class NotificationService: EncryptedNotificationService {
    private let setting: NotificationServiceHandler.Configuration

    init(_ setting: NotificationServiceHandler.Configuration) {
        self.setting = setting
        super.init()
    }

    override var configuration: NotificationServiceHandler.Configuration { setting }
}

/// The example in the documentation of `SimulatedDevice`, as an app's team would write it.
@Suite final class ExampleTests {
    private let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
    private let provider = ProviderKey()
    private let keys: MemoryDeviceStore
    private let topic: Topic
    private let clock = stillClock()
    private let reports = AsyncStream.makeStream(of: DeliveryReport.self)
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushcrypt-\(UUID().uuidString)")

    init() throws {
        topic = try Topic("com.example.app")
        var state = DeviceState()
        try state.add(topic: topic, at: now)
        try state.pin(ProviderPin(provider.publicKey))
        keys = MemoryDeviceStore(state)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A device with the app, whose keys are available after `waiting` returns.
    private func device(waiting: @escaping @Sendable () -> Void = {}) -> SimulatedDevice {
        let (topic, folder) = (topic, folder)
        var configuration = NotificationServiceHandler.Configuration(topic: topic, directory: folder) { [keys] in
            waiting()
            return keys
        }
        configuration.clock = clock
        configuration.observe = { [reports] in reports.continuation.yield($0) }
        return SimulatedDevice(clock: .simulated(clock)) { [configuration] in NotificationService(configuration) }
    }

    private func push(_ payload: String) throws -> APNsPush {
        let key = try keys.state().accounts[0].keys[0].publicKey
        return APNsPush(
            try Sealer(provider: provider, topic: topic).seal(Sealer.Message(payload.utf8), to: key, at: now).json)
    }

    /// The report of the next delivery.
    private func code() async -> String? {
        var iterator = reports.stream.makeAsyncIterator()
        return await iterator.next()?.code
    }

    @Test func aSealedMessageIsShownOpened() async throws {
        let outcome = await device().push(try push(#"{"aps":{"alert":{"body":"See you at 8"}}}"#))
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.faults.isEmpty, "\(outcome)")
        #expect(await code() == "opened")
    }

    @Test func aStalledKeychainEndsInTheFallback() async throws {
        let device = device { [clock] in clock.sleep(for: 40) }
        let arrival = device.send(try push(#"{"aps":{"alert":{"body":"See you at 8"}}}"#))
        clock.advance(by: 30)
        let outcome = await arrival.decided()
        #expect(outcome.shown?.subtitle == "(Encrypted)")
        #expect(outcome.faults.isEmpty, "\(outcome)")
        #expect(await code() == "deadline")
        clock.advance(by: 100)
    }
}
