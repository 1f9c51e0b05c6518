public import Pushcrypt

/// What opening a push needs of a key store, and nothing more: an extension is given no more than this.
///
/// Nothing here writes, generates or changes a key, whatever happens.
public protocol DeviceKeyReading: Sendable {
    /// The key that an envelope names, if it may open now: pending, active, or retiring up to its end date; nil when the
    /// store has no such key.
    ///
    /// - Throws: `storeMissing` when no store was ever set up here, or it was lost on a restore; `storeLocked` before the
    ///   first unlock; `corruptStore`. These are three outcomes, and none is a reason to make a key.
    func deviceKey(id: KeyID, now: Timestamp) throws(KeyStoreError) -> (record: DeviceKeyRecord, key: DeviceKey)?

    /// The senders that are believed for an app, to verify a message with; an authentic copy of what is stored now.
    ///
    /// - Throws: as `deviceKey(id:now:)`; `corruptStore` for one damaged row too: without it, trust that has ended could
    ///   come back.
    func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust
}

/// Where what an opened message has changed is kept.
public protocol OpeningEffects: Sendable {
    /// Keeps what a message has changed, once it has passed every step: that a pending key opened it, and the statements
    /// that it brought. (`Docs/Format.md`, Rotation)
    ///
    /// - Throws: whatever it throws, nothing is kept, and the message may be shown all the same.
    func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, now: Timestamp
    ) throws(KeyStoreError)
}

/// The device's side of a key store: its own keys, one name for each account and generations below it, and the senders
/// that it believes.
///
/// A key is pending, active, retiring, purged, in this order (`Docs/KeyRotation.md`). Every call that changes something is
/// one step: when it throws, or the process ends, the store is as before the call or as after it. A name of nil means the
/// default name, which is the first one until another is set. Every call may throw `corruptStore` and `inputOutput`, and
/// what the kind of store brings: `storeBusy` and `diskFull`, or `storeLocked` and `missingEntitlement`; what is listed with
/// a call comes on top.
public protocol KeyStore: DeviceKeyReading, OpeningEffects {
    // MARK: Device keys

    /// Makes the first key of a name: generation 1, active at once.
    ///
    /// - Throws: `nameTaken`, `invalidName`.
    func generateDeviceKey(name: String, topic: Topic?, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord

    /// Takes a key that was made elsewhere as the first of a name.
    ///
    /// - Throws: `nameTaken`, `invalidName`; `keyIDTaken` when the store holds this key, or one with its id.
    func importDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord

    /// Every key of every name, oldest generation first; none where no store was ever set up.
    func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord]

