internal import Pushcrypt

/// The options of the next certificate.
struct Rotation {
    /// The app, for a provider key that is not bound to one.
    var topic: Topic?
    var kind = CertificatePlan.Kind.planned
    /// The life of the certificate; nil for ever.
    var expires: Interval?
    /// Whether to go on after a theft although the provider key is in this store.
    var anyway = false
}

// The rules of a provider's keys. (`Docs/Keys.md`; `Docs/FormatTrust.md`, Rotation)
extension ProviderState {
    // MARK: New and former keys

    /// Adds a provider key: with its secret, or with the signing key that it has certified, or with both.
    ///
    /// - Throws: `nameTaken`, `invalidName`; `keyIDTaken` for a key that is there, or one with its id.
    @discardableResult
    mutating func add(
        _ publicKey: ProviderPublicKey, secret: Secret?, signing credential: SigningCredential? = nil,
        named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> Key {
        try StoreName.check(name, "the name of a provider key")
        guard !keys.contains(where: { StoreName.areEqual($0.name, name) }) else {
            throw KeyStoreError(.nameTaken, "a provider key is already named '\(name)'")
        }
        guard !hasID(publicKey.id) else {
            throw KeyStoreError(
                .keyIDTaken, "the store already holds key \(publicKey.id), under this or another name")
        }
        var key = Key(name: name, topic: topic, publicKey: publicKey, createdAt: now, secret: secret)
        key.signing = credential.map { Signing(certificate: $0.certificate, since: now, secret: Secret(of: $0.key)) }
        let place = keys.firstIndex { name.utf8.lexicographicallyPrecedes($0.name.utf8) } ?? keys.endIndex
        keys.insert(key, at: place)
        keepDefault()
        return key
    }

    /// Removes a provider key with all that belongs to it.
    mutating func remove(_ name: String) throws(KeyStoreError) {
        keys.remove(at: try index(name))
        keepDefault()
    }

    mutating func setDefault(_ name: String) throws(KeyStoreError) { defaultName = keys[try index(name)].name }

    /// The first key is the default; so is the only one left.
    private mutating func keepDefault() {
        if keys.contains(where: { isDefault($0.name) }) { return }
        defaultName = keys.count == 1 ? keys[0].name : nil
    }

    // MARK: Rotation

    /// Replaces the key that signs messages, and certifies the new one with the provider key.
    ///
    /// - Throws: `providerOffline`; `rotationRefused` after a theft of a store with the provider key; `topicMismatch`;
    ///   `epochsExhausted`.
    @discardableResult
    mutating func rotate(
        _ name: String?, _ rotation: Rotation, to signingKey: SigningKey = SigningKey(), at now: Timestamp
    ) throws(KeyStoreError) -> Key {
        let index = try index(name)
        let provider = try keys[index].providerKey()
        try keys[index].refuseTheft(rotation)
        try keys[index].rotate(rotation, by: provider, to: signingKey, at: now)
        return keys[index]
    }

    /// Makes the request for the certificate of another signing key, which takes the place of an earlier one.
    ///
    /// - Throws: `topicMismatch`, `rotationRefused`.
    mutating func request(
        for name: String?, _ rotation: Rotation, to signingKey: SigningKey = SigningKey(), at now: Timestamp
    ) throws(KeyStoreError) -> CertificateRequest {
        let index = try index(name)
        try keys[index].refuseTheft(rotation)
        let request = try keys[index].request(rotation, for: signingKey.publicKey, at: now)
        keys[index].request = Request(
            topic: request.topic, publicKey: request.signingKey, kind: request.kind, secret: Secret(of: signingKey))
        return request
    }

    /// Installs the certificate that was requested here, unless it is in use; returns the key before and after.
    ///
    /// - Throws: `unknownName`; `wrongCertificate` if it answers no request that waits here, if its epoch is not above the last, or if
    ///   it has expired; `badCertificateSignature`, `weakKey`.
    @discardableResult
    mutating func install(
        _ signed: SignedCertificate, named name: String?, at now: Timestamp
    ) throws(KeyStoreError) -> (before: Key, after: Key) {
        let index = try index(name, of: signed)
        let (key, certificate) = (keys[index], signed.certificate)
        if key.certificate == certificate { return (key, key) }
        guard let waiting = key.request else {
            throw KeyStoreError(
                .wrongCertificate, "'\(key.name)' has no pending certificate request in this store: make one first")
        }
        let request = CertificateRequest(
            topic: waiting.topic, provider: key.publicKey, signingKey: waiting.publicKey, waiting.kind, current: nil)
        try withTrustErrors { () throws(TrustError) in
            try signed.check(answers: request)
            try certificate.check(for: key.publicKey, topic: waiting.topic)
        }
        try key.checkIsNext(certificate, at: now)
        _ = try waiting.signingKey()
        keys[index].sign(waiting, certificate, at: now)
        return (key, keys[index])
    }

    private func index(_ name: String?, of signed: SignedCertificate) throws(KeyStoreError) -> Int {
        if let name { return try index(name) }
        guard let place = keys.firstIndex(where: { $0.publicKey == signed.provider }) else {
            throw KeyStoreError(
                .wrongCertificate,
                "the certificate is from provider key \(signed.provider.id), which this store does not have")
        }
        return place
    }

    /// Removes the secret of a provider key, which the caller has saved elsewhere. At epoch 0 a planned rotation comes with it.
    ///
    /// - Throws: `providerOffline`; `wrongCertificate` if another key was saved; `topicMismatch`, `epochsExhausted`.
    @discardableResult
    mutating func takeOffline(
        _ saved: ProviderKey, named name: String?, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> Key {
        let index = try index(name)
        var key = keys[index]
        let provider = try key.providerKey()
        guard saved.publicKey == provider.publicKey else {
            throw KeyStoreError(
                .wrongCertificate,
                "key \(saved.id) is not provider key '\(key.name)', \(provider.id): save that one first")
        }
        if key.signing == nil { try key.rotate(Rotation(topic: topic), by: provider, to: SigningKey(), at: now) }
        key.secret = nil
        keys[index] = key
        return key
    }

    // MARK: Answers

    /// Returns the answer secret in use, making one the first time.
    mutating func answerSecret(of name: String?, at now: Timestamp) throws(KeyStoreError) -> AnswerSecret {
        let index = try index(name)
        if let present = keys[index].answers.last(where: { $0.replacedAt == nil }) { return try present.answerSecret() }
        let secret = AnswerSecret()
        keys[index].answers.append(Answers(createdAt: now, secret: secret.withBytes { Secret(copying: $0) }))
        return secret
    }

    // MARK: Reports

    /// Notes the certificate that a device reports, and returns its epoch, if the provider key that the device has pinned, or any
    /// if it names none, is this store's and has signed it.
    ///
    /// One that this store never issued shows that it is an old copy, or that the provider key was stolen, and is remembered as
    /// long as phones may believe it. [D-36] [T-9]
    mutating func note(_ registration: DeviceRegistration) -> UInt32? {
        guard let certificate = registration.certificate else { return nil }
        let pinned = registration.pinnedProvider
        let isKnown = keys.contains { key in
            (pinned == nil || key.publicKey == pinned) && (key.hasIssued(certificate) || key.proven == certificate)
        }
        if isKnown { return certificate.epoch }
        let signer = keys.firstIndex { key in
            guard pinned == nil || key.publicKey == pinned, let topic = key.topic ?? registration.topic else {
                return false
            }
            return (try? certificate.check(for: key.publicKey, topic: topic)) != nil
        }
        guard let signer else { return nil }
        keys[signer].notice(certificate)
        return certificate.epoch
    }

    /// Keeps from a later state of this store its push keys, and the certificates that it has issued or seen since, as if phones
    /// had reported them. A key with a later certificate loses the backup's answer secrets, which may have been stolen. If the
    /// later state has no push key, it was removed; a new store, without these provider keys, has removed nothing.
    mutating func keep(_ later: ProviderState) {
        let isSameStore = later.keys.contains { key in keys.contains { $0.publicKey == key.publicKey } }
        if later.push != nil || isSameStore { (push, nextPush) = (later.push, later.nextPush) }
        for key in later.keys {
            guard let index = keys.firstIndex(where: { $0.publicKey == key.publicKey }) else { continue }
            let epoch = keys[index].certificate?.epoch ?? 0
            for certificate in [key.certificate, key.proven].compactMap(\.self) where certificate.epoch > epoch {
                keys[index].notice(certificate)
                keys[index].answers = []
            }
        }
    }
}

extension ProviderState.Key {
    fileprivate func refuseTheft(_ rotation: Rotation) throws(KeyStoreError) {
        guard rotation.kind == .stolen, secret != nil, !rotation.anyway else { return }
        throw KeyStoreError(
            .rotationRefused,
            "provider key '\(name)' is in this store, so anyone who has a copy of it can certify a key again and again, and rotating does not end that: make another provider key, keep it offline, and release the app with it"
        )
    }

    fileprivate func request(
        _ rotation: Rotation, for signingKey: SigningPublicKey, at now: Timestamp
    ) throws(KeyStoreError) -> CertificateRequest {
        guard let topic = topic ?? rotation.topic else {
            throw KeyStoreError(
                .topicMismatch,
                "provider key '\(name)' is bound to no app, and a certificate is for one app: name the app")
        }
        guard rotation.topic == nil || rotation.topic == topic else {
            throw KeyStoreError(.topicMismatch, "provider key '\(name)' is for \(topic), not for another app")
        }
        // Those that the floor has passed change nothing.
        let past = past.filter { now <= $0.replacedAt.adding(CertificatePlan.grace) }
        return CertificateRequest(
            topic: topic, provider: publicKey, signingKey: signingKey, rotation.kind, expires: rotation.expires,
            current: certificate, past: past, proven: proven)
    }

    fileprivate mutating func rotate(
        _ rotation: Rotation, by provider: ProviderKey, to signingKey: SigningKey, at now: Timestamp
    ) throws(KeyStoreError) {
        let request = try request(rotation, for: signingKey.publicKey, at: now)
        let signed = try withTrustErrors { () throws(TrustError) in try request.certify(by: provider, at: now) }
        let waiting = ProviderState.Request(
            topic: request.topic, publicKey: request.signingKey, kind: request.kind, secret: Secret(of: signingKey))
        sign(waiting, signed.certificate, at: now)
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

    /// Replaces the signing key, whatever has certified the next one. A request that waits is void then.
    fileprivate mutating func sign(_ next: ProviderState.Request, _ certificate: Certificate, at now: Timestamp) {
        // The floor has ended those below it.
        past = (past + [CertificatePlan.PastEpoch(self.certificate, replacedAt: now)]).filter {
            $0.epoch >= certificate.floor
        }
        // The next message that can be answered makes another secret. Stolen ones are destroyed.
        answers.removeAll { next.kind == .stolen || $0.replacedAt != nil && !$0.opens(at: now) }
        for index in answers.indices where answers[index].replacedAt == nil { answers[index].replacedAt = now }
        (topic, request) = (next.topic, nil)
        signing = ProviderState.Signing(certificate: certificate, since: now, secret: next.secret)
        // Phones believe it no longer, or it is this one. [T-9]
        if let proven, certificate.floor > proven.epoch || certificate.claim == proven.claim { self.proven = nil }
    }

    fileprivate func hasIssued(_ certificate: Certificate) -> Bool {
        self.certificate == certificate || past.contains { $0.certificate == certificate }
    }

    /// Notes a certificate that a phone has. The same claim under another signature was issued here too; those below the floor have
    /// ended.
    fileprivate mutating func notice(_ certificate: Certificate) {
        let issued = [self.certificate].compactMap(\.self) + past.compactMap(\.certificate)
        guard !issued.contains(where: { $0.claim == certificate.claim }),
            certificate.epoch >= self.certificate?.floor ?? 0
        else { return }
        proven = max(proven ?? certificate, certificate)
    }
}

extension Secret {
    init(of key: SigningKey) { self = key.withSeed { Secret(copying: $0) } }

    init(of key: ProviderKey) { self = key.withSeed { Secret(copying: $0) } }
}
