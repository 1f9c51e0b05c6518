internal import Pushcrypt
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
}
