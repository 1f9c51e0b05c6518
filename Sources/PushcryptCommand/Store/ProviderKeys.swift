internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The provider keys of a store, and which of them is for an app.
struct ProviderKeys: Sendable {
    /// By name.
    let records: [ProviderKeyRecord]

    static let none = ProviderKeys(records: [])

    private init(records: [ProviderKeyRecord]) { self.records = records }

    init(of store: SQLiteKeyStore) throws(KeyStoreError) { records = try store.providerKeys() }

    /// Throws `unknownName` if there is no key: the store is empty, a phone's, or the wrong one.
    func refuseNone() throws(KeyStoreError) {
        if records.isEmpty { throw KeyStoreError(.unknownName, "the store has no provider key") }
    }

    /// Returns the key whose messages a phone of the app opens: the one that it has pinned; otherwise the default, or the only
    /// one, among those that are bound to the app; otherwise among those that are bound to none.
    ///
    /// Without an app: the pinned key, the default one, or the only one.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    func key(for topic: Topic?, pinned: ProviderPublicKey? = nil) throws(KeyStoreError) -> ProviderKeyRecord {
        func isAble(_ record: ProviderKeyRecord) -> Bool {
            topic == nil || record.topic == nil || record.topic == topic
        }
        // Nearly every store has one, and each message asks.
        if records.count == 1, isAble(records[0]) { return records[0] }
        let able = records.filter(isAble)
        if let pinned, let key = able.first(where: { $0.publicKey == pinned }) { return key }
        let bound = topic == nil ? able : able.filter { $0.topic == topic }
        let candidates = bound.isEmpty ? able : bound
        if let key = candidates.first(where: \.isDefault) ?? (candidates.count == 1 ? candidates.first : nil) {
            return key
        }
        try refuseNone()
        let app = topic.map { " for \($0)" } ?? ""
        throw candidates.isEmpty
            ? KeyStoreError(.unknownName, "the store has no provider key\(app)")
            : KeyStoreError(
                .ambiguousName,
                "the store has several provider keys\(app): make one the default, or name one of "
                    + candidates.map(\.name).joined(separator: ", "))
    }

    /// Returns the key for an app that was named; without one, if that leaves several, the key for the store's topic.
    func key(
        for topic: Topic?, orFor fallback: Topic?, pinned: ProviderPublicKey? = nil
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        do throws(KeyStoreError) { return try key(for: topic, pinned: pinned) } catch {
            guard topic == nil, let fallback else { throw error }
            return try key(for: fallback, pinned: pinned)
        }
    }
}

/// The content of `--signing-key-file`.
enum SigningKeyFile {
    /// Signs messages of epoch 0, for any app.
    case provider(ProviderKey)
    /// A signing key, which its certificate binds to an app.
    case signing(SigningCredential)

    /// The key for hedging files, for which the app does not matter.
    var hedge: Sealer {
        switch self {
        case .provider(let key): Sealer(provider: key, topic: .example)
        case .signing(let credential):
            Sealer(
                signer: EnvelopeSigner(
                    verified: credential.certificate, credential.key, by: credential.provider, for: .example),
                topic: .example)
        }
    }

    /// The key for signing messages, and the app that it is bound to.
    func signer(for topic: Topic?) throws -> (signer: EnvelopeSigner, topic: Topic?) {
        switch self {
        case .provider(let key): return (EnvelopeSigner(key), nil)
        case .signing(let credential):
            guard let topic else {
                throw Failure.usage(
                    "--topic is missing", hint: "a signing key is for one app: add --topic with its bundle id")
            }
            return try naming("--signing-key-file") { (try EnvelopeSigner(credential, for: topic), topic) }
        }
    }
}

extension Console {
    func readSigningKey(from source: String) throws -> SigningKeyFile {
        let text = try readSecret(from: source)
        return try naming(inputName(source)) {
            try text.withSpan { text in
                do {
                    return .signing(try SigningCredential(text: text))
                } catch let error as KeyError where error.code == .wrongKind {
                    return .provider(try ProviderKey(text: text))
                }
            }
        }
    }
}
