internal import Pushcrypt

// The rules for trust, the same in every store. (`Docs/FormatTrust.md`)
extension DeviceStorage {
    /// Returns the pins of an account, each with what was learned of it, by any account.
    ///
    /// Reads every pin, because a row changed so as to be ignored must be noticed too; a device knows few providers.
    func trust(for topic: Topic, account: String) throws(KeyStoreError) -> ProviderTrust {
        var trusted: [ProviderTrust.Pin] = []
        for pin in try pins(of: account) where pin.topic == nil || pin.topic == topic {
            let learned = try learnedTrust(of: pin.key, topic)?.trust ?? LearnedTrust()
            trusted.append(ProviderTrust.Pin(pin.key, learned))
        }
        return ProviderTrust(trusted)
    }

    private func pins(of account: String) throws(KeyStoreError) -> [PinRow] {
        try pins().filter { StoreName.areEqual($0.account, account) }
    }

    // MARK: Pins

    func pinProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try StoreName.check(account, "the name of an account")
        let pins = try pins(of: account)
        guard pins.allSatisfy({ $0.topic == topic }) else {
            throw KeyStoreError(
                .topicMismatch,
                "account '\(account)' trusts providers for \(pins[0].topic?.bundleID ?? "every app"): all are for one app"
            )
        }
        let isPinned = pins.contains { $0.key == pin.key }
        guard isPinned || pins.count < PinRow.maximum else {
            throw KeyStoreError(
                .tooManyPins, "account '\(account)' trusts two providers, the most it can: remove one first")
        }
        let isRaised = try learnCertificate(of: pin, for: account, topic: topic)
        if isPinned { return isRaised ? .updated : .unchanged }
        try add(pin.key, account, topic, .app, at: now)
        return .added
    }

    func pinFirstProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try StoreName.check(account, "the name of an account")
        let pins = try pins(of: account)
        guard pins.allSatisfy({ $0.key == pin.key && $0.topic == topic }) else {
            throw KeyStoreError(
                .providerAlreadyPinned,
                "account '\(account)' trusts another provider: only the app can change that")
        }
        try learnCertificate(of: pin, for: account, topic: topic)
        if pins.isEmpty { try add(pin.key, account, topic, .reply, at: now) }
    }

    func setPins(
        _ new: [ProviderPin], for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try StoreName.check(account, "the name of an account")
        let keys = new.map(\.key)
        guard Set(keys).count <= PinRow.maximum else {
            throw KeyStoreError(
                .tooManyPins, "an account trusts at most two providers: name the present one and the next")
        }
        precondition(Set(keys).count == keys.count, "a provider key is pinned once")
        for pin in new { try learnCertificate(of: pin, for: account, topic: topic) }
        let old = try pins(of: account)
        guard old.map(\.key) != keys || old.contains(where: { $0.topic != topic || $0.origin != .app }) else { return }
        for row in old { try delete(row) }
        for key in keys {
            let createdAt = old.first { $0.key == key }?.createdAt ?? now
            try add(key, account, topic, .app, at: createdAt)
        }
    }

    func trust(in provider: ProviderPublicKey, for topic: Topic) throws(KeyStoreError) -> ProviderTrust {
        ProviderTrust([ProviderTrust.Pin(provider, try learnedTrust(of: provider, topic)?.trust ?? LearnedTrust())])
    }

    func unpinProvider(_ key: ProviderPublicKey, for account: String) throws(KeyStoreError) -> Bool {
        let rows = try pins(of: account).filter { $0.key == key }
        for row in rows { try delete(row) }
        return !rows.isEmpty
    }

    /// Deletes the keys and pins of an account; nothing that was learned.
    func removeAccount(_ account: String) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try deleteUpdateKey(of: account)
        for row in try pins(of: account) { try delete(row) }
        return try purgeDeviceKeys(named: account)
    }

    private func add(
        _ key: ProviderPublicKey, _ account: String, _ topic: Topic?, _ origin: PinnedProviderRecord.Origin,
        at now: Timestamp
    ) throws(KeyStoreError) {
        let id = try newPinNumber()
        try put(PinRow(id: id, account: account, topic: topic, key: key, origin: origin, createdAt: now))
    }

    /// Learns a pin's certificate, if it has one, for the app that the pin or the account's keys are for; returns
    /// whether it was news.
    @discardableResult
    private func learnCertificate(
        of pin: ProviderPin, for account: String, topic: Topic?
    ) throws(KeyStoreError) -> Bool {
        guard let certificate = pin.certificate else { return false }
        let bound = try deviceKeyRows(account).last?.topic
        guard let topic = topic ?? bound else {
            throw KeyStoreError(
                .topicMismatch, "a certificate is for one app: name the app that the provider is pinned for")
        }
        return try accept(certificate, of: pin.key, topic: topic) != .unchanged
    }

    // MARK: Certificates

    /// Verifies a certificate under a provider key, pinned or not, and learns it. [T-2], [T-3]
    func accept(
        _ certificate: Certificate, of provider: ProviderPublicKey, topic: Topic
    ) throws(KeyStoreError) -> ProviderTrust.Change {
        if try learnedTrust(of: provider, topic)?.trust.certificate == certificate { return .unchanged }
        do throws(TrustError) {
            try certificate.check(for: provider, topic: topic)
        } catch {
            throw .trust(error)
        }
        return try learn(certificate, of: provider, topic: topic)
    }

    /// Learns a certificate that was verified: what is kept never falls.
    @discardableResult
    func learn(
        _ certificate: Certificate, of provider: ProviderPublicKey, topic: Topic
    ) throws(KeyStoreError) -> ProviderTrust.Change {
        let row = try learnedTrust(of: provider, topic)
        let known = row?.trust ?? LearnedTrust()
        let (trust, change) = known.learning(certificate)
        if trust != known {
            let id = if let row { row.id } else { try newLearnedNumber() }
            try put(LearnedTrustRow(id: id, provider: provider, topic: topic, trust: trust))
        }
        return change
    }

    // MARK: Changes made by a message

    /// Returns whether `settle` changes anything; nearly every message changes nothing.
    func needsSettling(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic
    ) throws(KeyStoreError) -> Bool {
        if try pendingKey(publicKey) != nil { return true }
        guard let certificate else { return false }
        let known = try learnedTrust(of: provider, topic)?.trust ?? LearnedTrust()
        return known.learning(certificate).0 != known
    }

    func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) {
        if let certificate { try learn(certificate, of: provider, topic: topic) }
        if let pending = try pendingKey(publicKey) { try activate(pending, grace: grace, at: now) }
    }
}
