import Pushcrypt
import PushcryptKeyStore

/// A phone: its real key store, in memory, and the steps of a receiver on it.
struct Phone {
    let store: SQLiteKeyStore
    private let topic: Topic

    init(topic: Topic, trusting sender: SenderPublicKey, at now: Timestamp) throws {
        store = try SQLiteKeyStore.inMemory()
        self.topic = topic
        _ = try store.generateDeviceKey(topic: topic, at: now)
        try store.trustSender(sender, named: "provider", topic: topic, at: now)
    }

    /// Opens a push and lets it take effect, as a receiver without a replay guard does.
    func open(_ envelope: Envelope, at now: Timestamp) throws -> Result<OpenedNotification, OpenError> {
        guard let candidate = try store.deviceKey(id: envelope.recipientKeyID, at: now) else {
            return .failure(.unknownRecipientKey(envelope.recipientKeyID))
        }
        let opener = Opener(topic: topic, deviceKeys: [candidate.key], trust: try store.trust(for: topic))
        let opened: OpenedNotification
        do throws(OpenError) { opened = try opener.open(envelope, at: now) } catch { return .failure(error) }
        try store.settle(openedWith: opened.openedWith, statements: opened.statements, topic: topic, at: now)
        return .success(opened)
    }

    /// The newest key, as the phone registers it, and the sender that it believes.
    func registration() throws -> DeviceRegistration {
        guard let newest = try store.deviceKeys().last else { throw Misuse("the phone has no key") }
        return DeviceRegistration(
            publicKey: newest.publicKey, topic: newest.topic, generation: newest.generation,
            createdAt: newest.createdAt, pinnedSender: try store.trust(for: topic).pinned.first)
    }

    func hasPendingKey() throws -> Bool { try store.deviceKeys().contains { $0.state == .pending } }
}
