import Pushcrypt
import PushcryptKeyStore

extension Enrolled {
    /// Replaces the phone's key: three steps, and the process may end between any two.
    func changeDeviceKey(at now: Timestamp) throws {
        // The phone. A rotation that is not finished gives the same pending key again.
        let pending = try phone.change { (state) throws(KeyStoreError) in try state.rotate(at: now) }

        // The provider, when the record arrives. Its generation is higher than the one that is held.
        try provider.addDevice(try registration(), id: "phone1", at: now)

        // The phone, when the reply does. The reply names the key, so that an old one confirms nothing.
        try phone.change { (state) throws(KeyStoreError) in
            _ = try state.confirm(acknowledged: pending.keyID, at: now)
        }
    }
}
