import Pushcrypt
import PushcryptKeyStore

extension Enrolled {
    /// Replaces the provider's key. Nothing has to be done on any phone.
    func changeProviderKey(at now: Timestamp) throws -> RotationStatement {
        try provider.rotateProviderKey(at: now).statement
    }

    /// Opens a push on the phone, and lets it take effect.
    func open(_ push: SealedPayload, at now: Timestamp) throws -> OpenedNotification {
        let keys = try phone.deviceKeys().compactMap { try phone.deviceKey(id: $0.keyID, at: now)?.key }
        let opener = Opener(topic: topic, deviceKeys: keys, trust: try phone.trust(for: topic))
        let opened = try opener.open(push.json, at: now)
        try phone.settle(openedWith: opened.openedWith, statements: opened.statements, topic: topic, at: now)
        return opened
    }
}
