public import Pushcrypt

// MARK: A provider's keys, one name per app
extension SQLiteKeyStore {
    /// Generates the key of a new name. At epoch 0 it signs messages itself, until the first rotation.
    ///
    /// - Throws: `nameTaken`, `invalidName`.
    public func generateProviderKey(
        named name: String = DeviceState.defaultName, topic: Topic? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try importProviderKey(ProviderKey(), named: name, topic: topic, at: now)
    }

    /// Imports a key generated elsewhere under a new name, at epoch 0.
    ///
    /// - Throws: `nameTaken`, `invalidName`; `keyIDTaken` if the store holds this key, or one with
    ///   its id.
    package func importProviderKey(
        _ key: ProviderKey, named name: String = DeviceState.defaultName, topic: Topic? = nil,
        at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try changeProvider { (state) throws(KeyStoreError) in
            let added = try state.add(key.publicKey, secret: Secret(of: key), named: name, topic: topic, at: now)
            return state.record(added)
        }
    }

    /// Adds a provider key whose secret stays elsewhere, with a new signing key and its first certificate.
    ///
    /// The floor of the certificate is its epoch, so the provider key itself can sign no message that opens. The caller
    /// makes the key and writes its secret to a file first: this store never has it.
    ///
    /// - Throws: `nameTaken`, `invalidName`, `keyIDTaken`.
    package func addOfflineProviderKey(
        _ key: ProviderKey, named name: String = DeviceState.defaultName, topic: Topic, expires: Interval? = nil,
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
        signing credential: SigningCredential, named name: String = DeviceState.defaultName, topic: Topic,
        at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try withTrustErrors { () throws(TrustError) in
            try credential.certificate.check(for: credential.provider, topic: topic)
        }
        return try changeProvider { (state) throws(KeyStoreError) in
            let added = try state.add(
                credential.provider, secret: nil, signing: credential, named: name, topic: topic, at: now)
            return state.record(added)
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
        try changeProvider { (state) throws(KeyStoreError) in
            state.record(try state.takeOffline(saved, named: name, topic: topic, at: now))
        }
    }

    /// Returns every provider key, by name.
    public func providerKeys() throws(KeyStoreError) -> [ProviderKeyRecord] {
        let state = try provider()
        return state.keys.map(state.record)
    }

    /// Returns the provider key of a name; nil means the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func providerKey(named name: String? = nil) throws(KeyStoreError) -> ProviderKeyRecord {
        let state = try provider()
        return state.record(try state.key(name))
    }

    /// Returns the secret of a provider key; nil means the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`; `providerOffline` if it is not in this store.
    package func providerSecret(named name: String? = nil) throws(KeyStoreError) -> ProviderKey {
        try provider().key(name).providerKey()
    }

