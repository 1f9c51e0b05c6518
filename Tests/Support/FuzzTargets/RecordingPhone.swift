import Pushcrypt

@testable import PushcryptKeyStore

/// A device with one key, for a receiver that takes a push from the beginning to the end; notes what a message is let do.
final class RecordingPhone: DeviceKeyReading, OpeningEffects, @unchecked Sendable {
    private let key: DeviceKey
    private let record: DeviceKeyRecord
    private let trust: ProviderTrust
    /// The effect of the last message; nil while none had any.
    var settled: Effect?

    /// A message's provider, and the certificate that it brought.
    struct Effect: Equatable {
        let provider: ProviderPublicKey
        let certificate: Certificate?
    }

    init(_ key: DeviceKey, topic: Topic, trust: ProviderTrust) {
        self.key = key
        self.trust = trust
        record = DeviceKeyRecord(
            name: "phone", topic: topic, publicKey: key.publicKey, keyID: key.publicKey.id, generation: 1,
            state: .active, createdAt: Timestamp(milliseconds: 0), retiresAt: nil, isDefault: true)
    }

    func deviceKey(
        id: KeyID, at now: Timestamp
    ) throws(KeyStoreError) -> StoredDeviceKey? {
        id == record.keyID ? StoredDeviceKey(record: record, key: key) : nil
    }

    func trust(for topic: Topic, account: String) throws(KeyStoreError) -> ProviderTrust { trust }

    func purgeRetiredDeviceKeys(at now: Timestamp, accepted sentAt: Timestamp) -> [DeviceKeyRecord] { [] }

    func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        at now: Timestamp
    ) throws(KeyStoreError) {
        settled = Effect(provider: provider, certificate: certificate)
    }
}
