package import Pushcrypt

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
        try writeAndErase { (store) throws(KeyStoreError) in
            try store.write { (store) throws(KeyStoreError) in
                guard let key = try store.providerKeyRow(of: provider) else { throw .noProvider(provider.id) }
                guard key.topic == nil || key.topic == topic else {
                    throw KeyStoreError(.topicMismatch, "provider key '\(key.name)' is for another app than \(topic)")
                }
                if let device, try store.device(id: device) == nil { throw .unknownDevice(device) }
                try store.forgetPairings(at: now)
                try store.put(
                    PairingRow(
                        id: try store.newRowNumber(in: PairingRow.self), code, topic: topic, provider: provider,
                        user: user, replaces: device, at: now, keys))
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
        let isKnown = try read { (store) throws(KeyStoreError) in
            try store.pairing(id, at: now)?.exchange(keys).open(request: request.span) != nil
        }
        guard isKnown else { return nil }
        return try write { (store) throws(KeyStoreError) in
            guard let row = try store.pairing(id, at: now) else { return nil }
            let exchange = try row.exchange(keys)
            guard let record = exchange.open(request: request.span) else { return nil }
            let (reply, event) = try store.pair(row, record, terms, at: now)
            guard let provider = try store.providerKeyRow(of: row.provider) else { throw .noProvider(row.provider.id) }
            let signer = try store.signer(of: provider, for: row.topic)
            let body = SignedReply.body(reply, to: record, by: signer, for: row.topic)
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
        _ row: PairingRow, _ record: Bytes, _ terms: ReplyTerms, at now: Timestamp
    ) throws(KeyStoreError) -> (RegistrationReply, PostAnswer.Event) {
        func refuse(
            _ refusal: RegistrationReply.Refusal, _ error: KeyStoreError? = nil
        ) -> (RegistrationReply, PostAnswer.Event) {
            (RegistrationReply(.refused(refusal), provider: row.provider), .refused(refusal, error))
        }
        guard var registration = try? DeviceRegistration(json: record), let id = registration.deviceID,
            registration.updateKey != nil, registration.sequence != nil, registration.nonce != nil
        else { return refuse(.malformedRecord) }
        let foreign = try foreignMembers(registration.pinnedProvider)
        let reply = RegistrationReply(
            .acknowledged(registration.publicKey), provider: row.provider, certificate: nil, foreign: foreign,
            suites: terms.suites, pushKey: try pushKeyRow()?.record.publicKey)
        if let claim = row.claim {
            guard StoreName.areEqual(claim.device, id), claim.key == registration.publicKey,
                claim.updateKey == registration.updateKey
            else { return refuse(.pairingUsed) }
            return (reply, .repeated(id: id))
        }
        guard registration.topic ?? row.topic == row.topic else { return refuse(.topicMismatch) }
        registration.topic = row.topic
        let outcome: RegistrationOutcome
        do throws(KeyStoreError) {
            outcome = try register(registration, id: id, by: row, at: now)
        } catch {
            guard let refusal = error.refusal else { throw error }
            var (reply, event) = refuse(refusal, error)
            if refusal == .staleRecord { reply.sequence = try known(id).signing.sequence }
            return (reply, event)
        }
        var claimed = row
        claimed.claim = PairingRow.Claim(
            time: now, device: id, key: registration.publicKey, updateKey: registration.updateKey)
        try put(claimed)
        return (reply, .paired(id: id, outcome))
    }

    /// Stores the device of a phone that has the code. One that is stored already is another phone's, unless the operator says
    /// otherwise; the phone then draws another id. [P-9]
    private func register(
        _ registration: DeviceRegistration, id: String, by row: PairingRow, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        if let replaced = row.replaces, StoreName.areEqual(replaced, id) {
            return try take(
                registration, epoch: nil, id: id, owner: row.user.map(DeviceOwner.user) ?? .unchanged, updatedAt: now,
                isExported: false)
        }
        let known = try known(id)
        guard known.device == nil else {
            throw KeyStoreError(.userMismatch, "device '\(id)' is stored already, and the code replaces no device")
        }
        // A code for nobody does not bring back a user's device. [D-22]
        guard row.user != nil || known.user == nil else {
            throw KeyStoreError(.userMismatch, "device '\(id)' belonged to a user, and the code is for nobody")
        }
        // Or nothing that the device sends later would count. [D-25]
        guard let sequence = registration.sequence, sequence > known.signing.sequence else {
            throw .staleRecord(id, after: known.signing.sequence)
        }
        return try register(
            registration, id: id, known: known, owner: row.user.map(DeviceOwner.user) ?? .unchanged, at: now,
            isLive: true)
    }
}
