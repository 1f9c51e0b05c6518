import Pushcrypt
import PushcryptKeyStore

/// A provider with one device: its real key store, in memory, and a clock that may be ahead.
struct Provider {
    private static let name = "default"
    static let device = "phone"

    private let store: SQLiteKeyStore
    private let topic: Topic
    /// How far ahead the provider's clock is.
    let skew: UInt64
    private(set) var sender: SenderKey
    private var sealer: Sealer

    init(topic: Topic, skew: UInt64, at now: Timestamp) throws {
        store = try SQLiteKeyStore.inMemory()
        self.topic = topic
        self.skew = skew
        _ = try store.generateSenderKey(named: Self.name, topic: topic, at: now.adding(milliseconds: skew))
        sender = try store.senderKey(named: Self.name).key
        sealer = Sealer(sender: sender, topic: topic)
    }

    /// Accepts the phone's record; one that is older than the held record has no effect.
    func register(_ registration: DeviceRegistration, at now: Timestamp) throws {
        do throws(KeyStoreError) {
            try store.addDevice(registration, id: Self.device, at: now.adding(milliseconds: skew))
        } catch {
            guard error.code == .generationRollback else { throw error }
        }
    }

    /// Seals for the key that the phone registered last, and announces what it may not know.
    func seal(_ payload: String, at now: Timestamp) throws -> SealedPayload {
        let clock = now.adding(milliseconds: skew)
        guard let device = try store.device(id: Self.device) else { throw Misuse("the phone was never registered") }
        var options = Sealer.Options()
        options.announcing = try store.announcements(
            for: sender.publicKey, to: device.pinnedSender, at: clock)
        return try sealer.seal(payload.utf8, to: device.publicKey, at: clock, options: options)
    }

    /// The announcements for a device of which nobody knows what it believes.
    func everyAnnouncement(at now: Timestamp) throws -> [RotationStatement] {
        try store.announcements(for: sender.publicKey, to: nil, at: now.adding(milliseconds: skew))
    }

    mutating func rotate(at now: Timestamp) throws -> RotationStatement {
        let statement = try store.rotateSenderKey(
            named: Self.name, clock: .confirmed, at: now.adding(milliseconds: skew)
        ).statement
        sender = try store.senderKey(named: Self.name).key
        sealer = Sealer(sender: sender, topic: topic)
        return statement
    }
}
