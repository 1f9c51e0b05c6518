import Pushcrypt
import PushcryptKeyStore

/// A key store that fails when a test says so, and counts what is made in it.
final class FailingStore: DeviceKeyStore {
    private let store: any DeviceKeyStore
    private let state = Locked(State())

    private final class State {
        var failure: KeyStoreError?
        var failsToWrite: KeyStoreError?
        var writes = 0
    }

    init(_ store: any DeviceKeyStore) { self.store = store }

    /// The error of every later call, or of every later call that changes something.
    func fail(with error: KeyStoreError?, onlyWrites: Bool = false) {
        state.withLock { state in
            state.failure = onlyWrites ? nil : error
            state.failsToWrite = error
        }
    }

    /// How many calls could have changed something.
    var writes: Int { state.withLock { $0.writes } }

    private var reading: any DeviceKeyStore {
        get throws(KeyStoreError) {
            if let failure = state.withLock({ $0.failure }) { throw failure }
            return store
        }
    }

    private var writing: any DeviceKeyStore {
        get throws(KeyStoreError) {
            let failure = state.withLock { state in
                state.writes += 1
                return state.failsToWrite
            }
            if let failure { throw failure }
            return store
        }
    }

    func deviceKey(id: KeyID, at now: Timestamp) throws(KeyStoreError) -> StoredDeviceKey? {
        try reading.deviceKey(id: id, at: now)
    }

    func trust(for topic: Topic) throws(KeyStoreError) -> ProviderTrust { try reading.trust(for: topic) }

    func generateDeviceKey(
        named name: String, topic: Topic?, suite: CipherSuite, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try writing.generateDeviceKey(named: name, topic: topic, suite: suite, at: now)
    }

    func importDeviceKey(
        _ key: DeviceKey, named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try writing.importDeviceKey(key, named: name, topic: topic, at: now)
    }

    func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] { try reading.deviceKeys() }

    func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try reading.deviceKeys(named: name)
    }

    func setDefaultDeviceKey(named name: String) throws(KeyStoreError) { try writing.setDefaultDeviceKey(named: name) }

    func rotateDeviceKey(
        named name: String?, suite: CipherSuite?, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try writing.rotateDeviceKey(named: name, suite: suite, at: now)
    }

    func retirePendingDeviceKey(
        _ key: DevicePublicKey, named name: String?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> Bool {
        try writing.retirePendingDeviceKey(key, named: name, grace: grace, at: now)
    }

    func confirmDeviceKey(
        named name: String?, acknowledged: KeyID?, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try writing.confirmDeviceKey(named: name, acknowledged: acknowledged, grace: grace, at: now)
    }

    func purgeRetiredDeviceKeys(named name: String?, at now: Timestamp) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try writing.purgeRetiredDeviceKeys(named: name, at: now)
    }

    @discardableResult
    func purgeRetiredDeviceKeys(
        at now: Timestamp, accepted sentAt: Timestamp
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try writing.purgeRetiredDeviceKeys(at: now, accepted: sentAt)
    }

    func purgeDeviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try writing.purgeDeviceKeys(named: name)
    }

    @discardableResult
    func pinProvider(
        _ key: ProviderPublicKey, named name: String, topic: Topic?, replace: Bool, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try writing.pinProvider(key, named: name, topic: topic, replace: replace, at: now)
    }

    func pinFirstProvider(
        _ key: ProviderPublicKey, recoveryKeys: [RecoveryPublicKey], named name: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try writing.pinFirstProvider(key, recoveryKeys: recoveryKeys, named: name, topic: topic, at: now)
    }

    func pinnedProviders() throws(KeyStoreError) -> [PinnedProviderRecord] { try reading.pinnedProviders() }

    @discardableResult
    func unpinProvider(named name: String) throws(KeyStoreError) -> Bool {
        try writing.unpinProvider(named: name)
    }

    func recoveryKeys(ofProvider name: String) throws(KeyStoreError) -> [RecoveryPublicKey] {
        try reading.recoveryKeys(ofProvider: name)
    }

    func setRecoveryKeys(_ keys: [RecoveryPublicKey], ofProvider name: String) throws(KeyStoreError) {
        try writing.setRecoveryKeys(keys, ofProvider: name)
    }

    func acceptStatements(
        _ statements: [RotationStatement], topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> [ProviderTrust.Change] {
        try writing.acceptStatements(statements, topic: topic, at: now)
    }

    func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, grace: Interval,
        at now: Timestamp
    ) throws(KeyStoreError) {
        try writing.settle(
            openedWith: publicKey, statements: statements, topic: topic, grace: grace, at: now)
    }

    func purgeEverything() throws(KeyStoreError) { try writing.purgeEverything() }
}
