public import Pushcrypt

/// A device's keys and trusted senders in the Keychain of an Apple system, for the app and its extensions.
///
/// They lie in one item, accessible after the first unlock, on this device only, in an access group that the app and the
/// extension share; it is not synchronised. A change is one call to the Keychain: it happens or it does not, and of two
/// processes that change something at once neither undoes the other. Secrets are copied at once into guarded memory; the
/// copies that the system makes are out of reach.
///
/// The item outlives the app's removal: what is found at the first launch of an installation is for the app to keep or to
/// delete, with `purgeEverything`. It does not move to another device with a backup.
///
/// There is nothing to set up: `generateDeviceKey` and `trustSender` make the item. While there is none, or it cannot be
/// read, `deviceKey` and `trust` throw: `storeMissing` when it is not there, `storeLocked` before the first unlock,
/// `corruptStore`. Nothing that is read ever writes, and a failure never makes or changes a key. What each call
/// guarantees and throws is said where `DeviceKeyStore` asks for it.
public final class KeychainKeyStore: DeviceKeyStore {
    /// How often a change is tried again because another one came first; each time, somebody's change was made.
    private static let attempts = 100

    private let item: KeychainItem
    private let makeDeviceKey: @Sendable () -> DeviceKey

    package init(
        items: any SecItems, accessGroup: String, service: String = standardService,
        makeDeviceKey: @escaping @Sendable () -> DeviceKey = { DeviceKey() }
    ) {
        item = KeychainItem(items: items, service: service, accessGroup: accessGroup)
        self.makeDeviceKey = makeDeviceKey
    }

    /// The name of the item's service unless the caller says otherwise.
    public static let standardService = "pushcrypt"

    // MARK: Opening

    /// The key that an envelope names, if it may open now.
    public func deviceKey(
        id: KeyID, at now: Timestamp
    ) throws(KeyStoreError) -> StoredDeviceKey? {
        try existing().openingKey(id: id, at: now)
    }

    /// The senders that are believed for an app.
    public func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust { try existing().trust(for: topic) }

    /// Keeps what a message has changed.
    public func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, grace: Interval,
        at now: Timestamp
    ) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in
            try store.settle(
                openedWith: publicKey, statements: statements, topic: topic, grace: grace, at: now)
        }
    }

    // MARK: Device keys

    /// Makes the first key of a name.
    public func generateDeviceKey(
        named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.generateDeviceKey(named: name, topic: topic, making: makeDeviceKey, at: now)
        }
    }

    /// Takes a key that was made elsewhere as the first of a name.
    public func importDeviceKey(
        _ key: DeviceKey, named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.importDeviceKey(key, named: name, topic: topic, at: now)
        }
    }

    /// Every key of every name.
    public func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] { try present().deviceKeyRecords() }

    /// The keys of one name.
    public func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try present().deviceKeyRecords(named: name)
    }

    /// Makes a name the one that is meant when none is given.
    public func setDefaultDeviceKey(named name: String) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in try store.setDefault(name) }
    }

    /// Makes the next key of a name, or gives the pending one again.
    public func rotateDeviceKey(named name: String?, at now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.rotateDeviceKey(named: name, making: makeDeviceKey, at: now)
        }
    }

    /// Makes the pending key of a name active.
    public func confirmDeviceKey(
        named name: String?, acknowledged: KeyID?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try change { (store) throws(KeyStoreError) in
            try store.confirmDeviceKey(named: name, acknowledged: acknowledged, grace: grace, at: now)
        }
    }

    /// Deletes the retired keys of a name whose end date has passed.
    public func purgeRetiredDeviceKeys(
        named name: String?, at now: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try change { (store) throws(KeyStoreError) in try store.purgeDeviceKeys(named: name, at: now) }
    }

    /// Deletes all keys of a name.
    public func purgeDeviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try change { (store) throws(KeyStoreError) in try store.purgeDeviceKeys(named: name) }
    }

    // MARK: Trusted senders

    /// Pins a sender's key.
    @discardableResult
    public func trustSender(
        _ key: SenderPublicKey, named name: String, topic: Topic?, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try change { (store) throws(KeyStoreError) in
            try store.trustSender(key, named: name, topic: topic, replace: replace, at: now)
        }
    }

    /// Every sender that is or was believed.
    public func trustedSenders() throws(KeyStoreError) -> [TrustedSenderRecord] {
        try present().trustedSenders().map(\.record)
    }

    /// Stops believing a sender, its superseded keys included.
    @discardableResult
    public func removeTrustedSender(named name: String) throws(KeyStoreError) -> Bool {
        try change { (store) throws(KeyStoreError) in try store.removeTrustedSender(named: name) }
    }

    /// Accepts rotation statements that reached the device outside a message, all or none.
    public func acceptStatements(
        _ statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> [SenderTrust.Change] {
        try change { (store) throws(KeyStoreError) in try store.accept(statements, topic: topic, at: now) }
    }

    /// Deletes the item; a damaged one too.
    public func purgeEverything() throws(KeyStoreError) { try item.delete() }

    // MARK: The item

    /// For opening, which says that there are no keys at all.
    private func existing() throws(KeyStoreError) -> KeychainTransaction {
        guard let found = try item.read() else { throw item.missing }
        return KeychainTransaction(found.contents)
    }

    private func present() throws(KeyStoreError) -> KeychainTransaction {
        KeychainTransaction(try item.read()?.contents ?? KeychainContents())
    }

    /// Changes what is there now, or makes it; again from the start when another process has changed it meanwhile.
    private func change<R>(
        _ body: (KeychainTransaction) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        for _ in 0..<Self.attempts {
            let found = try item.read()
            let transaction = KeychainTransaction(found?.contents ?? KeychainContents())
            let result = try body(transaction)
            guard transaction.isChanged else { return result }
            let isDone =
                if let found {
                    try item.replace(found.revision, with: transaction.contents)
                } else {
                    try item.add(transaction.contents)
                }
            if isDone { return result }
        }
        throw KeyStoreError(.storeBusy, "others change the device's keys all the time: try again")
    }
}
