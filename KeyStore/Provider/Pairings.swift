package import Pushcrypt

extension ProviderState {
    /// A code that pairs one phone, and what came of it. It is forgotten 10 minutes after it was made, or claimed.
    /// (`Docs/FormatRecords.md`, Pairing)
    struct Pairing: Equatable, Sendable {
        /// In milliseconds. [P-3] [P-6]
        private static let lifetime: UInt64 = 600_000

        /// The phone that has claimed the code.
        struct Claim: Equatable, Sendable {
            let time: Timestamp
            let device: String
            let key: DevicePublicKey
            let updateKey: SigningPublicKey
        }

        let id: Bytes
        let url: String
        let topic: Topic
        let provider: ProviderPublicKey
        /// The user of the new device; nil if the server has no users.
        let user: String?
        /// The device that the phone may replace.
        let replaces: String?
        let createdAt: Timestamp
        var claim: Claim?
        let secret: Secret

        /// Whether the code has its meaning, by the server's clock alone.
        func isOpen(at now: Timestamp) -> Bool {
            let start = claim?.time ?? createdAt
            // A code of a clock that was ahead has ended, too.
            return start <= now.adding(milliseconds: Self.lifetime)
                && now < start.adding(milliseconds: Self.lifetime)
        }

        func exchange() throws(KeyStoreError) -> PairingExchange {
            guard let secret = secret.withSpan({ PairingSecret($0) }), secret.id == id else {
                throw .damagedState(named: ProviderState.row)
            }
            return PairingExchange(secret, url: url, topic: topic, fingerprint: PairingCode.fingerprint(of: provider))
        }
    }

    func pairing(_ id: Bytes, at now: Timestamp) -> Pairing? { pairings.first { $0.id == id && $0.isOpen(at: now) } }

    /// Adds a code for one phone, and forgets those that have ended.
    mutating func add(
        _ code: PairingCode, topic: Topic, provider: ProviderPublicKey, user: String?, replacing device: String?,
        at now: Timestamp
    ) throws(KeyStoreError) {
        guard let key = key(of: provider) else { throw .noProvider(provider.id) }
        guard key.topic == nil || key.topic == topic else {
            throw KeyStoreError(.topicMismatch, "provider key '\(key.name)' is for another app than \(topic)")
        }
        pairings.removeAll { !$0.isOpen(at: now) }
        pairings.append(
            Pairing(
                id: code.secret.id, url: code.url.text, topic: topic, provider: provider, user: user, replaces: device,
                createdAt: now, secret: code.secret.withSpan { Secret(copying: $0) }))
    }

    mutating func claim(_ id: Bytes, by claim: Pairing.Claim) {
        for index in pairings.indices where pairings[index].id == id { pairings[index].claim = claim }
    }
}

// MARK: Pairing by a code
extension SQLiteKeyStore {
    /// Stores a code for one phone, which ends after 10 minutes.
    ///
    /// - Parameters:
    ///   - code: The code, which the server shows to its user alone.
    ///   - topic: The app.
    ///   - provider: The provider key that the code names, one of this store's.
    ///   - user: Whose the device will be; nil if the server has no users.
    ///   - device: A device that the phone may replace, because it was set up again.
    ///   - now: The present time.
    /// - Throws: `invalidName`; `unknownName` without the provider key; `topicMismatch` if it is another app's;
    ///   `unknownDevice`.
    package func addPairing(
        _ code: PairingCode, topic: Topic, provider: ProviderPublicKey, user: String? = nil,
        replacing device: String? = nil, at now: Timestamp
    ) throws(KeyStoreError) {
        if let user { try StoreName.check(user, "a user id") }
        if let device { try StoreName.checkDeviceID(device) }
        try write { (store) throws(KeyStoreError) in
            if let device, try store.held(device)?.device == nil { throw .unknownDevice(device) }
            try store.changeProvider { (state) throws(KeyStoreError) in
                try state.add(code, topic: topic, provider: provider, user: user, replacing: device, at: now)
            }
        }
    }

