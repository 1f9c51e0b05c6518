import Pushcrypt
import PushcryptKeyStore

extension Enrolled {
    /// Replaces the signing key. Nothing has to be done on any phone.
    func changeSigningKey(at now: Timestamp) throws -> Certificate? {
        try provider.rotateSigningKey(at: now).certificate
    }

    /// Opens a push on the phone, and lets it take effect.
    func open(_ push: SealedPayload, at now: Timestamp) throws -> OpenedNotification {
        let state = try phone.state()
        let account = try state.accountWithKeys()
        let opener = Opener(
            topic: topic, deviceKeys: try account.keys.map { try $0.deviceKey() },
            trust: state.trust(for: topic, account: account.name))
        let opened = try opener.open(push.json, at: now)
        try phone.change { $0.settle(opened, topic: topic, at: now) }
        return opened
    }
}
