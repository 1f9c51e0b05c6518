internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The registration record that a phone sends to its provider, with what it knows of its provider key.
func registrationText(_ record: DeviceKeyRecord, _ store: SQLiteKeyStore) throws(CommandFailure) -> String {
    let (pinned, certificate) = try withStoreErrors {
        () throws(KeyStoreError) -> (ProviderPublicKey?, Certificate?) in
        guard let topic = record.topic else {
            return (try store.pinnedProviders().first { $0.account == record.name }?.key, nil)
        }
        let pin = try store.trust(for: topic, account: record.name).pins.first
        return (pin?.key, pin?.learned.certificate)
    }
    let registration = DeviceRegistration(
        publicKey: record.publicKey, topic: record.topic, generation: record.generation, createdAt: record.createdAt,
        pinnedProvider: pinned, certificate: certificate)
    return String(decoding: registration.json, as: UTF8.self)
}

extension ProviderKeyRecord {
    /// The record that phones pin.
    var json: String {
        let record = ProviderRecord(
            publicKey: publicKey, topic: topic, generation: generation, createdAt: createdAt, certificate: certificate)
        return String(decoding: record.json, as: UTF8.self)
    }
}
