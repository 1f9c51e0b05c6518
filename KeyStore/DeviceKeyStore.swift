public import Pushcrypt

/// The part of a key store that opening a push needs; all an extension gets.
///
/// Nothing here ever generates or changes a key. Only keys that no longer open are deleted.
public protocol DeviceKeyReading: Sendable {
    /// Returns the key that an envelope names, if it may open now: pending, active, or retiring until its end date.
    ///
    /// - Returns: nil if the store has no such key.
    /// - Throws: `storeMissing` if no store was ever created here, or it was lost in a restore; `storeLocked` before
    ///   the first unlock; `corruptStore`. These are three different outcomes, and none is a reason to generate a key.
    func deviceKey(id: KeyID, at now: Timestamp) throws(KeyStoreError) -> StoredDeviceKey?

    /// Returns the providers that an account trusts for an app, with what was learned of each, to verify a message
    /// with: an authenticated copy of what is stored now; none for an account without pins.
    ///
    /// - Parameters:
    ///   - topic: The app.
    ///   - account: The account: the name of the device key that opens the message.
    /// - Throws: The errors of `deviceKey(id:at:)`; also `corruptStore` for a single damaged row, because ignoring it
    ///   could restore trust that has ended.
    func trust(for topic: Topic, account: String) throws(KeyStoreError) -> ProviderTrust

    /// Deletes, in one step, the retired keys of every name that ended more than 24 hours before both times.
    ///
    /// Call it after the delivery of a message, never before. A clock that jumps ahead deletes nothing, because the
    /// provider's time is required too.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - sentAt: When the message just accepted was sealed.
    /// - Returns: The deleted keys.
    /// - Throws: `storeBusy`, or the errors of `deviceKey(id:at:)`. Nothing is deleted then.
    @discardableResult
    func purgeRetiredDeviceKeys(
        at now: Timestamp, accepted sentAt: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord]
}

/// The place where the changes made by an opened message are stored.
public protocol OpeningEffects: Sendable {
    /// Stores what a message changed, once it has passed every step: the pending key that opened it becomes active, and
    /// the certificate that it brought takes effect. (`Docs/FormatTrust.md`)
    ///
    /// - Parameters:
    ///   - publicKey: The device key that opened the message.
    ///   - provider: The pinned key of its provider.
    ///   - certificate: The certificate that it brought, if that is news: `OpenedNotification.certificate`.
    ///   - topic: The app that it was for.
    ///   - now: The present time.
    /// - Throws: If it throws, nothing is stored, and the message may be shown all the same.
    func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        at now: Timestamp
    ) throws(KeyStoreError)
}

/// The device side of a key store: the device's own keys, one name per account with generations under it, the providers
/// that each account trusts, and what messages and replies have told of them.
///
/// A key is pending, active, retiring, then purged (`Docs/KeyRotation.md`). Every call that changes something is one
/// step: if it throws or the process ends, the store is as it was before the call or as it is after it.
///
/// A name of nil means the default name, which is the first one until another is set. Every call may throw
/// `corruptStore` and `inputOutput`, and, depending on the kind of store, `storeBusy` and `diskFull`, or `storeLocked`
/// and `missingEntitlement`; errors listed with a call are additional.
public protocol DeviceKeyStore: DeviceKeyReading, OpeningEffects {
    // MARK: Device keys

