public import Pushcrypt

// MARK: A provider's keys, one name per app
extension SQLiteKeyStore {
    /// Generates the key of a new name. At epoch 0 it signs messages itself, until the first rotation.
    ///
    /// - Throws: `nameTaken`, `invalidName`.
    public func generateProviderKey(
        named name: String = defaultName, topic: Topic? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try importProviderKey(nil, named: name, topic: topic, at: now)
    }

    /// Imports a key generated elsewhere under a new name, at epoch 0.
    ///
    /// - Throws: `nameTaken`, `invalidName`; `keyIDTaken` if the store holds this key, or one with
    ///   its id.
    public func importProviderKey(
        _ key: ProviderKey, named name: String = defaultName, topic: Topic? = nil,
        at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try importProviderKey(.some(key), named: name, topic: topic, at: now)
    }

    private func importProviderKey(
        _ key: ProviderKey?, named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try StoreName.check(name, "the name of a provider key")
        return try write { (store) throws(KeyStoreError) in
            let key = if let key { key } else { try store.newProviderKey() }
            var row = try store.newProviderKeyRow(key.publicKey, name: name, topic: topic, at: now)
            row.keep(key, keys)
            return try store.add(row)
        }
    }

    /// Adds a provider key whose secret stays elsewhere, with a new signing key and its first certificate.
    ///
    /// The floor of the certificate is its epoch, so the provider key itself can sign no message that opens. The caller
    /// makes the key and writes its secret to a file first: this store never has it.
    ///
    /// - Throws: `nameTaken`, `invalidName`, `keyIDTaken`.
    package func addOfflineProviderKey(
        _ key: ProviderKey, named name: String = defaultName, topic: Topic, expires: Interval? = nil,
        at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        let signingKey = SigningKey()
        let credential = try withTrustErrors { () throws(TrustError) in
            let certificate = try UnsignedCertificate(
                CertificatePlan(offlineAt: now, expires: expires), for: signingKey.publicKey,
                provider: key.publicKey, topic: topic
            ).signed(by: key)
            return try SigningCredential(signingKey, certificate, by: key.publicKey)
        }
        return try addOfflineProviderKey(signing: credential, named: name, topic: topic, at: now)
    }

    /// Adds a provider key whose secret stays elsewhere, with the signing key that it has certified.
    ///
    /// - Throws: `nameTaken`, `invalidName`, `keyIDTaken`; `badCertificateSignature`, `weakKey`.
    package func addOfflineProviderKey(
        signing credential: SigningCredential, named name: String = defaultName, topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try StoreName.check(name, "the name of a provider key")
        try withTrustErrors { () throws(TrustError) in
            try credential.certificate.check(for: credential.provider, topic: topic)
        }
        return try write { (store) throws(KeyStoreError) in
            var row = try store.newProviderKeyRow(credential.provider, name: name, topic: topic, at: now)
            row.sign(with: credential.key, credential.certificate, topic: topic, since: now, keys)
            return try store.add(row)
        }
    }

    /// Removes the secret of a provider key, which the caller has saved elsewhere, from the store.
    ///
    /// At epoch 0 a planned rotation comes with it, because another key has to sign messages then. Backups made before
    /// still hold the secret.
    ///
    /// - Parameters:
    ///   - saved: The key, read back from where it was saved.
    ///   - name: The name; nil for the default.
    ///   - topic: The app, for a key that is not bound to one.
    ///   - now: The present time.
    /// - Throws: `unknownName`, `ambiguousName`; `providerOffline` if it is not here; `wrongCertificate` if
    ///   another key was saved; `topicMismatch` and `epochsExhausted` as for a rotation.
    package func takeProviderKeyOffline(
        _ saved: ProviderKey, named name: String? = nil, topic: Topic? = nil,
        at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try writeAndErase { (store) throws(KeyStoreError) in
            try store.write { (store) throws(KeyStoreError) in
                var row = try store.providerKeyRow(name)
                let key = try row.key(keys)
                guard saved.publicKey == key.publicKey else {
                    throw KeyStoreError(
                        .wrongCertificate,
                        "key \(saved.id) is not provider key '\(row.name)', \(key.id): save that one first")
                }
                if row.certificate == nil {
                    row = try store.rotate(
                        row, by: key, Rotation(topic: topic, kind: .planned, expires: nil), at: now)
                }
                row.takeOffline()
                try store.put(row)
                return try store.record(row)
            }
        }
    }

    /// Returns every provider key, by name.
    public func providerKeys() throws(KeyStoreError) -> [ProviderKeyRecord] {
        try read { (store) throws(KeyStoreError) in
            let defaultName = try store.providerNames.defaultName()
            return try store.rows(ProviderKeyRow.self, "ORDER BY name").map { $0.record(defaultName: defaultName) }
        }
    }

