public import Pushcrypt

/// The record of one of the provider's keys; holds no secret.
public struct ProviderKeyRecord: Hashable, Sendable {
    /// The name of the key: one name per app.
    public let name: String
    /// The app that the key is for; nil if it is not bound to one, which only a key of epoch 0 is.
    public let topic: Topic?
    /// The key that devices pin.
    public let publicKey: ProviderPublicKey
    /// The first 4 bytes of a hash of the public key.
    public let keyID: KeyID
    /// The number of the key among the keys of this name, from 1.
    public let generation: UInt64
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

/// A provider key as stored, with the key that signs messages. Each name has one row, which a rotation overwrites.
struct ProviderKeyRow: StoredRow {
    static let table = StoreTable(
        "provider_keys", key: "id", "name", "topic", "public_key", "key_id", "generation", "created", "sealed",
        "certificate", "certified", "signing_sealed", "proven")
    static let put = table.put

    /// The certificate in use, its signing key sealed, and when it came into use.
    private struct Signing {
        let certificate: Certificate
        let certifiedAt: Timestamp
        let sealed: Bytes
    }

    let id: Int64
    let name: String
    private(set) var topic: Topic?
    let publicKey: ProviderPublicKey
    let generation: UInt64
    let createdAt: Timestamp
    /// The provider key's secret; nil if it is offline.
    private var sealed: Bytes?
    private var signing: Signing?
    private(set) var proven: Certificate?

    init(id: Int64, name: String, topic: Topic?, publicKey: ProviderPublicKey, createdAt: Timestamp) {
        self.id = id
        self.name = name
        self.topic = topic
        self.publicKey = publicKey
        generation = 1
        self.createdAt = createdAt
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        name = try columns.text()
        topic = try columns.topic()
        publicKey = try columns.providerPublicKey()
        guard try columns.integer() == Int64(publicKey.id.value) else { throw columns.damaged }
        generation = try columns.unsigned()
        createdAt = try columns.time()
        sealed = try columns.optionalBlob()
        switch (try columns.optionalCertificate(), try columns.optionalTime(), try columns.optionalBlob()) {
        case (nil, nil, nil): signing = nil
        case (let certificate?, let time?, let sealed?):
            signing = Signing(certificate: certificate, certifiedAt: time, sealed: sealed)
        default: throw columns.damaged
        }
        proven = try columns.optionalCertificate()
        guard sealed != nil || signing != nil, signing == nil || topic != nil else { throw columns.damaged }
    }

    var values: [SQLiteValue] {
        [
            .integer(id), .text(name), .text(topic?.bundleID), .blob(publicKey.bytes),
            .integer(Int64(publicKey.id.value)), .unsigned(generation), .time(createdAt), .blob(sealed),
            .blob(signing?.certificate.bytes), .time(signing?.certifiedAt), .blob(signing?.sealed),
            .blob(proven?.bytes),
        ]
    }

    func record(defaultName: String?) -> ProviderKeyRecord {
        ProviderKeyRecord(
            name: name, topic: topic, publicKey: publicKey, keyID: publicKey.id, generation: generation,
            createdAt: createdAt, isDefault: defaultName.map { StoreName.areEqual($0, name) } ?? false,
            certificate: certificate, signsSince: signing?.certifiedAt ?? createdAt, isOffline: isOffline,
            provenCertificate: proven)
    }

    // MARK: The provider key

    private var place: StoreKeys.Place {
        StoreKeys.Place(table: Self.table.name, row: id, generation: generation, state: 0)
    }

    var isOffline: Bool { sealed == nil }

    mutating func keep(_ key: ProviderKey, _ keys: StoreKeys) {
        sealed = key.withSeed { keys.seal($0, at: place) }
    }

    mutating func takeOffline() { sealed = nil }

    /// Returns the secret; throws `providerOffline` if it is elsewhere.
    func key(_ keys: StoreKeys) throws(KeyStoreError) -> ProviderKey {
        guard let sealed else {
            throw KeyStoreError(
                .providerOffline,
                "the secret of provider key '\(name)' is not in this store: make a request here, certify it where the key is, and install the certificate here"
            )
        }
        guard
            let key = try? keys.open(sealed, at: place).withSpan({ (seed) throws(KeyError) in
                try ProviderKey(seed: seed)
            }), key.publicKey == publicKey
        else { throw .damagedRow(.integer(id), in: Self.table.name) }
        return key
    }

    // MARK: The signing key

    private func place(of certificate: Certificate) -> StoreKeys.Place {
        StoreKeys.Place(table: Self.table.name, row: id, generation: UInt64(certificate.epoch), state: 1)
    }

    var certificate: Certificate? { signing?.certificate }

    /// Replaces the signing key. Forgets a proven certificate that phones believe no longer, or that is this one. ([T-9])
    mutating func sign(
        with key: SigningKey, _ certificate: Certificate, topic: Topic, since time: Timestamp, _ keys: StoreKeys
    ) {
        self.topic = topic
        signing = Signing(
            certificate: certificate, certifiedAt: time,
            sealed: key.withSeed { keys.seal($0, at: place(of: certificate)) })
        if let proven, certificate.floor > proven.epoch || certificate.claim == proven.claim { self.proven = nil }
    }

    mutating func notice(_ certificate: Certificate) { proven = max(proven ?? certificate, certificate) }

    /// Returns what signs messages; nil at epoch 0.
    func credential(_ keys: StoreKeys) throws(KeyStoreError) -> SigningCredential? {
        guard let signing else { return nil }
        guard
            let key = try? keys.open(signing.sealed, at: place(of: signing.certificate)).withSpan({
                (seed) throws(KeyError) in try SigningKey(seed: seed)
            }), let credential = try? SigningCredential(key, signing.certificate, by: publicKey)
        else { throw .damagedRow(.integer(id), in: Self.table.name) }
        return credential
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) {
        if !isOffline { _ = try key(keys) }
        _ = try credential(keys)
    }
}
