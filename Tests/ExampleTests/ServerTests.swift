import Foundation
import Pushcrypt
import Testing

@testable import Server

/// The claims of Pushcrypt's article Provider for an outside package, tested with its own examples.
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
        let sealed = try Sealer(provider: provider, topic: topic).seal(Sealer.Message(payload), to: phone.key, at: now)
        let push = try JSONEncoder().encode(ClientPayload(custom: sealed.customKeys))
        let object = try #require(try JSONSerialization.jsonObject(with: push) as? [String: Any])
        #expect(Set(object.keys) == ["aps", "ENCRYPTED_DATA"])
        #expect((object["aps"] as? [String: Any])?["mutable-content"] as? Int == 1)
        #expect(try opened(push) == payload)
    }

    /// The outcomes of a queue's messages.
    private actor Log {
        private(set) var sent: Set<Data> = []
        private(set) var refused: [Int: SealError.Code] = [:]
        private(set) var receipts: [Int] = []

        func send(_ payload: Data) { sent.insert(payload) }
        func refuse(_ receipt: Int, _ code: SealError.Code) { refused[receipt] = code }
        func acknowledge(_ receipt: Int) { receipts.append(receipt) }
    }

    /// Every message is sent, except a refused one, and every receipt is returned.
    @Test(arguments: [1, 2, 32]) func aQueueIsAnswered(_ width: Int) async throws {
        let (phone, log) = (phone, Log())
        let queue = AsyncStream { continuation in
            for receipt in 0..<500 {
                let payload = receipt == 77 ? Data("{}".utf8) : Self.payload("message \(receipt)")
                continuation.yield(Delivery(receipt: receipt, phone: phone, payload: payload))
            }
            continuation.finish()
        }
        try await work(queue, Sealer(provider: provider, topic: topic), width: width) { request, phone in
            #expect(phone.token == "00ff" && request.pushType == .alert)
            await log.send(try opened(request.payload))
        } failed: { delivery, error in
            await log.refuse(delivery.receipt, error.code)
        } acknowledge: { receipt in
            await log.acknowledge(receipt)
        }
        #expect(await log.receipts.sorted() == Array(0..<500))
        #expect(await log.refused == [77: .missingAPS])
        #expect(await log.sent == Set((0..<500).filter { $0 != 77 }.map { Self.payload("message \($0)") }))
    }
}
