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
/// guarantees and throws is said where `KeyStore` asks for it.
public final class KeychainKeyStore: KeyStore {
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
        id: KeyID, now: Timestamp
    ) throws(KeyStoreError) -> (record: DeviceKeyRecord, key: DeviceKey)? {
        try existing().openingKey(id: id, now: now)
    }

    /// The senders that are believed for an app.
    public func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust { try existing().trust(for: topic) }

    /// Keeps what a message has changed.
    public func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, graceSeconds: UInt64,
        now: Timestamp
    ) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in
            try store.settle(
                openedWith: publicKey, statements: statements, topic: topic, graceSeconds: graceSeconds, now: now)
        }
    }

    // MARK: Device keys

    /// Makes the first key of a name.
    public func generateDeviceKey(
        name: String, topic: Topic?, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.generateDeviceKey(name: name, topic: topic, making: makeDeviceKey, now: now)
        }
    }

    /// Takes a key that was made elsewhere as the first of a name.
    public func importDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.importDeviceKey(key, name: name, topic: topic, now: now)
        }
    }

    /// Every key of every name.
    public func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] { try present().deviceKeyRecords() }

    /// The keys of one name.
    public func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try present().deviceKeyRecords(named: name)
    }

    /// Makes a name the one that is meant when none is given.
    public func setDefaultDeviceKey(name: String) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in try store.setDefault(name) }
    }

    /// Makes the next key of a name, or gives the pending one again.
    public func rotateDeviceKey(name: String?, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.rotateDeviceKey(name: name, making: makeDeviceKey, now: now)
        }
    }

    /// Makes the pending key of a name active.
    public func confirmDeviceKey(
        name: String?, acknowledged: KeyID?, graceSeconds: UInt64, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try change { (store) throws(KeyStoreError) in
            try store.confirmDeviceKey(name: name, acknowledged: acknowledged, graceSeconds: graceSeconds, now: now)
        }
    }

    /// Deletes the keys of a name that have retired and passed their end date, or all of them.
    public func purgeDeviceKeys(
        name: String?, now: Timestamp, everything: Bool
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try change { (store) throws(KeyStoreError) in
            try store.purgeDeviceKeys(name: name, now: now, everything: everything)
        }
    }

    // MARK: Trusted senders

    /// Pins a sender's key.
    @discardableResult
    public func trustSender(
        name: String, _ key: SenderPublicKey, topic: Topic?, replace: Bool, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try change { (store) throws(KeyStoreError) in
            try store.trustSender(name: name, key, topic: topic, replace: replace, now: now)
        }
    }

    /// Every sender that is or was believed.
    public func trustedSenders() throws(KeyStoreError) -> [TrustedSenderRecord] {
        try present().trustedSenders().map(\.record)
    }

    /// Stops believing a sender, its superseded keys included.
    @discardableResult
    public func removeTrustedSender(_ name: String) throws(KeyStoreError) -> Bool {
        try change { (store) throws(KeyStoreError) in try store.removeTrustedSender(name) }
    }

    /// Accepts rotation statements that reached the device outside a message, all or none.
    public func acceptStatements(
        _ statements: [RotationStatement], topic: Topic, now: Timestamp
    ) throws(KeyStoreError) -> [SenderTrust.Change] {
        try change { (store) throws(KeyStoreError) in try store.accept(statements, topic: topic, now: now) }
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
