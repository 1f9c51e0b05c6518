import Pushcrypt
import PushcryptKeyStore

/// Pins another provider key, which a release of the app has brought, and no other.
func replacePin(
    of phone: any DeviceStore, by key: ProviderPublicKey, _ certificate: Certificate?, for topic: Topic
) throws {
    try phone.change { (state) throws(KeyStoreError) in
        try state.setPins([ProviderPin(key, certificate: certificate)], topic: topic)
    }
}
