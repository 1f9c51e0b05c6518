import Pushcrypt
import PushcryptKeyStore

extension Enrolled {
    /// Replaces the signing key. Nothing has to be done on any phone.
    func changeSigningKey(at now: Timestamp) throws -> Certificate? {
        try provider.rotateSigningKey(at: now).certificate
    }

    /// Opens a push on the phone, and lets it take effect.
    func open(_ push: SealedPayload, at now: Timestamp) throws -> OpenedNotification {
        let keys = try phone.deviceKeys().compactMap { try phone.deviceKey(id: $0.keyID, at: now)?.key }
        let opener = Opener(
            topic: topic, deviceKeys: keys, trust: try phone.trust(for: topic, account: SQLiteKeyStore.defaultName))
        let opened = try opener.open(push.json, at: now)
        try phone.settle(
            openedWith: opened.openedWith, provider: opened.provider, certificate: opened.certificate, topic: topic,
            at: now)
        return opened
    }
}
