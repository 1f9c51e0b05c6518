public import Pushcrypt

/// All that a provider keeps beside its devices: its keys with their certificates and answer secrets, the push key, open
/// pairings, and settings. A value, which a store seals as a whole.
///
/// Rules that throw have changed nothing. A name of nil means the default one.
struct ProviderState: SealedState {
    static let row = "provider"
    /// How long a replaced answer secret, or the replaced key of a device, opens answers: a day longer than a message can be
    /// answered.
    static let answerGrace = Interval.days(32)

    /// A provider key, under the name of an app, with the key that signs messages.
    struct Key: Equatable, Sendable {
        let name: String
        /// The app; nil until a certificate binds the key to one.
        var topic: Topic?
        let publicKey: ProviderPublicKey
        let createdAt: Timestamp
        /// The provider key's secret; nil if it is offline.
        var secret: Secret?
        /// Nil at epoch 0, where the provider key signs messages itself.
        var signing: Signing?
        /// Epochs that later ones have replaced, oldest first: they set the floor of the next, and show that a certificate was
        /// issued here.
        var past: [CertificatePlan.PastEpoch] = []
        var request: Request?
        /// The newest certificate that a device has reported and this store never issued. [T-9]
        var proven: Certificate?
        /// Oldest first.
        var answers: [Answers] = []
    }

    /// A key that signs messages, and since when.
    struct Signing: Equatable, Sendable {
        let certificate: Certificate
        let since: Timestamp
        let secret: Secret
    }

    /// A signing key that waits for its certificate.
    struct Request: Equatable, Sendable {
        let topic: Topic
        let publicKey: SigningPublicKey
        let kind: CertificatePlan.Kind
        let secret: Secret
    }

    /// An answer secret.
    struct Answers: Equatable, Sendable {
        let createdAt: Timestamp
        /// When another one took its place; nil for the one in use.
        var replacedAt: Timestamp?
        let secret: Secret
    }

    /// The key with which a server signs its requests to relays, whatever the app.
    struct Push: Equatable, Sendable {
        let record: PushKeyRecord
        let secret: Secret
    }

    /// In the order of the bytes of their names.
    var keys: [Key] = []
    var defaultName: String?
    var push: Push?
    /// The key that takes its place, and keeps it for phones that have not heard of it.
    var nextPush: Push?
    var pairings: [Pairing] = []
    /// Texts that programs keep here.
    var settings: [String: String] = [:]

    // MARK: Names

    /// Returns the index of the key with this name, or of the default one.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    func index(_ name: String?) throws(KeyStoreError) -> Int {
        if let name = name ?? defaultName {
            if let index = keys.firstIndex(where: { StoreName.areEqual($0.name, name) }) { return index }
            throw KeyStoreError(.unknownName, "no provider key is named '\(name)'")
        }
        guard !keys.isEmpty else { throw KeyStoreError(.unknownName, "the store has no provider key") }
        throw KeyStoreError(
            .ambiguousName,
            "the store has several provider keys: name one of \(keys.map(\.name).joined(separator: ", "))")
    }

    func key(_ name: String?) throws(KeyStoreError) -> Key { keys[try index(name)] }

    /// Returns a key by its public half; nil if it is none of the store's.
    func key(of publicKey: ProviderPublicKey) -> Key? { keys.first { $0.publicKey == publicKey } }

    func hasID(_ id: KeyID) -> Bool { keys.contains { $0.publicKey.id == id } }

    /// Returns the key for a phone of an app: the one that it has pinned; otherwise the default or the only one of those that
    /// are bound to the app, or to none.
    func key(for topic: Topic?, pinned: ProviderPublicKey?) -> Key? {
        let able = keys.filter { topic == nil || $0.topic == nil || $0.topic == topic }
        if let key = able.first(where: { $0.publicKey == pinned }) { return key }
        let bound = able.filter { $0.topic == topic }
        let candidates = bound.isEmpty ? able : bound
        return candidates.first { isDefault($0.name) } ?? (candidates.count == 1 ? candidates.first : nil)
    }

    func isDefault(_ name: String) -> Bool { defaultName.map { StoreName.areEqual($0, name) } ?? false }

    func record(_ key: Key) -> ProviderKeyRecord {
        ProviderKeyRecord(
            name: key.name, topic: key.topic, publicKey: key.publicKey, createdAt: key.createdAt,
            isDefault: isDefault(key.name), certificate: key.certificate,
            signsSince: key.signing?.since ?? key.createdAt, isOffline: key.secret == nil,
            provenCertificate: key.proven)
    }

    /// Whether any message can be answered.
    var hasAnswerSecrets: Bool { keys.contains { !$0.answers.isEmpty } }

    func check() throws(KeyStoreError) -> Int {
        for key in keys {
            if key.secret != nil { _ = try key.providerKey() }
            _ = try (key.credential(), key.request?.signingKey())
            for answers in key.answers { _ = try answers.answerSecret() }
        }
        _ = try (push?.pushKey(), nextPush?.pushKey())
        for pairing in pairings { _ = try pairing.exchange() }
        return keys.count
    }
}

