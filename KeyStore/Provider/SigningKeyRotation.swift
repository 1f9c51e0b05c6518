public import Pushcrypt

// MARK: Rotation of a signing key (`Docs/Keys.md`)
extension SQLiteKeyStore {
    /// Replaces the key that signs messages, and certifies the new one with the provider key.
    ///
    /// When it returns, the old signing key is in none of the store's files, not even sealed; at epoch 0, where the provider
    /// key signs, nothing is destroyed. If another process is still reading the previous state, or the disk fails at that moment,
    /// the connection that closes last removes the key from the log.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default.
    ///   - stolen: Whether the old signing key was stolen: what it has signed then opens on no phone that knows the new
    ///     certificate. Otherwise that opens for 38 days.
    ///   - expires: The life of the certificate; nil for ever.
    ///   - anyway: Whether to go on although it cannot help: a thief with a copy of this store has the provider key too,
    ///     and can certify a key of his own for ever. Only an app release with another provider key ends that.
    ///   - now: The present time.
    /// - Throws: `unknownName`, `ambiguousName`; `providerOffline` if the provider key is elsewhere;
    ///   `rotationRefused` for a theft with the provider key in the store; `topicMismatch` for a key that is bound to no
    ///   app; `epochsExhausted` after epoch 2^32 − 1.
    @discardableResult
    public func rotateSigningKey(
        named name: String? = nil, stolen: Bool = false, expires: Interval? = nil, anyway: Bool = false,
        at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        let record = try rotateSigningKey(
            named: name, topic: nil, ifOlderThan: nil, stolen: stolen, expires: expires, anyway: anyway, at: now)
        // Only a minimum age makes the call do nothing.
        guard let record else { preconditionFailure("no rotation") }
        return record
    }

    /// Replaces the key that signs messages if it has reached an age; of two processes that ask at once, one replaces it.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default.
    ///   - topic: The app, for a provider key that is not bound to one, and will be.
    ///   - age: Do nothing while the signing key is younger; nil to rotate in any case.
    ///   - stolen: Whether the old signing key was stolen.
    ///   - expires: The life of the certificate; nil for ever.
    ///   - anyway: Whether to go on although a thief has the provider key too.
    ///   - now: The present time.
    ///   - willEnd: Called with the record before, when nothing can refuse the rotation but the disk.
    /// - Returns: nil if the key is younger.
    /// - Throws: The errors of the call without an age.
    package func rotateSigningKey(
        named name: String? = nil, topic: Topic?, ifOlderThan age: Interval?, stolen: Bool = false,
        expires: Interval? = nil, anyway: Bool = false, at now: Timestamp,
        willEnd: (ProviderKeyRecord) -> Void = { _ in }
    ) throws(KeyStoreError) -> ProviderKeyRecord? {
        let rotation = Rotation(topic: topic, kind: stolen ? .stolen : .planned, expires: expires, anyway: anyway)
        return try changeProvider { (state) throws(KeyStoreError) in
            let old = state.record(try state.key(name))
            if let age, !old.signsSince.isOlder(than: age, at: now) { return nil }
            let key = try state.rotate(name, rotation, at: now)
            willEnd(old)
            return state.record(key)
        }
    }

    // MARK: In two steps, with the provider key elsewhere

    /// Makes a signing key, and the request for its certificate that is carried to the provider key.
    ///
    /// Nothing else changes until ``installCertificate(_:named:at:willEnd:)``. Every call makes another key, and the
    /// answer to an earlier request is refused from then on: a key that was waiting may be known to somebody who was in
    /// the server.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default.
    ///   - topic: The app, for a provider key that is not bound to one, and will be.
    ///   - stolen: Whether the old signing key was stolen.
    ///   - expires: The life of the certificate; nil for ever.
    ///   - anyway: Whether to go on after a theft although the provider key is in this store.
    ///   - now: The present time.
    /// - Returns: The request, and whether another one was waiting.
    /// - Throws: `unknownName`, `ambiguousName`, `topicMismatch`, `rotationRefused`.
    package func requestCertificate(
        for name: String? = nil, topic: Topic? = nil, stolen: Bool = false, expires: Interval? = nil,
        anyway: Bool = false, at now: Timestamp
    ) throws(KeyStoreError) -> (request: CertificateRequest, replacesAnother: Bool) {
        let rotation = Rotation(topic: topic, kind: stolen ? .stolen : .planned, expires: expires, anyway: anyway)
        return try changeProvider { (state) throws(KeyStoreError) in
            let replacesAnother = try state.key(name).request != nil
            return (try state.request(for: name, rotation, at: now), replacesAnother)
        }
    }

    /// Installs the certificate that was requested in this store, and destroys the signing key before it.
    ///
    /// Installing it again changes nothing.
    ///
    /// - Parameters:
    ///   - signed: The answer to the last request.
    ///   - name: The name; nil for that of the provider key that has certified.
    ///   - now: The present time.
    ///   - willEnd: Called with the record before, when nothing can refuse the certificate but the disk.
    /// - Throws: `unknownName`; `wrongCertificate` if it answers no request that waits here, if its
    ///   epoch is not above the last, or if it has expired; `badCertificateSignature`, `weakKey`.
    package func installCertificate(
        _ signed: SignedCertificate, named name: String? = nil, at now: Timestamp,
        willEnd: (ProviderKeyRecord) -> Void = { _ in }
    ) throws(KeyStoreError) -> ProviderKeyRecord {
        try changeProvider { (state) throws(KeyStoreError) in
            let (before, after) = try state.install(signed, named: name, at: now)
            if before != after { willEnd(state.record(before)) }
            return state.record(after)
        }
    }
}
