import Pushcrypt
import PushcryptKeyStore

/// A provider and a phone that know each other.
struct Enrolled {
    let topic: Topic
    let provider: SQLiteKeyStore
    let phone: SQLiteKeyStore

    init(in folder: String, at now: Timestamp) throws {
        topic = try Topic("com.example.app")
        provider = try SQLiteKeyStore.create(in: "\(folder)/provider")
        phone = try SQLiteKeyStore.create(in: "\(folder)/phone")
        let key = try provider.generateProviderKey(topic: topic, at: now)
        try phone.change { [topic] (state) throws(KeyStoreError) in _ = try state.add(topic: topic, at: now) }

        // Both over the app's own channel, which authenticates both ends.
        try provider.addDevice(try registration(), id: "phone1", at: now)
        try phone.change { (state) throws(KeyStoreError) in
            _ = try state.pin(ProviderPin(key.publicKey, certificate: key.certificate))
        }
    }

    /// The registration of the phone's newest key.
    func registration() throws -> DeviceRegistration {
        let account = try phone.state().accountWithKeys()
        let key = account.keys[account.keys.count - 1]
        return DeviceRegistration(
            publicKey: key.publicKey, topic: account.topic, generation: key.generation, createdAt: key.createdAt,
            pinnedProvider: account.pins.first?.key)
    }

    /// Seals for a device, as the provider's store knows it.
    func seal(_ payload: String, for id: String, at now: Timestamp) throws -> SealedPayload? {
        guard let device = try provider.device(id: id) else { return nil }
        let sealer = Sealer(signer: try provider.signer(), topic: topic)
        return try sealer.seal(Sealer.Message(payload.utf8), to: device.publicKey, at: now)
    }
}