// MARK: Secrets

extension ProviderState.Key {
    var certificate: Certificate? { signing?.certificate }

    /// Returns the provider key; throws `providerOffline` if its secret is elsewhere.
    func providerKey() throws(KeyStoreError) -> ProviderKey {
        guard let secret else {
            throw KeyStoreError(
                .providerOffline,
                "the secret of provider key '\(name)' is not in this store: make a request here, certify it where the key is, and install the certificate here"
            )
        }
        let key = try? secret.withSpan { (seed) throws(KeyError) in try ProviderKey(seed: seed) }
        guard let key, key.publicKey == publicKey else { throw .damagedState(named: ProviderState.row) }
        return key
    }

    /// Returns what signs messages; nil at epoch 0.
    func credential() throws(KeyStoreError) -> SigningCredential? {
        guard let signing else { return nil }
        let key = try? signing.secret.withSpan { (seed) throws(KeyError) in try SigningKey(seed: seed) }
        guard let key, let credential = try? SigningCredential(key, signing.certificate, by: publicKey) else {
            throw .damagedState(named: ProviderState.row)
        }
        return credential
    }

    /// Returns what signs for an app.
    func signer(for topic: Topic) throws(KeyStoreError) -> EnvelopeSigner {
        guard let credential = try credential() else { return EnvelopeSigner(try providerKey()) }
        return EnvelopeSigner(verified: credential.certificate, credential.key, by: credential.provider, for: topic)
    }
}

extension ProviderState.Request {
    func signingKey() throws(KeyStoreError) -> SigningKey {
        let key = try? secret.withSpan { (seed) throws(KeyError) in try SigningKey(seed: seed) }
        guard let key, key.publicKey == publicKey else { throw .damagedState(named: ProviderState.row) }
        return key
    }
}

extension ProviderState.Answers {
    /// The secret in use opens answers always, a replaced one for 32 days.
    func opens(at now: Timestamp) -> Bool { replacedAt.map { now <= $0.adding(ProviderState.answerGrace) } ?? true }

    func answerSecret() throws(KeyStoreError) -> AnswerSecret {
        let secret = try? secret.withSpan { (bytes) throws(KeyError) in try AnswerSecret(bytes: bytes) }
        guard let secret else { throw .damagedState(named: ProviderState.row) }
        return secret
    }
}

extension ProviderState {
    /// How long replies name a push key before it is used: a phone that sends a record every day then has a grant for it.
    static let pushNotice = Interval.days(7)

    /// The push keys as they are now; nil without one.
    func pushKeys(at now: Timestamp) -> PushKeys<Push>? {
        guard let push else { return nil }
        guard let nextPush else { return PushKeys(current: push) }
        return now < nextPush.record.createdAt.adding(Self.pushNotice)
            ? PushKeys(current: push, next: nextPush) : PushKeys(current: nextPush, previous: push)
    }
}

extension ProviderState.Push {
    init(_ key: PushKey, at now: Timestamp) {
        self.init(
            record: PushKeyRecord(publicKey: key.publicKey, createdAt: now),
            secret: key.withSeed { Secret(copying: $0) })
    }

    func pushKey() throws(KeyStoreError) -> PushKey {
        let key = try? secret.withSpan { (seed) throws(KeyError) in try PushKey(seed: seed) }
        guard let key, key.publicKey == record.publicKey else { throw .damagedState(named: ProviderState.row) }
        return key
    }
}

// MARK: Records

/// The record of one of the provider's keys; holds no secret.
public struct ProviderKeyRecord: Hashable, Sendable {
    /// The name of the key: one name per app.
    public let name: String
    /// The app that the key is for; nil if it is not bound to one, which only a key of epoch 0 is.
    public let topic: Topic?
    /// The key that devices pin.
    public let publicKey: ProviderPublicKey
    /// When the key was generated or imported.
    package let createdAt: Timestamp
    /// Whether this name is the default.
    package let isDefault: Bool
    /// The certificate of the key that signs messages; nil at epoch 0, where the provider key signs them itself.
    public let certificate: Certificate?
    /// Since when the key that signs messages is in use.
    package let signsSince: Timestamp
    /// Whether the provider key's secret is elsewhere.
    package let isOffline: Bool
    /// A certificate that a device has reported and this store never issued, as long as phones may believe it.
    package let provenCertificate: Certificate?

    /// The first 4 bytes of a hash of the public key.
    package var keyID: KeyID { publicKey.id }

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