    /// Returns the provider key of a name; nil means the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func providerKey(named name: String? = nil) throws(KeyStoreError) -> ProviderKeyRecord {
        try read { (store) throws(KeyStoreError) in try store.record(store.providerKeyRow(name)) }
    }

    /// Returns the secret of a provider key; nil means the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`; `providerOffline` if it is not in this store.
    public func providerSecret(named name: String? = nil) throws(KeyStoreError) -> ProviderKey {
        try read { (store) throws(KeyStoreError) in try store.providerKeyRow(name).key(keys) }
    }

    /// Returns what signs the messages of a provider key, beside its record; a credential of nil means the provider key
    /// itself, at epoch 0.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    package func signingCredential(
        named name: String? = nil
    ) throws(KeyStoreError) -> (record: ProviderKeyRecord, credential: SigningCredential?) {
        try read { (store) throws(KeyStoreError) in
            let row = try store.providerKeyRow(name)
            return (try store.record(row), try row.credential(keys))
        }
    }

    /// Returns the signer of a provider key's messages; nil means the default name.
    ///
    /// It is right until the next rotation: a program that runs for long asks again.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func signer(named name: String? = nil) throws(KeyStoreError) -> EnvelopeSigner {
        try read { (store) throws(KeyStoreError) in
            let row = try store.providerKeyRow(name)
            guard let credential = try row.credential(keys), let topic = row.topic else {
                return EnvelopeSigner(try row.key(keys))
            }
            return try withTrustErrors { () throws(TrustError) in try EnvelopeSigner(credential, for: topic) }
        }
    }

    /// Returns a test for the provider key that a device reports as pinned: whether this store never had it.
    ///
    /// Such a key is evidence of a false enrolment. A store without provider keys finds nothing foreign, and neither does
    /// one with a damaged row.
    public func foreignMemberTest() throws(KeyStoreError)
        -> @Sendable (ProviderPublicKey?) -> [RegistrationReply.ForeignMember]
    {
        let own: Set<ProviderPublicKey>
        do throws(KeyStoreError) {
            own = Set(
                try read { (store) throws(KeyStoreError) in try store.rows(ProviderKeyRow.self, "") }.map(\.publicKey))
        } catch {
            guard error.concernsOneRow else { throw error }
            own = []
        }
        return { pinned in own.isEmpty || pinned.map(own.contains) ?? true ? [] : [.provider] }
    }

    /// Sets the default name; throws `unknownName`.
    public func setDefaultProviderKey(named name: String) throws(KeyStoreError) {
        try write { (store) throws(KeyStoreError) in try store.providerNames.setDefault(name) }
    }

    /// Removes a provider key with everything that belongs to it: phones that have pinned it open nothing more of this
    /// store's.
    ///
    /// - Returns: The record of the key.
    /// - Throws: `unknownName`.
    package func removeProviderKey(named name: String) throws(KeyStoreError) -> ProviderKeyRecord {
        try writeAndErase { (store) throws(KeyStoreError) in
            try store.write { (store) throws(KeyStoreError) in
                let row = try store.providerKeyRow(name)
                let record = try store.record(row)
                for past in try store.pastEpochs(of: row.id) {
                    try store.delete(PastEpochRow.self, key: .integer(past.id))
                }
                try store.delete(CertificateRequestRow.self, key: .integer(row.id))
                try store.deleteAnswerSecrets(of: row.id)
                try store.delete(ProviderKeyRow.self, key: .integer(row.id))
                try store.providerNames.keepDefault()
                return record
            }
        }
    }

    /// Makes a change that overwrites secrets, and removes them from the log too.
    ///
    /// A reader that holds the log for a moment, or a disk that fails then, is no failure: the change is made, and the connection that
    /// closes last empties the log.
    func writeAndErase<R>(_ body: (SQLiteKeyStore) throws(KeyStoreError) -> R) throws(KeyStoreError) -> R {
        let result = try body(self)
        try? withConnection { (connection) throws(KeyStoreError) in try connection.emptyLog() }
        return result
    }
}

/// Gives an error of the trust the same code as an error of the store.
func withTrustErrors<R>(_ body: () throws(TrustError) -> R) throws(KeyStoreError) -> R {
    do throws(TrustError) {
        return try body()
    } catch {
        throw .trust(error)
    }
}

extension StoreTransaction {
    func providerKeyRow(_ name: String?) throws(KeyStoreError) -> ProviderKeyRow {
        let name = try providerNames.resolve(name)
        guard let row = try row(ProviderKeyRow.self, "WHERE name = ?", .text(name)) else {
            // Only reached if a setting outlived its key.
            throw KeyStoreError(.unknownName, "no provider key is named '\(name)'")
        }
        return row
    }

    /// Returns the row of a provider key; nil if the store has none.
    func providerKeyRow(of key: ProviderPublicKey) throws(KeyStoreError) -> ProviderKeyRow? {
        let row = try row(ProviderKeyRow.self, "WHERE key_id = ?", .integer(Int64(key.id.value)))
        return row?.publicKey == key ? row : nil
    }

    func record(_ row: ProviderKeyRow) throws(KeyStoreError) -> ProviderKeyRecord {
        row.record(defaultName: try providerNames.defaultName())
    }

    fileprivate func newProviderKey() throws(KeyStoreError) -> ProviderKey {
        while true {
            let key = ProviderKey()
            if try !providerNames.hasKeyID(key.id) { return key }
        }
    }

    fileprivate func newProviderKeyRow(
        _ key: ProviderPublicKey, name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRow {
        try providerNames.checkIsNew(name, id: key.id)
        return ProviderKeyRow(
            id: try newRowNumber(in: ProviderKeyRow.self), name: name, topic: topic, publicKey: key, createdAt: now)
    }

    fileprivate func add(_ row: ProviderKeyRow) throws(KeyStoreError) -> ProviderKeyRecord {
        try put(row)
        try providerNames.keepDefault()
        return try record(row)
    }
}
