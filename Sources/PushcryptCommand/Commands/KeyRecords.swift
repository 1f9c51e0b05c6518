internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The registration record that a phone sends to its provider.
func registrationText(_ record: DeviceKeyRecord, _ store: SQLiteKeyStore) throws(CommandFailure) -> String {
    let senders = try withStoreErrors { () throws(KeyStoreError) in try store.pinnedProviders() }
    let pinned = senders.last { sender in
        sender.state == .pinned && (sender.topic == nil || record.topic == nil || sender.topic == record.topic)
    }
    let recoveryKeys = try withStoreErrors { () throws(KeyStoreError) in
        guard let pinned else { return [RecoveryPublicKey]() }
        return try store.recoveryKeys(ofProvider: pinned.name)
    }
    let registration = DeviceRegistration(
        publicKey: record.publicKey, topic: record.topic, generation: record.generation, createdAt: record.createdAt,
        pinnedProvider: pinned?.key, recoveryKeys: recoveryKeys)
    return String(decoding: registration.json, as: UTF8.self)
}

/// The announcement of a sender's key for the app's phones.
func announcementText(_ record: ProviderKeyRecord, _ store: SQLiteKeyStore) throws(CommandFailure) -> String {
    let recoveryKeys = try withStoreErrors { () throws(KeyStoreError) in
        try store.announcedRecoveryKeys(of: record.name)
    }
    let announcement = ProviderAnnouncement(
        publicKey: record.publicKey, topic: record.topic, generation: record.generation, createdAt: record.createdAt,
        recoveryKeys: recoveryKeys)
    return String(decoding: announcement.json, as: UTF8.self)
}
