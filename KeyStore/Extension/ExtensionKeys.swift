public import Pushcrypt

/// The keys as an extension uses them: a key store of which it only deletes retired keys, and its own database for the
/// changes made by messages.
public struct ExtensionKeys: DeviceKeyReading, OpeningEffects {
    private let keys: any DeviceKeyReading
    private let database: ExtensionDatabase

    /// Combines a key store and a database.
    public init(keys: any DeviceKeyReading, database: ExtensionDatabase) {
        self.keys = keys
        self.database = database
    }

    /// Returns the key that an envelope names, if it may open now.
    public func deviceKey(
        id: KeyID, at now: Timestamp
    ) throws(KeyStoreError) -> StoredDeviceKey? {
        try keys.deviceKey(id: id, at: now)
    }

    /// Returns the providers that an account trusts, with what was learned of each by the store and, since the app last
    /// ran, by the extension.
    ///
    /// If the extension's database cannot be read, only the store counts.
    public func trust(for topic: Topic, account: String) throws(KeyStoreError) -> ProviderTrust {
        // Read before the store, because the app first adds certificates to the store and then removes them here.
        let kept = (try? database.learned(for: topic)) ?? [:]
        let stored = try keys.trust(for: topic, account: account)
        return ProviderTrust(
            stored.pins.map { pin in
                var learned = pin.learned
                for certificate in kept[pin.key.bytes] ?? []
                where certificate != learned.certificate && certificate.isSigned(by: pin.key, for: topic) {
                    learned = learned.learning(certificate).0
                }
                return ProviderTrust.Pin(pin.key, learned)
            })
    }

    /// Deletes the retired keys that ended long ago.
    @discardableResult
    public func purgeRetiredDeviceKeys(
        at now: Timestamp, accepted sentAt: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try keys.purgeRetiredDeviceKeys(at: now, accepted: sentAt)
    }

    /// Keeps a message's certificate, and the pending key that opened it, if any.
    ///
    /// - Throws: `storeMissing` if the directory does not exist; `storeBusy`, `diskFull`,
    ///   `inputOutput`, `newerVersion`.
    public func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        at now: Timestamp
    ) throws(KeyStoreError) {
        let record = try keys.deviceKey(id: publicKey.id, at: now)?.record
        let isPending = record?.publicKey == publicKey && record?.state == .pending
        try database.keep(openedWith: isPending ? publicKey : nil, certificate, of: provider, topic, at: now)
    }
}
