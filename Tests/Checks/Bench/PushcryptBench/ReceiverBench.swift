import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver

/// One phone and its provider: what memory deliveries take.
struct ReceiverBench {
    private static let time = Timestamp(milliseconds: 1_790_000_000_000)

    private let sealer: Sealer
    private let device: DevicePublicKey
    private let receiver: NotificationReceiver

    /// Makes the phone's files in a separate directory: the key store and the replay guard.
    init(at directory: String, _ suite: CipherSuite = .x25519) throws {
        let topic = try Topic("com.example.app")
        let seed = [UInt8](0..<32)
        let scalar = [UInt8](32..<64)
        let provider = try ProviderKey(seed: ContiguousArray(seed).span)
        let key = try DeviceKey(scalar: ContiguousArray(scalar).span, suite)
        let store = try SQLiteKeyStore.create(in: directory)
        device = key.publicKey
        try store.change { (state) throws(KeyStoreError) in
            try state.add(key, topic: topic, at: Self.time)
            try state.pin(ProviderPin(provider.publicKey))
        }
        let database = try ExtensionDatabase.create(in: directory, floor: Self.time.subtracting(milliseconds: 1))
        receiver = NotificationReceiver(store: store, database: database, topic: topic)
        sealer = Sealer(provider: provider, topic: topic)
    }

    private func open(_ text: String, requestID: String) throws {
        let push = IncomingPush(encryptedData: .text(text), clear: NotificationContent())
        let outcome = receiver.receive(push, requestID: requestID, at: Self.time) { true }.delivery.outcome
        guard outcome == .opened else { throw BenchFailure(what: "self-check: a push ended as \(outcome)") }
    }

    private func seal(_ payload: some Sequence<UInt8>) throws -> String {
        try sealer.seal(Sealer.Message(payload), to: device, at: Self.time).envelope.text
    }

    /// The largest payload: it fills the largest bucket of a push that is shown.
    private static func largePayload(_ suite: CipherSuite) -> [UInt8] {
        let start = #"{"aps":{"alert":{"title":"Table for two","body":""#
        let end = #""},"sound":"default"}}"#
        let count = PushType.alert.maximumPayloadLength(suite) - start.count - end.count
        return Array((start + String(repeating: "x", count: count) + end).utf8)
    }

    func openLargest() throws { try open(try seal(Self.largePayload(device.suite)), requestID: "1") }

    /// Opens a thousand messages, each of which comes so many times.
    func openMany(_ rounds: Int) throws {
        let texts = try (0..<1000).map { _ in try seal(LibraryBench.payload) }
        for round in 0..<rounds { for text in texts { try open(text, requestID: "\(round)") } }
    }
}
