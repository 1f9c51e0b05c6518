import Foundation
import Pushcrypt
import Testing

@testable import Server

/// The claims of Docs/SwiftServers.md for an outside package, tested with its own examples.
@Suite(.timeLimit(.minutes(20))) struct ServerTests {
    private let provider = ProviderKey()
    private let device = DeviceKey()
    private let topic: Topic
    private let phone: Server.Phone
    private let opener: Opener

    init() throws {
        topic = try Topic("com.example.app")
        phone = Server.Phone(id: "phone1", token: "00ff", key: device.publicKey)
        opener = Opener(topic: topic, deviceKeys: [device], trust: ProviderTrust(pinned: [provider.publicKey]))
    }

    private static func payload(_ text: String) -> Data { Data(#"{"aps":{"alert":{"body":"\#(text)"}}}"#.utf8) }

    private func opened(_ push: some Sequence<UInt8>) throws -> Data {
        let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
        return Data(try opener.open(push, at: now).payload)
    }

    private func notifier() throws -> Notifier {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("provider-\(UUID()).key")
        defer { try? FileManager.default.removeItem(at: file) }
        try provider.withText { text in
            var characters = Data()
            for index in text.indices { characters.append(text[index]) }
            try characters.write(to: file)
        }
        return try Notifier(secretKey: file)
    }

    @Test func manyTasksShareOneSealer() async throws {
        let notifier = try notifier()
        let ids = try await withThrowingTaskGroup(of: [String].self) { group in
            for task in 0..<8 {
                group.addTask {
                    try (0..<25).map { number in
                        let payload = Self.payload("\(task)-\(number)")
                        let request = try notifier.request(payload, named: "\(task)-\(number)", to: phone)
                        let again = try notifier.request(payload, named: "\(task)-\(number)", to: phone)
                        #expect(try opened(request.payload) == payload)
                        #expect(request.payload != again.payload && request.collapseID == again.collapseID)
                        #expect(request.topic == "com.example.app" && request.priority == .immediate)
                        return request.collapseID
                    }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        #expect(ids.count == 200)
    }

    @Test(arguments: [(10, 0), (20_000, 1)]) func aBodyThatIsTooLongIsInAFile(_ length: Int, _ files: Int) throws {
        let text = String(repeating: "é", count: length)
        var stored: [ContiguousArray<UInt8>] = []
        let request = try notifier().request(
            long: Self.payload(text), to: phone, url: "https://files.example.com/b/1"
        ) { stored.append($0) }
        #expect(request.payload.count <= 4096 && stored.count == files)
        let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
        let notification = try opener.open(request.payload, at: now)
        guard let file = stored.first else {
            #expect(notification.body == text && notification.fullBody == nil)
            return
        }
        #expect(notification.body?.hasSuffix("é…") == true)
        #expect(try notification.fullBody(opening: file.span) == text)
    }

    @Test func aClientWritesTheClearPart() throws {
        let payload = Self.payload("See you at 8")
        let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
        let sealed = try Sealer(provider: provider, topic: topic).seal(payload, to: phone.key, at: now)
        let push = try JSONEncoder().encode(ClientPayload(custom: sealed.customKeys))
        let object = try #require(try JSONSerialization.jsonObject(with: push) as? [String: Any])
        #expect(Set(object.keys) == ["aps", "ENCRYPTED_DATA"])
        #expect((object["aps"] as? [String: Any])?["mutable-content"] as? Int == 1)
        #expect(try opened(push) == payload)
    }

    @Test func aQueueIsAnsweredInOrder() async throws {
        try await answerQueue(with: Sealer(provider: provider, topic: topic), count: 500)
    }

    /// A service that takes 10 ms per signature, any number at the same time.
    private struct SlowService: KeyService {
        let key: ProviderKey

        func sign(_ message: Data) async throws -> Data {
            try await Task.sleep(nanoseconds: 10_000_000)
            let message = ContiguousArray(message)
            return Data(key.signature(of: message.span))
        }
    }

    @Test func aKeyServiceSignsWhatAQueueGives() async throws {
        let signer = KeyServiceSigner(publicKey: provider.publicKey.bytes, service: SlowService(key: provider))
        let sealer = Sealer(signer: try await .connect(to: signer), topic: topic)
        try await answerQueue(with: sealer, count: 500)
    }

    @Test func aKeyServiceThatFailsIsAnErrorOfEachMessage() async throws {
        struct Broken: KeyService {
            struct Failure: Error {}

            let key: ProviderKey

            func sign(_ message: Data) async throws -> Data {
                // The sealer is created, and nothing after it.
                guard message.count < 100 else { throw Failure() }
                let message = ContiguousArray(message)
                return Data(key.signature(of: message.span))
            }
        }
        let signer = KeyServiceSigner(publicKey: provider.publicKey.bytes, service: Broken(key: provider))
        let sealer = Sealer(signer: try await .connect(to: signer), topic: topic)
        let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
        let results = await sealer.seal((0..<3).map { Sealer.Message(Self.payload("\($0)"), to: phone.key, at: now) })
        for result in results {
            guard case .failure(let error) = result else {
                Issue.record("sealed without a signature")
                continue
            }
            #expect(error.code == .signingFailed && error.signing?.code == .signerRefused)
        }
    }

    /// Every message is sent, except a refused one, and every receipt is returned in order.
    private func answerQueue(with sealer: Sealer, count: Int) async throws {
        let phone = phone
        let queue = AsyncStream { continuation in
            for receipt in 0..<count {
                let payload = receipt == 77 ? Data("{}".utf8) : Self.payload("message \(receipt)")
                continuation.yield(Delivery(receipt: receipt, phone: phone, payload: payload))
            }
            continuation.finish()
        }
        var sent: [Data] = []
        var refused: [SealError.Code] = []
        var receipts: [Int] = []
        try await work(queue, sealer) { request, phone in
            #expect(phone.token == "00ff" && request.pushType == .alert)
            sent.append(try opened(request.payload))
        } failed: { delivery, error in
            #expect(delivery.receipt == 77)
            refused.append(error.code)
        } acknowledge: {
            receipts.append($0)
        }
        #expect(receipts == Array(0..<count))
        #expect(refused == [.missingAPS])
        #expect(sent == (0..<count).filter { $0 != 77 }.map { Self.payload("message \($0)") })
    }
}
