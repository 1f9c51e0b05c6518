public import Pushcrypt

/// A device's keys and trusted senders in the Keychain of an Apple system, for the app and its extensions.
///
/// They are stored in one item, accessible after the first unlock, on this device only, in an access group that the app
/// and the extension share; it is not synchronised. A change is one call to the Keychain: it happens or it does not,
/// and concurrent changes by two processes do not undo each other. Secrets are copied into guarded memory at once; the
/// copies made by the system are out of reach.
///
/// The item outlives the app's removal: what is found at the first launch of an installation is the app's to keep or to
/// delete, with `purgeEverything`. A backup does not move it to another device.
///
/// No setup is needed: `generateDeviceKey` and `pinProvider` create the item. While it is missing or unreadable,
/// `deviceKey` and `trust` throw: `storeMissing` if it does not exist, `storeLocked` before the first unlock,
/// `corruptStore`. Reading never writes, and a failure never creates or changes a key. `DeviceKeyStore` documents the
/// guarantees and errors of each call.
public final class KeychainKeyStore: DeviceKeyStore {
    /// How often a change is retried because another came first; each retry means that some other change succeeded.
    private static let attempts = 100

    private let item: KeychainItem
    private let makeDeviceKey: KeyMaker

    package init(
        items: any SecItems, accessGroup: String, service: String = standardService,
        makeDeviceKey: @escaping KeyMaker = { (suite) throws(KeyError) in try DeviceKey(suite) }
    ) {
        item = KeychainItem(items: items, service: service, accessGroup: accessGroup)
        self.makeDeviceKey = makeDeviceKey
    }

    /// The name of the item's service if the caller does not give one.
    public static let standardService = "pushcrypt"

    // MARK: Opening

    /// Returns the key that an envelope names, if it may open now.
    public func deviceKey(
        id: KeyID, at now: Timestamp
    ) throws(KeyStoreError) -> StoredDeviceKey? {
        try existing().openingKey(id: id, at: now)
    }

    /// Returns the senders trusted for an app.
    public func trust(for topic: Topic) throws(KeyStoreError) -> ProviderTrust { try existing().trust(for: topic) }

    /// Stores what a message changed.
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

    /// Generates the first key of a name.
    public func generateDeviceKey(
        named name: String, topic: Topic?, suite: CipherSuite, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.generateDeviceKey(named: name, topic: topic, suite, making: makeDeviceKey, at: now)
        }
    }

    /// Imports a key generated elsewhere as the first of a name.
    public func importDeviceKey(
        _ key: DeviceKey, named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.importDeviceKey(key, named: name, topic: topic, at: now)
        }
    }

    /// Returns every key of every name.
    public func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] { try present().deviceKeyRecords() }

    /// Returns the keys of one name.
    public func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try present().deviceKeyRecords(named: name)
    }

    /// Sets the default name.
    public func setDefaultDeviceKey(named name: String) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in try store.setDefault(name) }
    }

    /// Generates the next key of a name, or returns the pending one.
    public func rotateDeviceKey(
        named name: String?, suite: CipherSuite?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.rotateDeviceKey(named: name, suite, making: makeDeviceKey, at: now)
        }
    }

    /// Retires a pending key that its provider has refused.
    @discardableResult
    public func retirePendingDeviceKey(
        _ key: DevicePublicKey, named name: String?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> Bool {
        try change { (store) throws(KeyStoreError) in
            try store.retirePendingDeviceKey(key, named: name, grace: grace, at: now)
        }
    }

    /// Activates the pending key of a name.
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

    /// Deletes the retired keys of every name that ended long ago.
    @discardableResult
    public func purgeRetiredDeviceKeys(
        at now: Timestamp, accepted sentAt: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try change { (store) throws(KeyStoreError) in try store.purgeDeviceKeys(at: now, accepted: sentAt) }
    }

    /// Deletes all keys of a name.
    public func purgeDeviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try change { (store) throws(KeyStoreError) in try store.purgeDeviceKeys(named: name) }
    }

    // MARK: Trusted senders

    /// Pins a sender's key.
    @discardableResult
    public func pinProvider(
        _ key: ProviderPublicKey, named name: String, topic: Topic?, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try change { (store) throws(KeyStoreError) in
            try store.pinProvider(key, named: name, topic: topic, replace: replace, at: now).outcome
        }
    }

    /// Pins the first key of a sender, together with its recovery keys.
    public func pinFirstProvider(
        _ key: ProviderPublicKey, recoveryKeys: [RecoveryPublicKey], named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in
            _ = try store.pinProvider(
                key, recoveryKeys: recoveryKeys, named: name, topic: topic, replace: false, at: now)
        }
    }

    /// Returns every sender that is or was trusted.
    public func pinnedProviders() throws(KeyStoreError) -> [PinnedProviderRecord] {
        try present().pinnedProviderRecords()
    }

    /// Ends the trust in a sender and its superseded keys.
    @discardableResult
    public func unpinProvider(named name: String) throws(KeyStoreError) -> Bool {
        try change { (store) throws(KeyStoreError) in try store.unpinProvider(named: name) }
    }

    /// Accepts rotation statements that reached the device outside a message, all or none.
    public func acceptStatements(
        _ statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> [ProviderTrust.Change] {
        try change { (store) throws(KeyStoreError) in try store.accept(statements, topic: topic, at: now) }
    }

    /// Returns the recovery keys of a sender.
    public func recoveryKeys(ofProvider name: String) throws(KeyStoreError) -> [RecoveryPublicKey] {
        try present().recoveryKeys(ofProvider: name)
    }

    /// Replaces the recovery keys of a sender.
    public func setRecoveryKeys(_ keys: [RecoveryPublicKey], ofProvider name: String) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in
            try store.setRecoveryKeys(keys, ofProvider: name, revokingSenders: true)
        }
    }

    /// Deletes the item, even a damaged one.
    public func purgeEverything() throws(KeyStoreError) { try item.delete() }

    // MARK: The item

    /// For opening; throws if there are no keys at all.
    private func existing() throws(KeyStoreError) -> KeychainTransaction {
        guard let found = try item.read() else { throw item.missing }
        return KeychainTransaction(found.contents)
    }

    private func present() throws(KeyStoreError) -> KeychainTransaction {
        KeychainTransaction(try item.read()?.contents ?? KeychainContents())
    }

    /// Changes the contents or creates them; starts over if another process has changed them meanwhile.
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
        throw KeyStoreError(.storeBusy, "other processes keep changing the device's keys: try again")
    }
}

