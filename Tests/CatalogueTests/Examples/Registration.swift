import Pushcrypt
import PushcryptKeyStore

/// A provider and a phone that know each other.
struct Enrolled {
    let topic: Topic
    let provider: SQLiteKeyStore
    let phone: SQLiteKeyStore

    init(in folder: String, at now: Timestamp) throws {
        topic = try Topic("com.example.app")
        provider = try SQLiteKeyStore.create(in: "\(folder)/provider", at: now)
        phone = try SQLiteKeyStore.create(in: "\(folder)/phone", at: now)
        let key = try provider.generateProviderKey(topic: topic, at: now)
        _ = try phone.generateDeviceKey(topic: topic, at: now)

        // Both over the app's own channel, which authenticates both ends.
        try provider.addDevice(try registration(), id: "phone1", at: now)
        try phone.pinProvider(key.publicKey, certificate: key.certificate, topic: topic, at: now)
    }

    /// The registration of the phone's newest key.
    func registration() throws -> DeviceRegistration {
        let keys = try phone.deviceKeys(named: nil)
        let key = keys[keys.count - 1]
        let trust = try phone.trust(for: topic, account: key.name)
        return DeviceRegistration(
            publicKey: key.publicKey, topic: key.topic, generation: key.generation, createdAt: key.createdAt,
            pinnedProvider: trust.pinned.first)
    }

    /// Seals for a device, as the provider's store knows it.
    func seal(_ payload: String, for id: String, at now: Timestamp) throws -> SealedPayload? {
        guard let device = try provider.device(id: id) else { return nil }
        let sealer = Sealer(signer: try provider.signer(), topic: topic)
        return try sealer.seal(payload.utf8, to: device.publicKey, at: now)
    }
}
