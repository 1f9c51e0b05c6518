public import Pushcrypt

/// A provider key to pin, with the certificate that came with it.
public struct ProviderPin: Hashable, Sendable {
    /// The provider's key.
    public let key: ProviderPublicKey
    /// The certificate of the provider's present signing key; nil if the provider has none, or it is not known.
    public let certificate: Certificate?

    /// Creates a value. An app that builds in a key builds in its certificate, too.
    public init(_ key: ProviderPublicKey, certificate: Certificate? = nil) {
        self.key = key
        self.certificate = certificate
    }
}

// (`Docs/FormatTrust.md`)
extension DeviceState {
    /// Returns the providers that an account trusts for an app, each with what was learned of it, by any account.
    public func trust(for topic: Topic, account name: String) -> ProviderTrust {
        guard let account = account(name), account.topic == nil || account.topic == topic else {
            return ProviderTrust(pinned: [])
        }
        return ProviderTrust(account.pins.map { ProviderTrust.Pin($0.key, learned(of: $0.key, topic)) })
    }

    /// Returns what is known of a provider, pinned or not: an account that has logged out has no pins.
    package func trust(in provider: ProviderPublicKey, for topic: Topic) -> ProviderTrust {
        ProviderTrust([ProviderTrust.Pin(provider, learned(of: provider, topic))])
    }

    private func learned(of provider: ProviderPublicKey, _ topic: Topic) -> LearnedTrust {
        learned.first { $0.provider == provider && $0.topic == topic }?.trust ?? LearnedTrust()
    }

    // MARK: Pins

    /// Pins a provider's key that came from the app or its user; never from a message. Its certificate is verified, and
    /// learned in the same step.
    ///
    /// - Parameters:
    ///   - pin: The key and its certificate.
    ///   - name: The account, which is made if there is none.
    ///   - topic: The app whose messages the provider signs; nil for that of the account, or for any.
    /// - Throws: `tooManyPins`, `topicMismatch`, `invalidName`; `malformedCertificate`, `weakKey`,
    ///   `badCertificateSignature`.
    @discardableResult
    public mutating func pin(
        _ pin: ProviderPin, for name: String = defaultName, topic: Topic? = nil
    ) throws(KeyStoreError) -> RegistrationOutcome {
        let account = account(name)
        let pins = account?.pins ?? []
        if let topic, let account, !pins.isEmpty, account.topic != topic {
            let present = account.topic?.bundleID ?? "every app"
            throw KeyStoreError(
                .topicMismatch, "account '\(name)' trusts providers for \(present): all are for one app")
        }
        let isPinned = pins.contains { $0.key == pin.key }
        guard isPinned || pins.count < ProviderTrust.maximumPins else {
            throw KeyStoreError(
                .tooManyPins, "account '\(name)' trusts two providers, the most it can: remove one first")
        }
        var after = self
        let index = try after.openAccount(name, topic)
        let isNews = try after.learn([pin], of: index)
        if !isPinned { after.accounts[index].pins.append(Pin(key: pin.key, origin: .app)) }
        self = after
        return isPinned ? (isNews ? .updated : .unchanged) : .added
    }

    /// Pins the key in a provider's first reply, with the certificate in it. [D-13]
    ///
    /// - Throws: `providerAlreadyPinned` if the account trusts another key; the errors of `pin`.
    package mutating func pinFirst(
        _ pin: ProviderPin, for name: String, topic: Topic
    ) throws(KeyStoreError) {
        let pins = account(name)?.pins ?? []
        guard pins.allSatisfy({ $0.key == pin.key }) else {
            throw KeyStoreError(
                .providerAlreadyPinned, "account '\(name)' trusts another provider: only the app can change that")
        }
        var after = self
        let index = try after.openAccount(name, topic)
        try after.learn([pin], of: index)
        if pins.isEmpty { after.accounts[index].pins = [Pin(key: pin.key, origin: .reply)] }
        self = after
    }

