import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptService
import Testing

/// An enrolled phone and its provider.
struct TestPhone {
    let topic: Topic
    let keys: MemoryDeviceStore
    let provider = ProviderKey()
    let clock = SimulatedClock()
    let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws {
        topic = try Topic("com.example.app")
        var state = DeviceState()
        try state.add(topic: topic, at: now)
        try state.pin(ProviderPin(provider.publicKey))
        keys = MemoryDeviceStore(state)
    }

    /// Returns the provider's push with a payload.
    func push(_ payload: String) throws -> APNsPush {
        let key = try keys.state().accounts[0].keys[0].publicKey
        return APNsPush(
            try Sealer(provider: provider, topic: topic).seal(Sealer.Message(payload.utf8), to: key, at: now).json)
    }

    /// Returns a device whose extension uses the keys and files of this phone; `adjust` changes the configuration.
    func device(
        _ adjust: @escaping @Sendable (inout NotificationServiceHandler.Configuration) -> Void = { _ in }
    ) -> SimulatedDevice {
        SimulatedDevice(clock: .simulated(clock)) { [topic, keys, clock, folder] in
            var configuration = NotificationServiceHandler.Configuration(topic: topic, directory: folder) { keys }
            configuration.clock = clock
            adjust(&configuration)
            return TestedService(configuration)
        }
    }
}

/// The app's extension, with the test's configuration.
final class TestedService: EncryptedNotificationService {
    private let given: NotificationServiceHandler.Configuration

    init(_ given: NotificationServiceHandler.Configuration) {
        self.given = given
        super.init()
    }

    override var configuration: NotificationServiceHandler.Configuration { given }
}

@Suite struct NotificationServiceTests {
    @Test func aSealedPushIsShownOpened() async throws {
        let phone = try TestPhone()
        let outcome = await phone.device().push(
            try phone.push(#"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}}}"#))
        #expect(outcome.shown?.title == "Table for two")
        #expect(outcome.shown?.body == "See you at 8")
        #expect(outcome.faults.isEmpty, "\(outcome)")
    }
}
