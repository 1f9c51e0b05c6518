public import Pushcrypt

/// The record of one of the provider's keys; holds no secret.
public struct ProviderKeyRecord: Hashable, Sendable {
    /// The name of the key: one name per app.
    public let name: String
    /// The app that the key is for; nil if it is not bound to one, which only a key of epoch 0 is.
    public let topic: Topic?
    /// The key that devices pin.
    public let publicKey: ProviderPublicKey
    /// When the key was generated or imported.
    public let createdAt: Timestamp
    /// Whether this name is the default.
    public let isDefault: Bool
    /// The certificate of the key that signs messages; nil at epoch 0, where the provider key signs them itself.
    public let certificate: Certificate?
    /// Since when the key that signs messages is in use.
    package let signsSince: Timestamp
    /// Whether the provider key's secret is elsewhere.
    package let isOffline: Bool
    /// A certificate that a device has reported and this store never issued, as long as phones may believe it.
    package let provenCertificate: Certificate?

    /// The first 4 bytes of a hash of the public key.
    public var keyID: KeyID { publicKey.id }

    /// The number of the certificate; 0 without one.
    package var epoch: UInt32 { certificate?.epoch ?? 0 }

    /// A warning with every seal: this store did not issue the latest certificate of its provider key. Its code is `stale-store`;
    /// nil if no device has reported one, and no store that this one was restored over had one.
    package var warning: KeyStoreError? {
        guard let provenCertificate else { return nil }
        return KeyStoreError(
            .staleStore,
            "provider key '\(name)' has a certificate of epoch \(provenCertificate.epoch) that this store did not issue: the store was restored from before that rotation, or another store has the key, or it was stolen; rotate the signing key"
        )
    }
}

/// The record of a store's push key; holds no secret.
package struct PushKeyRecord: Hashable, Sendable {
    /// The name of the push key, and of the next one.
    package static let name = "push"

    /// The public half, which replies name.
    package let publicKey: SigningPublicKey
    /// When the key was generated or imported.
    package let createdAt: Timestamp
}

/// The push key of a store, and its predecessor or successor.
package struct PushKeys<Key> {
    /// The key that signs requests.
    package let current: Key
    /// The key that will sign, which replies name beside the current one.
    package var next: Key?
    /// The key that signed before, for phones whose grants are still for it.
    package var previous: Key?

    func map<R>(_ body: (Key) throws(KeyStoreError) -> R) throws(KeyStoreError) -> PushKeys<R> {
        var result = PushKeys<R>(current: try body(current))
        if let next { result.next = try body(next) }
        if let previous { result.previous = try body(previous) }
        return result
    }
}
