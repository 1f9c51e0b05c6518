import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptService
import Testing

@testable import ReceiverTests
@testable import Simulated

/// For any push from a relay, the extension delivers once and as the format says.
@Suite struct HostilePushTests {
    private static func device(_ scene: Scene, _ folder: TemporaryFolder) -> ServiceDevice {
        var configuration = NotificationServiceHandler.Configuration(
            topic: .app, directory: URL(fileURLWithPath: folder.path(of: "extension"))
        ) { [store = scene.phone.store] in store }
        configuration.now = { Scene.now }
        return ServiceDevice(configuration)
    }

    private static let values = [
        "null", "true", "7", "-1", "1e400", "0.1", #""""#, #""text""#, #""\u0000\u202e""#, "[]", "{}", #"["a",1]"#,
        #"{"critical":1,"volume":-7,"name":{}}"#,
        String(repeating: "[", count: 400) + String(repeating: "]", count: 400),
    ]

    private static let fields = [
        "badge", "sound", "thread-id", "category", "content-available", "target-content-id", "interruption-level",
        "relevance-score", "filter-criteria", "url-args", "\u{0}",
    ]

    @Test(arguments: fields)
    func noFieldOfTheClearPartStopsADelivery(_ field: String) async throws {
        let (scene, folder) = (try Scene(), try TemporaryFolder())
        let service = Self.device(scene, folder)
        let name = String(decoding: try JSONEncoder().encode(field), as: UTF8.self)
        var deliveries = 0
        for value in Self.values {
            let outcome = await service.device.push(
                APNsPush(
                    json: #"""
                        {"aps":{"mutable-content":1,"alert":{"title":"Bank"},\#(name):\#(value)},"ENCRYPTED_DATA":"AQ"}
                        """#))
            if outcome.skipped == .notJSON { continue }
            deliveries += 1
            #expect(outcome.deliveries == 1, "\(value)")
            #expect(outcome.faults.isEmpty, "\(value)")
            #expect(outcome.shown?.title == "Bank")
            #expect(outcome.shown?.subtitle == "(Encrypted)")
            #expect(outcome.shown?.body == "")
        }
        #expect(deliveries >= Self.values.count - 1)
        #expect(await service.codes(deliveries) == Array(repeating: "malformed-envelope", count: deliveries))
    }
}