    /// The keys of one name, oldest generation first.
    ///
    /// - Throws: `unknownName`, `ambiguousName`.
    func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord]

    /// Makes a name the one that is meant when none is given; throws `unknownName`.
    func setDefaultDeviceKey(name: String) throws(KeyStoreError)

    /// Makes the next key of a name, durable and pending: it opens from now on, before the provider hears of it.
    ///
    /// A pending key that is there already is given again, so a lost reply is answered by asking again.
    ///
    /// - Throws: `unknownName`, `ambiguousName`; `rotationRefused` after the last generation there is.
    func rotateDeviceKey(name: String?, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord

    /// Makes the pending key of a name active, because the provider has acknowledged it; the active one retires, and
    /// opens for `graceSeconds` more.
    ///
    /// Gives nil, and changes nothing, when no key is pending, or another one than was acknowledged: a reply that comes
    /// twice must not confirm a key that the provider has never heard of. A grace shorter than the time to live of what is
    /// under way loses messages.
    ///
    /// - Parameters:
    ///   - name: whose key; nil for the default name.
    ///   - acknowledged: the key that the provider's reply names; nil for whichever is pending, when the caller knows that
    ///     the reply is to that one.
    ///   - graceSeconds: for how many seconds after `now` the key that retires goes on opening.
    ///   - now: the present time.
    /// - Throws: `unknownName`, `ambiguousName`.
    func confirmDeviceKey(
        name: String?, acknowledged: KeyID?, graceSeconds: UInt64, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord?

    /// Deletes the keys of a name that have retired and passed their end date, or, at log-out, all of them.
    ///
    /// - Returns: what was deleted; nothing for a name that has no keys, so that a log-out can be repeated.
    /// - Throws: `ambiguousName`.
    func purgeDeviceKeys(
        name: String?, now: Timestamp, everything: Bool
    ) throws(KeyStoreError) -> [DeviceKeyRecord]

    // MARK: Trusted senders

    /// Pins a sender's key, from the app, its own channel or an import; never from a message.
    ///
    /// `replace` is for after a theft: of the key that was pinned under this name, and of those before it, nothing is
    /// believed any more, messages under way included, and under no other name either.
    ///
    /// - Throws: `invalidName`; `senderAlreadyTrusted` when another key is pinned under this name; `senderSuperseded`
    ///   for a key that was superseded here; `topicMismatch` for the same key and another app, unless `replace`.
    @discardableResult
    func trustSender(
        name: String, _ key: SenderPublicKey, topic: Topic?, replace: Bool, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome

    /// Every sender that is or was believed, oldest first; none where no store was ever set up.
    func trustedSenders() throws(KeyStoreError) -> [TrustedSenderRecord]

    /// Stops believing a sender, its superseded keys included; tells whether one was pinned under this name.
    ///
    /// The superseded keys stay listed, so that none of them is ever pinned again.
    @discardableResult
    func removeTrustedSender(_ name: String) throws(KeyStoreError) -> Bool

    /// Accepts rotation statements that reached the device outside a message, all or none.
    ///
    /// - Throws: `rotationRefused`, `rotationConflict`.
    func acceptStatements(
        _ statements: [RotationStatement], topic: Topic, now: Timestamp
    ) throws(KeyStoreError) -> [SenderTrust.Change]

    // MARK: Both

    /// Keeps what a message has changed, in one step: a pending key that it opened with becomes active, the active one
    /// retires and opens for `graceSeconds` more, and the statements take effect. A device key that is gone is passed over.
    ///
    /// - Throws: `rotationRefused`, `rotationConflict` when trust has changed since the message was opened.
    func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, graceSeconds: UInt64,
        now: Timestamp
    ) throws(KeyStoreError)

    /// Deletes every device key and every trusted sender, the superseded ones too: for keys that an earlier installation of
    /// the app has left, and for no other purpose, because a stolen sender key could be pinned again afterwards.
    func purgeEverything() throws(KeyStoreError)
}

// MARK: What is usual

extension KeyStore {
    /// What a key is called when nobody says.
    public static var defaultName: String { "default" }

    /// How long a key that was replaced goes on opening unless the caller says otherwise: 31 days, in seconds; Apple keeps
    /// a push for 30.
    public static var standardGrace: UInt64 { 2_678_400 }

    /// Makes the first key of the name `default`; throws `nameTaken`.
    public func generateDeviceKey(topic: Topic? = nil, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try generateDeviceKey(name: Self.defaultName, topic: topic, now: now)
    }

    /// Makes the first key of a name, bound to no app; throws `nameTaken`, `invalidName`.
    public func generateDeviceKey(name: String, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try generateDeviceKey(name: name, topic: nil, now: now)
    }

    /// Takes a key that was made elsewhere, bound to no app; throws `nameTaken`, `invalidName`, `keyIDTaken`.
    public func importDeviceKey(
        _ key: DeviceKey, name: String, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try importDeviceKey(key, name: name, topic: nil, now: now)
    }

    /// Takes a key that was made elsewhere under the name `default`, bound to no app; throws `nameTaken`, `keyIDTaken`.
    public func importDeviceKey(_ key: DeviceKey, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try importDeviceKey(key, name: Self.defaultName, topic: nil, now: now)
    }

    /// Makes the next key of the default name; throws `unknownName`, `ambiguousName`, `rotationRefused`.
    public func rotateDeviceKey(now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try rotateDeviceKey(name: nil, now: now)
    }

    /// Makes the pending key of a name active, with the standard grace for the one before it; gives nil as the call with a
    /// grace does; throws `unknownName`, `ambiguousName`.
    public func confirmDeviceKey(
        name: String? = nil, acknowledged: KeyID? = nil, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try confirmDeviceKey(name: name, acknowledged: acknowledged, graceSeconds: Self.standardGrace, now: now)
    }

    /// Makes whichever key of a name is pending active; gives nil when none is; throws `unknownName`, `ambiguousName`.
    public func confirmDeviceKey(
        name: String? = nil, graceSeconds: UInt64, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try confirmDeviceKey(name: name, acknowledged: nil, graceSeconds: graceSeconds, now: now)
    }

    /// Deletes the keys of a name that have retired and passed their end date, and gives them; throws `ambiguousName`.
    public func purgeDeviceKeys(name: String? = nil, now: Timestamp) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try purgeDeviceKeys(name: name, now: now, everything: false)
    }

    /// Deletes keys of the default name, and gives them: what is past its end date, or everything; throws `ambiguousName`.
    public func purgeDeviceKeys(now: Timestamp, everything: Bool) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try purgeDeviceKeys(name: nil, now: now, everything: everything)
    }

    /// Pins the first key of a sender's name; throws `invalidName`, `senderAlreadyTrusted`, `senderSuperseded`,
    /// `topicMismatch`.
    @discardableResult
    public func trustSender(
        name: String, _ key: SenderPublicKey, topic: Topic? = nil, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try trustSender(name: name, key, topic: topic, replace: false, now: now)
    }

    /// Pins a sender's key for every app; throws as the call with a topic.
    @discardableResult
    public func trustSender(
        name: String, _ key: SenderPublicKey, replace: Bool, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try trustSender(name: name, key, topic: nil, replace: replace, now: now)
    }

    /// Keeps what a message has changed, with the standard grace for a key that is replaced; throws `rotationRefused`,
    /// `rotationConflict`.
    public func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, now: Timestamp
    ) throws(KeyStoreError) {
        try settle(
            openedWith: publicKey, statements: statements, topic: topic, graceSeconds: Self.standardGrace, now: now)
    }
}
