import Pushcrypt
import PushcryptKeyStore

/// Pins another provider key, which a release of the app has brought, and no other.
func replacePin(
    of phone: SQLiteKeyStore, by key: ProviderPublicKey, _ certificate: Certificate?, for topic: Topic,
    at now: Timestamp
) throws {
    let pin = ProviderPin(key, certificate: certificate)
    try phone.setPins([pin], for: SQLiteKeyStore.defaultName, topic: topic, at: now)
}
