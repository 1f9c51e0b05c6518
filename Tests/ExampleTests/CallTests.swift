import CallKit
import DeviceSimulator
import Foundation
import PushKit
import Pushcrypt
import PushcryptKeyStore
import PushcryptService
import Testing

@testable import App
@testable import CallNotificationService

/// The guide's calls: an app whose delegate returns without having reported a call is ended by the system.
@Suite(.timeLimit(.minutes(20))) struct CallTests {
    private let keys: MemoryDeviceStore
    private let provider = ProviderKey()
    private let topic: Topic
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("calls-\(UUID())")
    private let events = Events()
    private let calls: Calls

    init() throws {
        topic = try Topic("com.example.app")
        var state = DeviceState()
        try state.add(topic: topic, at: Self.now)
        try state.pin(ProviderPin(provider.publicKey))
        keys = MemoryDeviceStore(state)
        calls = Calls(Provider(events), AppPushes(configuration: Self.configuration(keys, topic, folder)))
    }

    private static var now: Timestamp { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }

    private static func configuration(
        _ keys: MemoryDeviceStore, _ topic: Topic, _ folder: URL
    ) -> NotificationServiceHandler.Configuration {
        var configuration = NotificationServiceHandler.Configuration(topic: topic, directory: folder) { keys }
        // Stands still: a busy machine makes nothing late.
        configuration.clock = SimulatedClock()
        return configuration
    }

    private func sealed(
        _ payload: String = #"{"aps":{"alert":"calls"}}"#, as type: PushType = .voip,
        like options: Sealer.Message = .init([])
    ) throws -> [UInt8] {
        var message = options
        (message.payload, message.pushType) = (ContiguousArray(payload.utf8), type)
        let device = try keys.state().accounts[0].keys[0].publicKey
        message.from = CommunicationSender(name: "Anna", handle: "u17")
        let push = try Sealer(provider: provider, topic: topic)
            .seal(message, to: device, at: Self.now)
        return [UInt8](push.json)
    }

    /// Calls the delegate, as the system does, which expects a report when it returns; returns what happens until it is completed.
    private func receive(_ json: [UInt8], _ calls: Calls? = nil) throws -> [String] {
        let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
        let before = events.all.count
        let isCompleted = DispatchSemaphore(value: 0)
        (calls ?? self.calls).pushRegistry(
            PKPushRegistry(queue: nil), didReceiveIncomingPushWith: Payload(try #require(object)), for: .voIP,
            completion: { [events] in
                events.add("completed")
                isCompleted.signal()
            })
        #expect(events.all.count > before && events.all[before].hasPrefix("reports"))
        isCompleted.wait()
        return Array(events.all[before...])
    }

    @Test func aCallIsReportedBeforeTheDelegateReturns() throws {
        #expect(try receive(try sealed()) == ["reports Anna", "completed"])
    }

    @Test func whatDoesNotOpenIsReportedOnceAndEnded() throws {
        var options = Sealer.Message([])
        options.name = "call"
        let call = try sealed(like: options)
        _ = try receive(call)
        var withdrawal = Sealer.Message([])
        withdrawal.withdrawing = ["late"]
        _ = try receive(try sealed(like: withdrawal))
        options.name = "late"
        let pushes = [
            Array(#"{"ENCRYPTED_DATA":"AQ"}"#.utf8), Array(#"{"ENCRYPTED_DATA":7}"#.utf8), Array("{}".utf8),
            Array(#"{"aps":{"alert":{"title":"Anna"}}}"#.utf8), call, try sealed(like: options),
        ]
        for push in pushes { #expect(try receive(push) == ["reports nobody", "ends 1", "completed"]) }
    }

    /// A relay puts Anna's message into a push of type voip: nobody's name rings, and the message still does.
    @Test func aMessageIsNoCall() async throws {
        let message = try sealed(as: .alert)
        #expect(try receive(message) == ["reports nobody", "ends 1", "completed"])
        let device = SimulatedDevice { [keys, topic, folder] in
            CallService(Self.configuration(keys, topic, folder))
        }
        #expect(await device.push(APNsPush(message)).shown?.body == "calls")
    }

    @Test func keysThatHangEndInACall() throws {
        let (topic, folder) = (topic, folder)
        let hanging = Calls(
            Provider(events),
            AppPushes(
                configuration: .init(topic: topic, directory: folder) { [keys] in
                    Thread.sleep(forTimeInterval: 10)
                    return keys
                }))
        #expect(try receive(try sealed(), hanging) == ["reports nobody", "ends 1", "completed"])
    }

    @Test func theExtensionPassesCallsOn() async throws {
        let device = SimulatedDevice { [keys, topic, folder] in
            CallService(Self.configuration(keys, topic, folder))
        }
        device.app.hasFilteringEntitlement = true
        let call = try sealed(#"{"aps":{"alert":"calls"},"call":"c7"}"#, as: .alert)
        for _ in 0..<2 {
            let outcome = await device.push(APNsPush(call))
            #expect(outcome.shown == nil && outcome.faults.isEmpty, "\(outcome)")
        }
        #expect(await device.push(APNsPush(try sealed(as: .alert))).shown?.body == "calls")
        // The app has the extension's guard.
        let pushes = AppPushes(configuration: Self.configuration(keys, topic, folder))
        let payload = try JSONSerialization.jsonObject(with: Data(call)) as? [String: Any]
        guard case .repeated(let passed) = pushes.openCall(try #require(payload), orAlert: isCall) else {
            Issue.record("the app does not get the call")
            return
        }
        #expect(passed.from?.name == "Anna")
        let message = try JSONSerialization.jsonObject(with: Data(sealed(as: .alert))) as? [String: Any]
        guard case .unopened(let reason) = pushes.openCall(try #require(message), orAlert: isCall) else {
            Issue.record("a message is not a call")
            return
        }
        #expect(reason.code == "wrong-push-class")
    }
}

/// Whether the guide's extension passes a message on as a call.
@Sendable private func isCall(_ message: OpenedNotification) -> Bool {
    let payload = try? JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
    return payload?["call"] != nil
}

/// The guide's extension, with other keys and files.
private final class CallService: NotificationService {
    private let given: NotificationServiceHandler.Configuration

    init(_ given: NotificationServiceHandler.Configuration) { self.given = given }

    override var configuration: NotificationServiceHandler.Configuration {
        var configuration = super.configuration
        (configuration.directory, configuration.keys) = (given.directory, given.keys)
        return configuration
    }
}

private final class Events: @unchecked Sendable {
    // Locked.
    private let lock = NSLock()
    private var events: [String] = []

    var all: [String] { lock.withLock { events } }

    func add(_ event: String) { lock.withLock { events.append(event) } }
}

private final class Payload: PKPushPayload {
    private let dictionary: [AnyHashable: Any]

    init(_ dictionary: [AnyHashable: Any]) { self.dictionary = dictionary }

    override var dictionaryPayload: [AnyHashable: Any] { dictionary }
}

/// Notes what an app reports, and knows a call when its delegate has returned, as the system does.
private final class Provider: CXProvider, @unchecked Sendable {
    private let events: Events
    private let known = Events()

    init(_ events: Events) {
        self.events = events
        super.init(configuration: CXProviderConfiguration())
    }

    override func reportNewIncomingCall(
        with uuid: UUID, update: CXCallUpdate, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        events.add("reports \(update.localizedCallerName ?? "nobody")")
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) { [known] in
            known.add("\(uuid)")
            completion(nil)
        }
    }

    override func reportCall(with uuid: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason) {
        events.add(known.all.contains("\(uuid)") ? "ends \(endedReason.rawValue)" : "ends what nobody knows")
    }
}
