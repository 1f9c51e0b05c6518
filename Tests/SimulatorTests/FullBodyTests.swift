import DeviceSimulator
import Foundation
import Pushcrypt
import PushcryptService
import TestPhone
import Testing
import Waiting

/// A body that is too long for its push, on a simulated device.
@Suite struct FullBodyTests {
    private static let text = "The beginning, and " + String(repeating: "the rest ", count: 1000) + "the end."

    private let phone: TestPhone
    private let fullBody: FullBody

    init() throws {
        phone = try TestPhone()
        let payload = #"{"aps":{"alert":{"title":"News","body":""# + Self.text + #""}}}"#
        fullBody = try #require(
            try FullBody(
                of: payload.utf8, url: "https://files.example/body",
                by: Sealer(provider: phone.provider, topic: TestPhone.topic)))
    }

    /// Seals it with as much of the text as fits.
    private func push() throws -> APNsPush {
        var options = Sealer.Options()
        options.fitting = [.body]
        let payload = #"{"aps":{"alert":{"title":"News","body":""# + Self.text + #""}}}"#
        return APNsPush(try phone.seal(payload, fullBody: fullBody, options: options))
    }

    private func device(_ transport: FileTransport) -> ServiceDevice {
        var configuration = phone.configuration
        configuration.transport = transport
        return ServiceDevice(configuration)
    }

    @Test func thePersonSeesTheFullText() async throws {
        let service = device(FileTransport(bytes: Data(fullBody.sealedFile)))
        let outcome = await service.device.push(try push())
        #expect(outcome.shown?.title == "News" && outcome.shown?.body == Self.text)
        #expect(outcome.deliveries == 1 && outcome.faults.isEmpty)
        #expect(await service.codes() == ["opened"])
    }

    @Test func withoutTheFileThePersonSeesTheBeginning() async throws {
        let service = device(FileTransport(bytes: Data()))
        let outcome = await service.device.push(try push())
        let body = try #require(outcome.shown?.body)
        #expect(body.hasSuffix("…") && Self.text.hasPrefix(body.dropLast()) && body.utf8.count > 2000)
        #expect(outcome.deliveries == 1 && outcome.faults.isEmpty)
        #expect(await service.codes() == ["opened-without-attachment"])
    }

    @Test func aFileThatNeverComesHoldsUpNothing() async throws {
        let transport = FileTransport(bytes: nil)
        let service = device(transport)
        let arrival = service.device.send(try push())
        #expect(await eventually { transport.isAsked })
        service.clock.advance(by: 15)
        let outcome = await arrival.decided()
        #expect(outcome.shown?.body.hasSuffix("…") == true && outcome.milliseconds == 15_000)
        #expect(outcome.deliveries == 1 && outcome.faults.isEmpty)
        #expect(await service.codes() == ["opened-without-attachment"])
    }
}

/// A transport with one file, or with none that ever arrives.
private final class FileTransport: AttachmentTransport {
    private struct Transfer: AttachmentTransfer {
        let end: @Sendable () -> Void

        func cancel() { end() }
    }

    private let bytes: Data?
    private let asked = Notebook<String>()

    init(bytes: Data?) { self.bytes = bytes }

    var isAsked: Bool { !asked.all.isEmpty }

    func download(
        _ url: URL, atMost limit: UInt64, receive: @escaping @Sendable (Data) -> Bool,
        finish: @escaping @Sendable (TransportFailure?) -> Void
    ) -> any AttachmentTransfer {
        asked.add(url.path)
        guard let bytes else { return Transfer { finish(TransportFailure("cancelled")) } }
        _ = receive(bytes)
        finish(nil)
        return Transfer {}
    }
}