    /// Generates the first key of a name: generation 1, active at once.
    ///
    /// - Throws: `nameTaken`, `invalidName`, `unsupportedSuite`.
    func generateDeviceKey(
        named name: String, topic: Topic?, suite: CipherSuite, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord

    /// Imports a key generated elsewhere as the first of a name.
    ///
    /// - Throws: `nameTaken`, `invalidName`; `keyIDTaken` if the store holds this key, or one with its id.
    func importDeviceKey(
        _ key: DeviceKey, named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord

    /// Returns every key of every name, oldest generation first; none if no store was ever created.
    func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord]

    /// Returns the keys of one name, oldest generation first.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord]

    /// Sets the default name.
    ///
    /// - Throws: `unknownName`.
    func setDefaultDeviceKey(named name: String) throws(KeyStoreError)

    /// Generates the next key of a name, durable and pending: it opens from now on, before the provider knows it.
    ///
    /// If the name has a pending key, returns that one, so a lost reply is handled by calling again.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default.
    ///   - suite: The suite of the key; nil for that of the name's active key. Keys never go back to suite 1.
    ///   - now: The present time.
    /// - Throws: `unknownName`, `ambiguousName`; `suiteDowngrade` for suite 1 after suite 2; `unsupportedSuite`;
    ///   `rotationRefused` after the last possible generation, or if the pending key is of an earlier suite.
    func rotateDeviceKey(
        named name: String?, suite: CipherSuite?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord

    /// Retires a pending key that its provider has refused; the active one stays.
    ///
    /// It opens for `grace` after `now`, because another of the provider's servers may have accepted it before, and
    /// becomes active if `confirmDeviceKey` names it. Until it is purged, the next key has a later generation.
    ///
    /// - Returns: Whether it was there: pending, and not the only key of its name.
    /// - Throws: `ambiguousName`.
    @discardableResult
    func retirePendingDeviceKey(
        _ key: DevicePublicKey, named name: String?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> Bool

    /// Generates the key that follows one which the provider refuses, pending. A refused pending key retires; a refused active one
    /// opens on.
    ///
    /// - Returns: The key; the pending one, if it is not the refused one.
    /// - Throws: `unknownName`, `unsupportedSuite`.
    func replaceRefusedDeviceKey(
        _ key: DevicePublicKey, named name: String, suite: CipherSuite, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord

    /// Activates the pending key of a name, because the provider has acknowledged it. The active key retires.
    ///
    /// A grace period shorter than the time to live of messages under way loses messages.
    ///
    /// - Parameters:
    ///   - name: The name; nil for the default.
    ///   - acknowledged: The key named in the provider's reply, pending or refused since; nil for whichever is pending,
    ///     if the caller knows that the reply is about that one.
    ///   - grace: How long after `now` the retiring key still opens.
    ///   - now: The present time.
    /// - Returns: The new active key. Returns nil and changes nothing if no key is pending, or a different one than was
    ///   acknowledged: a repeated reply must not confirm a key the provider has never seen.
    /// - Throws: `unknownName`, `ambiguousName`.
    func confirmDeviceKey(
        named name: String?, acknowledged: KeyID?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord?

    /// Deletes the retired keys of a name whose end date has passed.
    ///
    /// - Returns: The deleted keys; none for a name without keys.
    /// - Throws: `ambiguousName`.
    func purgeRetiredDeviceKeys(named name: String?, at now: Timestamp) throws(KeyStoreError) -> [DeviceKeyRecord]

    /// Deletes all keys of a name, for a log-out.
    ///
    /// - Returns: The deleted keys; none for a name without keys, so that a log-out can be repeated.
    /// - Throws: `ambiguousName`.
    func purgeDeviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord]

    /// Returns the key under which the device signs an account's records, making one the first time; `removeAccount` deletes
    /// it. It is no device key: it opens nothing. (`Docs/FormatRecords.md`, Posts)
    ///
    /// - Throws: `invalidName`.
    func updateKey(of account: String) throws(KeyStoreError) -> SigningKey

    /// Deletes all keys and pins of an account, for a log-out. What was learned of its providers stays, so that an old
    /// certificate is not believed if the account comes back.
    ///
    /// - Returns: The deleted keys; none for an account without keys, so that a log-out can be repeated.
    @discardableResult
    func removeAccount(_ account: String) throws(KeyStoreError) -> [DeviceKeyRecord]

    // MARK: Trust

    /// Pins a provider's key that came from the app or its user; never from a message.
    ///
    /// An account trusts one provider, or two while a release of the app changes from one key to the next. The
    /// certificate is verified, and stored in the same step; for a key that is pinned already it is learned.
    ///
    /// - Parameters:
    ///   - pin: The key and its certificate.
    ///   - account: The account: the name of its device keys, which it need not have yet.
    ///   - topic: The app whose messages the provider signs, the same for both pins; nil for whichever app the
    ///     account's keys are for.
    ///   - now: The present time.
    /// - Throws: `tooManyPins`, `topicMismatch`, `invalidName`; `malformedCertificate`, `weakKey`,
    ///   `badCertificateSignature`.
    @discardableResult
    func pinProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome

    /// Pins the key in a provider's first reply, with the certificate in it.
    ///
    /// - Throws: `providerAlreadyPinned` if the account trusts another key; the errors of `pinProvider`.
    func pinFirstProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError)

    /// Makes these, at most two, the only pins of an account, because they are built into the app. Those of a reply go.
    ///
    /// - Throws: The errors of `pinProvider`; then the pins are those before.
    func setPins(
        _ pins: [ProviderPin], for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError)

    /// Removes a pin of an account. What was learned of the provider stays.
    ///
    /// - Returns: Whether the key was pinned.
    @discardableResult
    func unpinProvider(_ key: ProviderPublicKey, for account: String) throws(KeyStoreError) -> Bool

    /// Returns the pins of every account, oldest first; none if no store was ever created.
    func pinnedProviders() throws(KeyStoreError) -> [PinnedProviderRecord]

    /// Verifies a certificate that reached the device outside a message, and learns it, whether its provider is pinned
    /// or not. What is kept never falls: an earlier certificate changes nothing.
    ///
    /// - Returns: What it changed; `conflict` is evidence that the provider key was stolen, or used in two places.
    /// - Throws: `malformedCertificate`, `weakKey`, `badCertificateSignature`.
    @discardableResult
    func acceptCertificate(
        _ certificate: Certificate, of provider: ProviderPublicKey, topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderTrust.Change

    /// Returns what is known of a provider, pinned or not, to verify its reply with: an account that has logged out has no pins.
    func trust(in provider: ProviderPublicKey, for topic: Topic) throws(KeyStoreError) -> ProviderTrust

    // MARK: Both

    /// Stores what a message changed, in one step: the pending key that opened it becomes active, the active one
    /// retires, and the certificate is learned. A device key that is gone is ignored.
    ///
    /// The retiring key still opens for `grace` after `now`.
    func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        grace: Interval, at now: Timestamp
    ) throws(KeyStoreError)

    /// Deletes every device key and every pin.
    ///
    /// Only for keys left by an earlier installation of the app. What was learned of providers stays unless it is
    /// damaged: otherwise an old certificate would be believed again.
    func purgeEverything() throws(KeyStoreError)
}

// MARK: Defaults

extension DeviceKeyStore {
    /// The name of a key if the caller gives none: `default`.
    public static var defaultName: String { "default" }

    /// How long a replaced key still opens if the caller does not say: 31 days; Apple keeps a push for 30.
    public static var standardGrace: Interval { .days(31) }

    /// Generates the first key of the name `default`.
    ///
    /// - Throws: `nameTaken`.
    public func generateDeviceKey(topic: Topic? = nil, at now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try generateDeviceKey(named: Self.defaultName, topic: topic, at: now)
    }

    /// Generates the first key of a name, of suite 1.
    ///
    /// - Throws: `nameTaken`, `invalidName`.
    public func generateDeviceKey(
        named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try generateDeviceKey(named: name, topic: topic, suite: .x25519, at: now)
    }

    /// Generates the first key of a name, for any app.
    ///
    /// - Throws: `nameTaken`, `invalidName`.
    public func generateDeviceKey(named name: String, at now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try generateDeviceKey(named: name, topic: nil, at: now)
    }

    /// Imports a key generated elsewhere, for any app.
    ///
    /// - Throws: `nameTaken`, `invalidName`, `keyIDTaken`.
    package func importDeviceKey(
        _ key: DeviceKey, named name: String, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try importDeviceKey(key, named: name, topic: nil, at: now)
    }

    /// Imports a key generated elsewhere under the name `default`, for any app.
    ///
    /// - Throws: `nameTaken`, `keyIDTaken`.
    package func importDeviceKey(_ key: DeviceKey, at now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try importDeviceKey(key, named: Self.defaultName, topic: nil, at: now)
    }

    /// Generates the next key of a name, of the same suite.
    ///
    /// - Throws: `unknownName`, `ambiguousName`, `rotationRefused`, `unsupportedSuite`.
    public func rotateDeviceKey(named name: String?, at now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try rotateDeviceKey(named: name, suite: nil, at: now)
    }

    /// Generates the next key of the default name.
    ///
    /// - Throws: `unknownName`, `ambiguousName`, `rotationRefused`.
    public func rotateDeviceKey(at now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try rotateDeviceKey(named: nil, at: now)
    }

    /// Activates the pending key of a name, with the standard grace period for the one before it.
    ///
    /// - Returns: nil as for the call with a grace period.
    /// - Throws: `unknownName`, `ambiguousName`.
    public func confirmDeviceKey(
        named name: String? = nil, acknowledged: KeyID? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try confirmDeviceKey(named: name, acknowledged: acknowledged, grace: Self.standardGrace, at: now)
    }

    /// Activates whichever key of a name is pending.
    ///
    /// - Returns: nil if no key is pending.
    /// - Throws: `unknownName`, `ambiguousName`.
    public func confirmDeviceKey(
        named name: String? = nil, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try confirmDeviceKey(named: name, acknowledged: nil, grace: grace, at: now)
    }

    /// Deletes the retired keys of the default name whose end date has passed, and returns them.
    ///
    /// - Throws: `ambiguousName`.
    public func purgeRetiredDeviceKeys(at now: Timestamp) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try purgeRetiredDeviceKeys(named: nil, at: now)
    }

    /// Deletes all keys of the default name, and returns them.
    ///
    /// - Throws: `ambiguousName`.
    package func purgeDeviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] { try purgeDeviceKeys(named: nil) }

    /// Pins a provider's key for an account.
    ///
    /// - Throws: The errors of `pinProvider(_:for:topic:at:)`.
    @discardableResult
    public func pinProvider(
        _ key: ProviderPublicKey, certificate: Certificate? = nil, for account: String = Self.defaultName,
        topic: Topic? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try pinProvider(ProviderPin(key, certificate: certificate), for: account, topic: topic, at: now)
    }

    /// Learns a certificate that a reply brought, of the first of an account's providers under whose key it verifies.
    ///
    /// - Throws: `wrongCertificate` if it verifies under none of them.
    package func acceptCertificate(
        _ certificate: Certificate, for account: String, topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderTrust.Change {
        for pin in try trust(for: topic, account: account).pins where certificate.isSigned(by: pin.key, for: topic) {
            return try acceptCertificate(certificate, of: pin.key, topic: topic, at: now)
        }
        throw KeyStoreError(
            .wrongCertificate,
            "the certificate was signed by no provider that account '\(account)' trusts: it is ignored")
    }

    /// Stores what a message changed, with the standard grace period for a replaced key.
    public func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        at now: Timestamp
    ) throws(KeyStoreError) {
        try settle(
            openedWith: publicKey, provider: provider, certificate: certificate, topic: topic,
            grace: Self.standardGrace, at: now)
    }
}

extension Certificate {
    /// Whether a provider key signed the certificate for an app.
    package func isSigned(by provider: ProviderPublicKey, for topic: Topic) -> Bool {
        (try? check(for: provider, topic: topic)) != nil
    }
}