/// A change of a Keychain item before it is written; a failure on the way discards it.
final class KeychainTransaction: DeviceStorage, KeyNames {
    private(set) var contents: KeychainContents
    private(set) var isChanged = false

    init(_ contents: KeychainContents) { self.contents = contents }

    private func change(_ body: (inout KeychainContents) -> Void) {
        body(&contents)
        isChanged = true
    }

    // MARK: Names

    var deviceNames: KeychainTransaction { self }
    var kind: KeyKind { .device }

    func exists(_ name: String) -> Bool { contents.keys.contains { StoreName.areEqual($0.name, name) } }

    func hasKeyID(_ id: KeyID) -> Bool { deviceKeyRow(id: id) != nil }

    func all() -> [String] {
        deviceKeyRows().map(\.name).reduce(into: []) { names, name in
            if !(names.last.map { StoreName.areEqual($0, name) } ?? false) { names.append(name) }
        }
    }

    func defaultName() -> String? { contents.defaultName }

    func setDefaultName(_ name: String?) {
        guard name.map({ Bytes($0.utf8) }) != contents.defaultName.map({ Bytes($0.utf8) }) else { return }
        change { $0.defaultName = name }
    }

    // MARK: Device keys

    func deviceKeyRows() -> [KeychainContents.KeyRow] {
        contents.keys.sorted { a, b in
            StoreName.areEqual(a.name, b.name)
                ? a.generation < b.generation : a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
        }
    }

    func deviceKeyRows(_ name: String) -> [KeychainContents.KeyRow] {
        contents.keys.filter { StoreName.areEqual($0.name, name) }
    }

    func deviceKeyRow(id: KeyID) -> KeychainContents.KeyRow? { contents.keys.first { $0.publicKey.id == id } }

    func secret(of row: KeychainContents.KeyRow) throws(KeyStoreError) -> DeviceKey {
        guard case .usable(let key) = row.secret else { throw .unsupportedSuite }
        return key
    }

    func addDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, generation: UInt64, state: DeviceKeyRecord.State,
        at now: Timestamp
    ) -> KeychainContents.KeyRow {
        let row = KeychainContents.KeyRow(
            name: name, topic: topic, publicKey: key.publicKey, secret: .usable(key), generation: generation,
            state: state, createdAt: now)
        change { $0.keys.append(row) }
        return row
    }

    func move(
        _ row: KeychainContents.KeyRow, to state: DeviceKeyRecord.State, retiresAt: Timestamp?
    ) -> KeychainContents.KeyRow {
        var moved = row
        moved.state = state
        moved.retiresAt = retiresAt
        change { contents in
            for index in contents.keys.indices where contents.keys[index].publicKey == row.publicKey {
                contents.keys[index] = moved
            }
        }
        return moved
    }

    func delete(_ row: KeychainContents.KeyRow) {
        change { $0.keys.removeAll { $0.publicKey == row.publicKey } }
    }

    // MARK: Trusted senders

    func pinnedProviders() -> [PinnedProviderRow] { contents.senders }

    func newSenderNumber() throws(KeyStoreError) -> Int64 {
        let (number, overflow) = (contents.senders.last?.id ?? 0).addingReportingOverflow(1)
        guard !overflow else { throw KeychainContents.damaged }
        return number
    }

    func put(_ row: PinnedProviderRow) {
        change { contents in
            if let index = contents.senders.firstIndex(where: { $0.id == row.id }) {
                contents.senders[index] = row
            } else {
                contents.senders.append(row)
            }
        }
    }

    func delete(_ row: PinnedProviderRow) {
        change { $0.senders.removeAll { $0.id == row.id } }
    }

    func senderRecoveries() -> [SenderRecoveryRow] { contents.recoveries }

    func put(_ row: SenderRecoveryRow) {
        change { contents in
            contents.recoveries.removeAll { StoreName.areEqual($0.name, row.name) }
            contents.recoveries.append(row)
            contents.recoveries.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
    }
}
