public import Pushcrypt

/// A device's keys and pinned providers in the Keychain of an Apple system, for the app and its extensions.
///
/// They are stored in one item, and what was learned of providers in a second one: accessible after the first unlock,
/// on this device only, in an access group that the app and the extension share; not synchronised. A change of an item
/// is one call to the Keychain: it happens or it does not, and concurrent changes by two processes do not undo each
/// other. What was learned is written before the pin or key that comes with it. Secrets are copied into guarded memory
/// at once; the copies made by the system are out of reach.
///
/// The items outlive the app's removal: what is found at the first launch of an installation is the app's to keep or to
/// delete, with `purgeEverything`. A backup does not move it to another device.
///
/// No setup is needed: `generateDeviceKey` and `pinProvider` create the items. While the first is missing or
/// unreadable, `deviceKey` and `trust` throw: `storeMissing` if it does not exist, `storeLocked` before the first
/// unlock, `corruptStore`. Reading never writes, and a failure never creates or changes a key. `DeviceKeyStore`
/// documents the guarantees and errors of each call.
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

    /// Returns the providers that an account trusts for an app.
    public func trust(for topic: Topic, account: String) throws(KeyStoreError) -> ProviderTrust {
        try existing().trust(for: topic, account: account)
    }

    /// Stores what a message changed.
    public func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in
            try store.settle(
                openedWith: publicKey, provider: provider, certificate: certificate, topic: topic, grace: grace, at: now
            )
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

    /// Generates the key that follows one which the provider refuses.
    public func replaceRefusedDeviceKey(
        _ key: DevicePublicKey, named name: String, suite: CipherSuite, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try change { (store) throws(KeyStoreError) in
            try store.replaceRefusedDeviceKey(
                key, named: name, suite: suite, making: makeDeviceKey, grace: grace, at: now)
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

    /// Returns the key under which the device signs an account's records, making one the first time.
    public func updateKey(of account: String) throws(KeyStoreError) -> SigningKey {
        try change { (store) throws(KeyStoreError) in try store.newUpdateKey(of: account) }
    }

    /// Deletes the keys and pins of an account.
    @discardableResult
    public func removeAccount(_ account: String) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try change { (store) throws(KeyStoreError) in try store.removeAccount(account) }
    }

    // MARK: Trust

    /// Returns what is known of a provider, pinned or not.
    public func trust(in provider: ProviderPublicKey, for topic: Topic) throws(KeyStoreError) -> ProviderTrust {
        try present().trust(in: provider, for: topic)
    }

    /// Pins a provider's key for an account.
    @discardableResult
    public func pinProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try change { (store) throws(KeyStoreError) in
            try store.pinProvider(pin, for: account, topic: topic, at: now)
        }
    }

    /// Pins the key in a provider's first reply.
    public func pinFirstProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in
            try store.pinFirstProvider(pin, for: account, topic: topic, at: now)
        }
    }

    /// Makes these the only pins of an account.
    public func setPins(
        _ pins: [ProviderPin], for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try change { (store) throws(KeyStoreError) in try store.setPins(pins, for: account, topic: topic, at: now) }
    }

    /// Removes a pin of an account.
    @discardableResult
    public func unpinProvider(_ key: ProviderPublicKey, for account: String) throws(KeyStoreError) -> Bool {
        try change { (store) throws(KeyStoreError) in try store.unpinProvider(key, for: account) }
    }

    /// Returns the pins of every account.
    public func pinnedProviders() throws(KeyStoreError) -> [PinnedProviderRecord] {
        try present().pins().map(\.record)
    }

    /// Verifies a certificate that reached the device outside a message, and learns it.
    @discardableResult
    public func acceptCertificate(
        _ certificate: Certificate, of provider: ProviderPublicKey, topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderTrust.Change {
        try change { (store) throws(KeyStoreError) in try store.accept(certificate, of: provider, topic: topic) }
    }

    /// Deletes the item with the keys and pins, even a damaged one, and a damaged one with what was learned.
    public func purgeEverything() throws(KeyStoreError) {
        try item.delete(KeychainContents.self)
        do throws(KeyStoreError) {
            _ = try item.read(LearnedContents.self)
        } catch {
            guard error.code == .corruptStore else { throw error }
            try item.delete(LearnedContents.self)
        }
    }

    // MARK: The items

    /// For opening; throws if there are no keys at all.
    private func existing() throws(KeyStoreError) -> KeychainTransaction {
        guard let found = try item.read(KeychainContents.self) else { throw item.missing }
        return KeychainTransaction(found.contents, of: item)
    }

    private func present() throws(KeyStoreError) -> KeychainTransaction {
        KeychainTransaction(try item.read(KeychainContents.self)?.contents ?? KeychainContents(), of: item)
    }

    /// Changes the contents or creates them; starts over if another process has changed them meanwhile.
    private func change<R>(
        _ body: (KeychainTransaction) throws(KeyStoreError) -> R
    ) throws(KeyStoreError) -> R {
        for _ in 0..<Self.attempts {
            let found = try item.read(KeychainContents.self)
            let transaction = KeychainTransaction(found?.contents ?? KeychainContents(), of: item)
            let result = try body(transaction)
            // A pin without what was learned of it would believe an old certificate.
            guard try transaction.writeLearned() else { continue }
            guard transaction.isChanged else { return result }
            if try item.write(transaction.contents, replacing: found?.revision) { return result }
        }
        throw KeyStoreError(.storeBusy, "other processes keep changing the device's keys: try again")
    }
}