    /// Returns what signs the messages of a provider key, beside its record; a credential of nil means the provider key
    /// itself, at epoch 0.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    package func signingCredential(
        named name: String? = nil
    ) throws(KeyStoreError) -> (record: ProviderKeyRecord, credential: SigningCredential?) {
        let state = try provider()
        let key = try state.key(name)
        return (state.record(key), try key.credential())
    }

    /// Returns the signer of a provider key's messages; nil means the default name.
    ///
    /// It is right until the next rotation: a program that runs for long asks again.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func signer(named name: String? = nil) throws(KeyStoreError) -> EnvelopeSigner {
        let key = try provider().key(name)
        guard let credential = try key.credential(), let topic = key.topic else {
            return EnvelopeSigner(try key.providerKey())
        }
        return try withTrustErrors { () throws(TrustError) in try EnvelopeSigner(credential, for: topic) }
    }

    /// Returns a test for the provider key that a device reports as pinned: whether this store does not have it.
    ///
    /// Such a key is evidence of a false enrolment, unless it was removed here. A store without provider keys, or with damaged
    /// ones, finds nothing foreign.
    package func foreignMemberTest() throws(KeyStoreError)
        -> @Sendable (ProviderPublicKey?) -> [RegistrationReply.ForeignMember]
    {
        let state = try readOnce { (store) throws(KeyStoreError) in try store.providerIfSound() }
        let own = Set((state?.keys ?? []).map(\.publicKey))
        return { pinned in own.isEmpty || pinned.map(own.contains) ?? true ? [] : [.provider] }
    }

    /// Sets the default name; throws `unknownName`.
    package func setDefaultProviderKey(named name: String) throws(KeyStoreError) {
        try changeProvider { (state) throws(KeyStoreError) in try state.setDefault(name) }
    }

    /// Removes a provider key with everything that belongs to it: phones that have pinned it open nothing more of this
    /// store's.
    ///
    /// - Returns: The record of the key.
    /// - Throws: `unknownName`.
    package func removeProviderKey(named name: String) throws(KeyStoreError) -> ProviderKeyRecord {
        try changeProvider { (state) throws(KeyStoreError) in
            let record = state.record(try state.key(name))
            try state.remove(name)
            return record
        }
    }

    // MARK: Answers

    /// Returns the answer secret of a provider key's app, for a sealer; makes one the first time.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    public func answerSecret(named name: String? = nil, at now: Timestamp) throws(KeyStoreError) -> AnswerSecret {
        if let present = try provider().key(name).answers.last, present.replacedAt == nil {
            return try present.answerSecret()
        }
        // Another process may have made it meanwhile.
        return try changeProvider { (state) throws(KeyStoreError) in try state.answerSecret(of: name, at: now) }
    }

    // MARK: The push key

    /// Stores the push key, with which a server signs its requests to relays.
    ///
    /// - Throws: `nameTaken` if the store has one.
    package func addPushKey(_ key: PushKey = PushKey(), at now: Timestamp) throws(KeyStoreError) -> PushKeyRecord {
        try changeProvider { (state) throws(KeyStoreError) in
            guard state.push == nil else {
                throw KeyStoreError(
                    .nameTaken, "the store has a push key: remove it first, and phones fetch grants for the new one")
            }
            let push = ProviderState.Push(key, at: now)
            state.push = push
            return push.record
        }
    }

    /// Stores the key that replaces the push key in 7 days.
    ///
    /// - Throws: `unknownName` if the store has no push key; `nameTaken` if a next one is already stored.
    package func addNextPushKey(_ key: PushKey = PushKey(), at now: Timestamp) throws(KeyStoreError) -> PushKeyRecord {
        try changeProvider { (state) throws(KeyStoreError) in
            guard let keys = state.pushKeys(at: now) else { throw .noPushKey }
            if let next = keys.next {
                throw KeyStoreError(
                    .nameTaken,
                    "the store has a next push key already, in use from \(next.record.createdAt.adding(ProviderState.pushNotice))"
                )
            }
            let push = ProviderState.Push(key, at: now)
            (state.push, state.nextPush) = (keys.current, push)
            return push.record
        }
    }

    /// Returns the records of the push keys; nil if the store has none.
    package func pushKeys(at now: Timestamp) throws(KeyStoreError) -> PushKeys<PushKeyRecord>? {
        try provider().pushKeys(at: now)?.map { $0.record }
    }

    /// Returns the push keys.
    ///
    /// - Throws: `unknownName` if the store has none.
    package func pushSecrets(at now: Timestamp) throws(KeyStoreError) -> PushKeys<PushKey> {
        guard let keys = try provider().pushKeys(at: now) else { throw .noPushKey }
        return try keys.map { (push) throws(KeyStoreError) in try push.pushKey() }
    }

    /// Whether the store has a push key.
    package func hasPushKey() throws(KeyStoreError) -> Bool { try provider().push != nil }

    /// Destroys the push keys: relays refuse every grant that names them.
    ///
    /// - Throws: `unknownName` if the store has none.
    package func removePushKey() throws(KeyStoreError) {
        try changeProvider { (state) throws(KeyStoreError) in
            guard state.push != nil else { throw .noPushKey }
            (state.push, state.nextPush) = (nil, nil)
        }
    }

    // MARK: Settings

    /// The maximum length of a setting's value, in bytes.
    package static let maximumSettingLength = 4096

    /// Returns a text that a program keeps in the store, such as `title`; nil if it was never set.
    package func setting(named name: String) throws(KeyStoreError) -> String? {
        try provider().settings[name]
    }

    /// Stores a text of at most 4096 bytes; nil removes it.
    ///
    /// - Throws: `invalidName` for a longer text.
    package func setSetting(_ value: String?, named name: String) throws(KeyStoreError) {
        guard value?.utf8.count ?? 0 <= Self.maximumSettingLength else {
            throw KeyStoreError(.invalidName, "a setting may have at most \(Self.maximumSettingLength) bytes")
        }
        try changeProvider { $0.settings[name] = value }
    }
}

extension KeyStoreError {
    package static var noPushKey: KeyStoreError { KeyStoreError(.unknownName, "the store has no push key") }
}