    /// Makes these, at most two, the only pins of an account, because they are built into the app. Those of a reply go.
    ///
    /// - Throws: The errors of `pin`.
    public mutating func setPins(
        _ pins: [ProviderPin], for name: String = defaultName, topic: Topic
    ) throws(KeyStoreError) {
        let keys = pins.map(\.key)
        precondition(Set(keys).count == keys.count, "a provider key is pinned once")
        guard keys.count <= ProviderTrust.maximumPins else {
            throw KeyStoreError(
                .tooManyPins, "an account trusts at most two providers: name the present one and the next")
        }
        var after = self
        let index = try after.openAccount(name, topic)
        try after.learn(pins, of: index)
        after.accounts[index].pins = keys.map { Pin(key: $0, origin: .app) }
        self = after
    }

    /// Removes a pin of an account. What was learned of the provider stays.
    ///
    /// - Returns: Whether the key was pinned.
    @discardableResult
    package mutating func unpin(_ key: ProviderPublicKey, for name: String = defaultName) -> Bool {
        guard let index = index(of: name), let place = accounts[index].pins.firstIndex(where: { $0.key == key }) else {
            return false
        }
        accounts[index].pins.remove(at: place)
        dropIfEmpty(index)
        return true
    }

    /// Learns the certificates of pins, for the app of the account; returns whether one was news.
    @discardableResult
    private mutating func learn(_ pins: [ProviderPin], of index: Int) throws(KeyStoreError) -> Bool {
        var isNews = false
        for pin in pins {
            guard let certificate = pin.certificate else { continue }
            guard let topic = accounts[index].topic else {
                throw KeyStoreError(
                    .topicMismatch, "a certificate is for one app: name the app that the provider is pinned for")
            }
            if try learn(certificate, of: pin.key, topic: topic) != .unchanged { isNews = true }
        }
        return isNews
    }

    // MARK: Certificates

    /// Verifies a certificate that reached the device outside a message, and learns it, whether its provider is pinned or
    /// not. What is kept never falls: an earlier certificate changes nothing. [T-2] [T-3]
    ///
    /// - Returns: What it changed; `conflict` is evidence that the provider key was stolen, or used in two places.
    /// - Throws: `malformedCertificate`, `weakKey`, `badCertificateSignature`.
    @discardableResult
    package mutating func learn(
        _ certificate: Certificate, of provider: ProviderPublicKey, topic: Topic
    ) throws(KeyStoreError) -> ProviderTrust.Change {
        if learned(of: provider, topic).certificate == certificate { return .unchanged }
        try withTrustErrors { () throws(TrustError) in try certificate.check(for: provider, topic: topic) }
        return learn(verified: certificate, of: provider, topic)
    }

    private mutating func learn(
        verified certificate: Certificate, of provider: ProviderPublicKey, _ topic: Topic
    ) -> ProviderTrust.Change {
        let known = learned(of: provider, topic)
        let (trust, change) = known.learning(certificate)
        guard trust != known else { return change }
        if let index = learned.firstIndex(where: { $0.provider == provider && $0.topic == topic }) {
            learned[index].trust = trust
        } else {
            learned.append(Learned(provider: provider, topic: topic, trust: trust))
        }
        return change
    }

    // MARK: Messages

    /// Keeps what a message has changed, once it has passed every step: the certificate that it brought is learned, and the
    /// pending key that opened it becomes active. Nearly every message changes nothing.
    public mutating func settle(
        _ opened: OpenedNotification, topic: Topic, grace: Interval = standardGrace, at now: Timestamp
    ) {
        if let certificate = opened.certificate {
            let change = learn(verified: certificate, of: opened.provider, topic)
            if change == .conflict,
                let index = learned.firstIndex(where: { $0.provider == opened.provider && $0.topic == topic })
            {
                learned[index].isContradicted = true
            }
        }
        activate(opened.openedWith, grace: grace, at: now)
    }

    /// Whether a message has brought a certificate that contradicts one that an account trusts, and the app has not heard
    /// of it. [T-3]
    package func isContradicted(_ name: String, _ topic: Topic) -> Bool {
        learnedPlaces(name, topic).contains { learned[$0].isContradicted }
    }

    /// Notes that the app has heard of it.
    package mutating func endContradiction(of name: String, _ topic: Topic) {
        for index in learnedPlaces(name, topic) { learned[index].isContradicted = false }
    }

    private func learnedPlaces(_ name: String, _ topic: Topic) -> [Int] {
        let pinned = trust(for: topic, account: name).pinned
        return learned.indices.filter { learned[$0].topic == topic && pinned.contains(learned[$0].provider) }
    }
}