/// A change of the Keychain items before they are written; a failure on the way discards it.
final class KeychainTransaction: DeviceStorage, KeyNames {
    private(set) var contents: KeychainContents
    private(set) var isChanged = false
    private let item: KeychainItem
    /// Read when it is needed: most calls do not.
    private var learned: (contents: LearnedContents, revision: Bytes?)?
    private var isLearnedChanged = false

    init(_ contents: KeychainContents, of item: KeychainItem) {
        self.contents = contents
        self.item = item
    }

    private func change(_ body: (inout KeychainContents) -> Void) {
        body(&contents)
        isChanged = true
    }

    /// Writes what was learned, if it has changed; returns false if another process was faster.
    func writeLearned() throws(KeyStoreError) -> Bool {
        guard isLearnedChanged, let learned else { return true }
        return try item.write(learned.contents, replacing: learned.revision)
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

    func updateKey(of account: String) -> SigningKey? {
        contents.updateKeys.first { StoreName.areEqual($0.account, account) }?.key
    }

    func addUpdateKey(_ key: SigningKey, of account: String) {
        change { $0.updateKeys.append(KeychainContents.UpdateKey(account: account, key: key)) }
    }

    func deleteUpdateKey(of account: String) {
        guard updateKey(of: account) != nil else { return }
        change { $0.updateKeys.removeAll { StoreName.areEqual($0.account, account) } }
    }

    // MARK: Trust

    func pins() -> [PinRow] { contents.pins }

    func newPinNumber() throws(KeyStoreError) -> Int64 {
        let (number, overflow) = (contents.pins.last?.id ?? 0).addingReportingOverflow(1)
        guard !overflow else { throw KeychainContents.damaged }
        return number
    }

    func put(_ row: PinRow) { change { $0.pins.append(row) } }

    func delete(_ row: PinRow) { change { $0.pins.removeAll { $0.id == row.id } } }

    func learnedTrust(of provider: ProviderPublicKey, _ topic: Topic) throws(KeyStoreError) -> LearnedTrustRow? {
        try learnedRows().first { $0.provider == provider && $0.topic == topic }
    }

    func newLearnedNumber() throws(KeyStoreError) -> Int64 { Int64(try learnedRows().count + 1) }

    func put(_ row: LearnedTrustRow) throws(KeyStoreError) {
        var rows = try learnedRows().filter { $0.id != row.id }
        rows.append(row)
        rows.sort { $0.id < $1.id }
        learned?.contents.rows = rows
        isLearnedChanged = true
    }

    private func learnedRows() throws(KeyStoreError) -> [LearnedTrustRow] {
        if let learned { return learned.contents.rows }
        let found = try item.read(LearnedContents.self)
        learned = (found?.contents ?? LearnedContents(), found?.revision)
        return found?.contents.rows ?? []
    }
}
