package import Pushcrypt

/// What a server does with a phone's request to pair.
package enum PairingAnswer: Sendable {
    /// No open code has its id, or it was not made with it: the server answers 404. [P-4]
    case unknown
    /// The server answers 200, with these bytes.
    case reply(ContiguousArray<UInt8>, PairingOutcome)
}

/// What became of a phone that pairs.
package enum PairingOutcome: Sendable {
    /// The device is stored; `foreign` are the members of its record that name a key which this store never had.
    case paired(id: String, RegistrationOutcome, foreign: [RegistrationReply.ForeignMember])
    /// The phone that has paired asked again, and got the same reply.
    case repeated(id: String)
    /// The sealed reply says why not. Only `pairing-used` has ended the code.
    case refused(RegistrationReply.Refusal)
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

    /// Pairs a phone by its request: stores its device and claims the code in one transaction.
    ///
    /// - Parameters:
    ///   - request: The request's bytes, from anybody.
    ///   - suites: The suites of which the phone may make a key.
    ///   - now: The present time.
    /// - Throws: Errors of the store, `unknownName` if the code's provider key was removed; nothing has changed then.
    package func acceptPairing(
        _ request: ContiguousArray<UInt8>, suites: [UInt8] = RegistrationReply.standardSuites, at now: Timestamp
    ) throws(KeyStoreError) -> PairingAnswer {
        guard let id = PairingExchange.id(ofRequest: request.span) else { return .unknown }
        // Somebody who knows no code must not keep others from writing.
        let isKnown = try read { (store) throws(KeyStoreError) in
            try store.pairing(id, at: now)?.exchange(keys).open(request: request.span) != nil
        }
        guard isKnown else { return .unknown }
        return try write { (store) throws(KeyStoreError) in
            guard let row = try store.pairing(id, at: now) else { return .unknown }
            let exchange = try row.exchange(keys)
            guard let record = exchange.open(request: request.span) else { return .unknown }
            let (reply, outcome) = try store.pair(row, record, suites, at: now)
            return .reply(exchange.seal(reply: reply, to: request.span), outcome)
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
        _ row: PairingRow, _ record: Bytes, _ suites: [UInt8], at now: Timestamp
    ) throws(KeyStoreError) -> (Bytes, PairingOutcome) {
        func refuse(_ refusal: RegistrationReply.Refusal) -> (Bytes, PairingOutcome) {
            (RegistrationReply(.refused(refusal)).json, .refused(refusal))
        }
        guard var registration = try? DeviceRegistration(json: record), let id = registration.deviceID else {
            return refuse(.malformedRecord)
        }
        if let claim = row.claim {
            guard StoreName.areEqual(claim.device, id), claim.key == registration.publicKey else {
                return refuse(.pairingUsed)
            }
            try renew(registration, id: id, at: now)
            return (claim.reply, .repeated(id: id))
        }
        guard registration.topic ?? row.topic == row.topic else { return refuse(.topicMismatch) }
        registration.topic = row.topic
        let outcome: RegistrationOutcome
        do throws(KeyStoreError) {
            outcome = try register(registration, id: id, by: row, at: now)
        } catch {
            guard let refusal = error.refusal else { throw error }
            return refuse(refusal)
        }
        let foreign = try foreignMembers(registration.pinnedProvider)
        guard let provider = try providerKeyRow(of: row.provider) else { throw .noProvider(row.provider.id) }
        let reply = RegistrationReply(
            .acknowledged(registration.publicKey), provider: provider.publicKey, certificate: provider.certificate,
            foreign: foreign, suites: suites, pushKey: try pushKeyRow()?.record.publicKey
        ).json
        var claimed = row
        claimed.claim = PairingRow.Claim(time: now, device: id, key: registration.publicKey, reply: reply)
        try put(claimed)
        return (reply, .paired(id: id, outcome, foreign: foreign))
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
        // A removed device keeps its user: a code for nobody brings back no other key of it. [D-15]
        return try register(
            registration, id: id, known: known, owner: row.user.map(DeviceOwner.user) ?? .nobody, at: now, isLive: true)
    }

    /// Takes over what a second request of the phone says of the same key, such as a grant; what it may not say is ignored. One
    /// that is played again writes nothing.
    private func renew(_ registration: DeviceRegistration, id: String, at now: Timestamp) throws(KeyStoreError) {
        let known = try known(id)
        // It may have been removed since.
        guard known.device?.publicKey == registration.publicKey else { return }
        do throws(KeyStoreError) {
            _ = try register(
                registration, id: id, known: known, owner: known.user.map(DeviceOwner.user) ?? .unchanged, at: now,
                isLive: false)
        } catch {
            guard error.concernsOneRow else { throw error }
        }
    }

    private func foreignMembers(
        _ pinned: ProviderPublicKey?
    ) throws(KeyStoreError) -> [RegistrationReply.ForeignMember] {
        guard let pinned, try providerKeyRow(of: pinned) == nil else { return [] }
        return [.provider]
    }
}