    /// Pairs a phone by its request, from anybody: stores its device and claims the code in one transaction.
    ///
    /// - Returns: nil if no open code has its id, or it was not made with it. [P-4]
    /// - Throws: Errors of the store, `unknownName` if the code's provider key was removed; nothing has changed then.
    func pair(
        _ request: ContiguousArray<UInt8>, _ terms: ReplyTerms, at now: Timestamp
    ) throws(KeyStoreError) -> PostAnswer? {
        guard let id = PairingExchange.id(ofRequest: request.span) else { return nil }
        // Somebody who knows no code must not keep others from writing.
        guard try provider().pairing(id, at: now)?.exchange().open(request: request.span) != nil else { return nil }
        return try write { (store) throws(KeyStoreError) in
            let state = try store.provider()
            guard let pairing = state.pairing(id, at: now) else { return nil }
            let exchange = try pairing.exchange()
            guard let record = exchange.open(request: request.span) else { return nil }
            let (reply, event) = try store.pair(pairing, record, terms, at: now)
            guard let provider = state.key(of: pairing.provider) else { throw .noProvider(pairing.provider.id) }
            let signer = try provider.signer(for: pairing.topic)
            let body = SignedReply.body(reply, to: record, by: signer, for: pairing.topic)
            return PostAnswer(
                ContiguousArray(PairingText.encode(exchange.seal(reply: body, to: request.span)).utf8), event,
                foreign: reply.foreign)
        }
    }
}

extension KeyStoreError {
    fileprivate static func noProvider(_ id: KeyID) -> KeyStoreError {
        KeyStoreError(.unknownName, "the provider key \(id) of this code is not in the store")
    }
}

extension StoreTransaction {
    /// Returns the reply record.
    fileprivate func pair(
        _ pairing: ProviderState.Pairing, _ record: Bytes, _ terms: ReplyTerms, at now: Timestamp
    ) throws(KeyStoreError) -> (RegistrationReply, PostAnswer.Event) {
        func refuse(
            _ refusal: RegistrationReply.Refusal, _ error: KeyStoreError? = nil
        ) -> (RegistrationReply, PostAnswer.Event) {
            (RegistrationReply(.refused(refusal), provider: pairing.provider), .refused(refusal, error))
        }
        guard var registration = try? DeviceRegistration(json: record), let id = registration.deviceID,
            let updateKey = registration.updateKey, registration.sequence != nil, registration.nonce != nil
        else { return refuse(.malformedRecord) }
        let foreign = try foreignMembers(registration.pinnedProvider)
        let pushKeys = try provider().pushKeys(at: now)
        var reply = RegistrationReply(
            .acknowledged(registration.publicKey), provider: pairing.provider, certificate: nil, foreign: foreign,
            suites: terms.suites)
        (reply.pushKey, reply.nextPushKey) = (pushKeys?.current.record.publicKey, pushKeys?.next?.record.publicKey)
        if let claim = pairing.claim {
            guard StoreName.areEqual(claim.device, id), claim.key == registration.publicKey,
                claim.updateKey == updateKey
            else { return refuse(.pairingUsed) }
            return (reply, .repeated(id: id))
        }
        guard registration.topic ?? pairing.topic == pairing.topic else { return refuse(.topicMismatch) }
        registration.topic = pairing.topic
        let outcome: RegistrationOutcome
        do throws(KeyStoreError) {
            // A device that is stored already is another phone's, unless the operator says otherwise; the phone then draws
            // another id. [P-9]
            let arrival = Arrival(
                id: id, registration: registration, owner: pairing.user.map(DeviceOwner.user) ?? .unchanged,
                way: .pairing, replaces: pairing.replaces.map { StoreName.areEqual($0, id) } ?? false)
            outcome = try accept(arrival, at: now).registration
        } catch {
            guard let refusal = error.refusal else { throw error }
            var (reply, event) = refuse(refusal, error)
            if refusal == .staleRecord { reply.sequence = try held(id)?.signing.sequence }
            return (reply, event)
        }
        try changeProvider { state in
            state.claim(
                pairing.id,
                by: ProviderState.Pairing.Claim(
                    time: now, device: id, key: registration.publicKey, updateKey: updateKey))
        }
        return (reply, .paired(id: id, outcome))
    }
}
