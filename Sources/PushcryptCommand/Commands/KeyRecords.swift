internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The registration record that a phone sends to its provider, with what it knows of its provider key.
func registrationText(_ record: DeviceKeyRecord, _ store: SQLiteKeyStore) throws(CommandFailure) -> String {
    let pin = try withStoreErrors { () throws(KeyStoreError) in
        try record.topic.flatMap { (topic) throws(KeyStoreError) in
            try store.trust(for: topic, account: record.name).pins.first
        }
    }
    let pinned = try withStoreErrors { () throws(KeyStoreError) in
        try pin?.key
            ?? store.pinnedProviders().first { $0.account == record.name && ($0.topic ?? record.topic) == record.topic }?
            .key
    }
    let registration = DeviceRegistration(
        publicKey: record.publicKey, topic: record.topic, generation: record.generation, createdAt: record.createdAt,
        pinnedProvider: pinned, certificate: pin?.learned.certificate)
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
