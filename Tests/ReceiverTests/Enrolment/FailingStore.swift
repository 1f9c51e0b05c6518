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
        var observer: ((any DeviceKeyStore) -> Void)?
    }

    init(_ store: any DeviceKeyStore) { self.store = store }

    /// The error of every later call, or of every later call that changes something.
    func fail(with error: KeyStoreError?, onlyWrites: Bool = false) {
        state.withLock { state in
            state.failure = onlyWrites ? nil : error
            state.failsToWrite = error
        }
    }

    /// Calls this before every call that could change something, with the store as it is then.
    func observeWrites(_ observer: @escaping (any DeviceKeyStore) -> Void) { state.withLock { $0.observer = observer } }

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
            state.withLock { $0.observer }?(store)
            return store
        }
    }

    func deviceKey(id: KeyID, at now: Timestamp) throws(KeyStoreError) -> StoredDeviceKey? {
        try reading.deviceKey(id: id, at: now)
    }

    func trust(for topic: Topic, account: String) throws(KeyStoreError) -> ProviderTrust {
        try reading.trust(for: topic, account: account)
    }

    func trust(in provider: ProviderPublicKey, for topic: Topic) throws(KeyStoreError) -> ProviderTrust {
        try reading.trust(in: provider, for: topic)
    }

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

    func updateKey(of account: String) throws(KeyStoreError) -> SigningKey { try reading.updateKey(of: account) }

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

    func replaceRefusedDeviceKey(
        _ key: DevicePublicKey, named name: String, suite: CipherSuite, grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try writing.replaceRefusedDeviceKey(key, named: name, suite: suite, grace: grace, at: now)
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
    func removeAccount(_ account: String) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try writing.removeAccount(account)
    }

    @discardableResult
    func pinProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try writing.pinProvider(pin, for: account, topic: topic, at: now)
    }

    func pinFirstProvider(
        _ pin: ProviderPin, for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try writing.pinFirstProvider(pin, for: account, topic: topic, at: now)
    }

    func setPins(
        _ pins: [ProviderPin], for account: String, topic: Topic?, at now: Timestamp
    ) throws(KeyStoreError) {
        try writing.setPins(pins, for: account, topic: topic, at: now)
    }

    @discardableResult
    func unpinProvider(_ key: ProviderPublicKey, for account: String) throws(KeyStoreError) -> Bool {
        try writing.unpinProvider(key, for: account)
    }

    func pinnedProviders() throws(KeyStoreError) -> [PinnedProviderRecord] { try reading.pinnedProviders() }

    @discardableResult
    func acceptCertificate(
        _ certificate: Certificate, of provider: ProviderPublicKey, topic: Topic, at now: Timestamp
    ) throws(KeyStoreError) -> ProviderTrust.Change {
        try writing.acceptCertificate(certificate, of: provider, topic: topic, at: now)
    }

    func settle(
        openedWith publicKey: DevicePublicKey, provider: ProviderPublicKey, certificate: Certificate?, topic: Topic,
        grace: Interval, at now: Timestamp
    ) throws(KeyStoreError) {
        try writing.settle(
            openedWith: publicKey, provider: provider, certificate: certificate, topic: topic, grace: grace, at: now)
    }

    func purgeEverything() throws(KeyStoreError) { try writing.purgeEverything() }
}
