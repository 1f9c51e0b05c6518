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
    /// What says which key signs messages; nil at epoch 0, where the provider key signs them itself.
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

    /// A warning with every seal: another store has issued a certificate of this provider key, so that this one is an
    /// old copy, or the key was stolen. Its code is `stale-store`; nil if no device has reported one.
    package var warning: KeyStoreError? {
        guard let provenCertificate else { return nil }
        return KeyStoreError(
            .staleStore,
            "a phone has a certificate of provider key '\(name)' for epoch \(provenCertificate.epoch) that this store never issued: this store is an old copy, or the key was stolen; rotate the signing key"
        )
    }
}

/// The record of a store's push key; holds no secret.
package struct PushKeyRecord: Hashable, Sendable {
    /// What the key is called, of which a store has one.
    package static let name = "push"

    /// The public half, which replies name.
    package let publicKey: SigningPublicKey
    /// When the key was generated or imported.
    package let createdAt: Timestamp
}
