internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension DeviceState {
    /// The registration record that a phone sends to its provider, with what it knows of its provider key.
    func registrationText(of key: Key, in account: Account) -> String {
        let pin = account.topic.flatMap { trust(for: $0, account: account.name).pins.first }
        let registration = DeviceRegistration(
            publicKey: key.publicKey, topic: account.topic, generation: key.generation, createdAt: key.createdAt,
            pinnedProvider: account.pins.first?.key, certificate: pin?.learned.certificate)
        return String(decoding: registration.json, as: UTF8.self)
    }
}

extension DeviceState.Account {
    /// The pending key, else the active one.
    func keyToRegister() throws -> DeviceState.Key {
        guard let currentKey else {
            throw Failure.usage("the store has no device key to show", hint: "pushcrypt key new device makes one")
        }
        return currentKey
    }
}

extension ProviderKeyRecord {
    /// The record that phones pin.
    var json: String {
        let record = ProviderRecord(
            publicKey: publicKey, topic: topic, generation: 1, createdAt: createdAt, certificate: certificate)
        return String(decoding: record.json, as: UTF8.self)
    }
}
