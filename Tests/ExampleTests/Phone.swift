import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptService

@testable import NotificationService

/// An enrolled phone and its provider, for the tests of the extension in Docs/AppReference.md.
struct Phone {
    let keys: MemoryDeviceStore
    let topic: Topic
    let provider = ProviderKey()
    let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws {
        topic = try Topic("com.example.app")
        var state = DeviceState()
        try state.add(topic: topic, at: now)
        try state.pin(ProviderPin(provider.publicKey))
        keys = MemoryDeviceStore(state)
    }

    func push(_ payload: String) throws -> APNsPush {
        let device = try keys.state().accounts[0].keys[0].publicKey
        return APNsPush(
            try Sealer(provider: provider, topic: topic).seal(Sealer.Message(payload.utf8), to: device, at: now).json)
    }

    /// The shipping extension, with this phone's keys and files; on a slow machine, too, it delivers before time passes.
    func device(
        _ clock: SimulatedClock = SimulatedClock(patience: 600), keysTake seconds: Double = 0
    ) -> SimulatedDevice {
        SimulatedDevice(clock: .simulated(clock)) {
            TestedService { configuration in
                configuration.clock = clock
                configuration.topic = { topic }
                configuration.directory = { folder }
                configuration.keys = {
                    if seconds > 0 { clock.sleep(for: seconds) }
                    return keys
                }
            }
        }
    }
}

/// The app's extension, with a changed configuration.
final class TestedService: NotificationService {
    private let adjust: (inout NotificationServiceHandler.Configuration) -> Void

    init(_ adjust: @escaping (inout NotificationServiceHandler.Configuration) -> Void) {
        self.adjust = adjust
        super.init()
    }

    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        adjust(&configuration)
        return configuration
    }
}
