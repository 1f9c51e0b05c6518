public import Pushcrypt

/// What a caller asks of the next certificate.
struct Rotation {
    /// The app, for a provider key that is not bound to one.
    let topic: Topic?
    let kind: CertificatePlan.Kind
    /// The life of the certificate; nil for ever.
    let expires: Interval?
}

// MARK: Rotation of a signing key (`Docs/KeyRotation.md`)
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
        try writeAndErase { (store) throws(KeyStoreError) in
            try store.write { (store) throws(KeyStoreError) -> ProviderKeyRecord? in
                let old = try store.providerKeyRow(name)
                if let age, !old.record(defaultName: nil).signsSince.isOlder(than: age, at: now) { return nil }
                let key = try old.key(keys)
                let rotation = Rotation(topic: topic, kind: stolen ? .stolen : .planned, expires: expires)
                try old.refuseTheft(rotation, anyway)
                let row = try store.rotate(old, by: key, rotation, at: now)
                willEnd(try store.record(old))
                try store.put(row)
                return try store.record(row)
            }
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
        try writeAndErase { (store) throws(KeyStoreError) in
            try store.write { (store) throws(KeyStoreError) in
                let row = try store.providerKeyRow(name)
                let rotation = Rotation(topic: topic, kind: stolen ? .stolen : .planned, expires: expires)
                try row.refuseTheft(rotation, anyway)
                let key = SigningKey()
                let request = try store.request(for: key.publicKey, of: row, rotation, at: now)
                let replacesAnother = try store.delete(CertificateRequestRow.self, key: .integer(row.id))
                try store.put(CertificateRequestRow(provider: row.id, request, key, keys))
                return (request, replacesAnother)
            }
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
        try writeAndErase { (store) throws(KeyStoreError) in
            try store.write { (store) throws(KeyStoreError) in
                var row = try store.providerKeyRow(of: signed, name)
                if row.certificate == signed.certificate { return try store.record(row) }
                guard
                    let waiting: CertificateRequestRow = try store.row(key: .integer(row.id))
                else {
                    throw KeyStoreError(
                        .wrongCertificate, "no request of '\(row.name)' waits for a certificate here: make one first")
                }
                try withTrustErrors { () throws(TrustError) in
                    try signed.check(answers: waiting.request)
                    try signed.certificate.check(for: row.publicKey, topic: waiting.request.topic)
                }
                try row.checkIsNext(signed.certificate, at: now)
                let key = try waiting.key(keys)
                willEnd(try store.record(row))
                try store.replace(row.certificate, of: row.id, by: signed.certificate, at: now)
                try store.replaceAnswerSecret(of: row.id, isStolen: waiting.request.kind == .stolen, at: now)
                row.sign(with: key, signed.certificate, topic: waiting.request.topic, since: now, keys)
                try store.delete(CertificateRequestRow.self, key: .integer(row.id))
                try store.put(row)
                return try store.record(row)
            }
        }
    }
}

extension ProviderKeyRow {
    fileprivate func refuseTheft(_ rotation: Rotation, _ anyway: Bool) throws(KeyStoreError) {
        guard rotation.kind == .stolen, !isOffline, !anyway else { return }
        throw KeyStoreError(
            .rotationRefused,
            "provider key '\(name)' is in this store, so anyone who has a copy of it can certify a key again and again, and rotating does not end that: make another provider key, keep it offline, and release the app with it"
        )
    }

    fileprivate func checkIsNext(_ certificate: Certificate, at now: Timestamp) throws(KeyStoreError) {
        // Phones may have it already, from another server.
        let others = [self.certificate, proven].compactMap(\.self).filter { $0.claim != certificate.claim }
        let last = others.map(\.epoch).max() ?? 0
        guard certificate.epoch > last else {
            throw KeyStoreError(
                .wrongCertificate,
                "the certificate's epoch \(certificate.epoch) is not above the last, \(last): make another request, and certify that"
            )
        }
        if let end = certificate.expiresAt, end <= now {
            throw KeyStoreError(.wrongCertificate, "the certificate has expired, at \(end): certify the request again")
        }
    }
}

extension StoreTransaction {
    /// Returns the row with a new signing key, which the caller stores, and notes the epoch that it replaces. A request
    /// that waits is void then.
    func rotate(
        _ old: ProviderKeyRow, by key: ProviderKey, _ rotation: Rotation, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderKeyRow {
        let signingKey = SigningKey()
        let request = try request(for: signingKey.publicKey, of: old, rotation, at: now)
        let certificate = try withTrustErrors { () throws(TrustError) in
            try UnsignedCertificate(
                request.plan(at: now), for: signingKey.publicKey, provider: key.publicKey, topic: request.topic
            ).signed(by: key)
        }
        try replace(old.certificate, of: old.id, by: certificate, at: now)
        try delete(CertificateRequestRow.self, key: .integer(old.id))
        try replaceAnswerSecret(of: old.id, isStolen: rotation.kind == .stolen, at: now)
        var row = old
        row.sign(with: signingKey, certificate, topic: request.topic, since: now, keys)
        return row
    }

    fileprivate func request(
        for signingKey: SigningPublicKey, of row: ProviderKeyRow, _ rotation: Rotation, at now: Timestamp
    ) throws(KeyStoreError) -> CertificateRequest {
        guard let topic = row.topic ?? rotation.topic else {
            throw KeyStoreError(
                .topicMismatch,
                "provider key '\(row.name)' is bound to no app, and a certificate is for one app: name the app")
        }
        guard rotation.topic == nil || rotation.topic == topic else {
            throw KeyStoreError(.topicMismatch, "provider key '\(row.name)' is for \(topic), not for another app")
        }
        // Those that the floor has passed change nothing.
        let past = try pastEpochs(of: row.id).map(\.epoch).filter {
            now <= $0.replacedAt.adding(CertificatePlan.grace)
        }
        return CertificateRequest(
            topic: topic, provider: row.publicKey, signingKey: signingKey, rotation.kind, expires: rotation.expires,
            current: row.certificate, past: past, proven: row.proven)
    }

    /// Returns the row that a certificate is for.
    fileprivate func providerKeyRow(
        of signed: SignedCertificate, _ name: String?
    ) throws(KeyStoreError) -> ProviderKeyRow {
        if let name { return try providerKeyRow(name) }
        guard let row = try providerKeyRow(of: signed.provider) else {
            throw KeyStoreError(
                .wrongCertificate, "this store has no provider key \(signed.provider.id), which the certificate is of")
        }
        return row
    }
}
