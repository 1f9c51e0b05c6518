internal import Pushcrypt

/// What an extension has learned from messages and the app has not merged yet, inside one transaction.
///
/// Of each provider key and app there are at most two certificates: the highest one, and the one with the highest
/// floor. Certificates rather than a number, because their signatures protect them: neither damage nor somebody who can
/// write the file raises a floor.
struct LearnedTables {
    static let schema: StaticString = """
        CREATE TABLE learned (
            provider BLOB NOT NULL, topic TEXT NOT NULL, certificate BLOB NOT NULL,
            PRIMARY KEY (provider, topic, certificate)) WITHOUT ROWID;
        CREATE TABLE opened (key BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
        """

    /// The most rows that are read or kept; far more than accumulate even if the app is never opened.
    static let capacity = 64

    /// A row, which anything may have written.
    struct Entry {
        fileprivate let values: [SQLiteValue]

        /// The row if its provider's key has signed it.
        var checked: (provider: ProviderPublicKey, topic: Topic, certificate: Certificate)? {
            guard case .blob(let key) = values[0], case .text(let text) = values[1], case .blob(let bytes) = values[2],
                let provider = try? ProviderPublicKey(bytes: key.span),
                let topic = String(exactly: text).flatMap({ try? Topic($0) }),
                let certificate = try? Certificate(bytes: bytes.span),
                certificate.isSigned(by: provider, for: topic)
            else { return nil }
            return (provider, topic, certificate)
        }
    }

    let connection: SQLiteConnection

    // MARK: Certificates

    /// Returns the certificates of an app, by the bytes of their provider's key; their signatures are not checked.
    func certificates(for topic: Topic) throws(KeyStoreError) -> [Bytes: [Certificate]] {
        let rows = try connection.rows(
            "SELECT provider, certificate FROM learned WHERE topic = ? LIMIT \(Self.capacity)",
            [.text(topic.bundleID)])
        var certificates: [Bytes: [Certificate]] = [:]
        for row in rows {
            guard case .blob(let provider) = row[0], case .blob(let bytes) = row[1],
                let certificate = try? Certificate(bytes: bytes.span)
            else { continue }
            certificates[provider, default: []].append(certificate)
        }
        return certificates
    }

    func entries() throws(KeyStoreError) -> [Entry] {
        try connection.rows("SELECT provider, topic, certificate FROM learned LIMIT \(Self.capacity)")
            .map(Entry.init(values:))
    }

    /// Returns whether there is nothing to insert.
    func has(
        _ pending: DevicePublicKey?, _ certificate: Certificate?, _ provider: ProviderPublicKey, _ topic: Topic
    ) throws(KeyStoreError) -> Bool {
        if let pending, try !openedWith().contains(pending.bytes) { return false }
        guard let certificate else { return true }
        return try certificates(for: topic)[provider.bytes]?.contains(certificate) ?? false
    }

    /// Inserts a verified certificate, and deletes those that say nothing more than the others.
    func insert(_ certificate: Certificate, of provider: ProviderPublicKey, _ topic: Topic) throws(KeyStoreError) {
        // What somebody else wrote must not outweigh it.
        let known = try certificates(for: topic)[provider.bytes] ?? []
        let all = known.filter { $0.isSigned(by: provider, for: topic) } + [certificate]
        let kept = [all.max(), all.max { ($0.floor, $0) < ($1.floor, $1) }]
        try connection.rows(
            "DELETE FROM learned WHERE provider = ? AND topic = ?", [.blob(provider.bytes), .text(topic.bundleID)])
        for certificate in kept {
            guard let certificate else { continue }
            try connection.rows(
                "INSERT INTO learned (provider, topic, certificate) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [.blob(provider.bytes), .text(topic.bundleID), .blob(certificate.bytes)])
        }
    }

    func delete(_ entry: Entry) throws(KeyStoreError) {
        try connection.rows("DELETE FROM learned WHERE provider = ? AND topic = ? AND certificate = ?", entry.values)
    }

    // MARK: Keys that opened a message

    /// Returns the bytes of public keys, unchecked: they are only compared.
    func openedWith() throws(KeyStoreError) -> [Bytes] {
        try connection.rows("SELECT key FROM opened ORDER BY key LIMIT \(Self.capacity)").compactMap { row in
            if case .blob(let bytes) = row[0] { bytes } else { nil }
        }
    }

    func insert(openedWith key: Bytes) throws(KeyStoreError) {
        // A device has as many pending keys as accounts: a full table holds leftovers.
        if try connection.integer("SELECT count(*) FROM opened") >= Self.capacity {
            try connection.rows("DELETE FROM opened")
        }
        try connection.rows("INSERT INTO opened (key) VALUES (?) ON CONFLICT (key) DO NOTHING", [.blob(key)])
    }

    func delete(openedWith key: Bytes) throws(KeyStoreError) {
        try connection.rows("DELETE FROM opened WHERE key = ?", [.blob(key)])
    }
}
