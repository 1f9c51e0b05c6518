import Pushcrypt
import PushcryptKeyStore

/// A key store that fails when a test says so, and counts what is made in it.
final class FailingStore: KeyStore {
    private let store: any KeyStore
    private let state = Locked(State())

    private final class State {
        var failure: KeyStoreError?
        var failsToWrite: KeyStoreError?
        var writes = 0
    }

    init(_ store: any KeyStore) { self.store = store }

    /// What every call throws from now on, or every call that changes something.
    func fail(with error: KeyStoreError?, onlyWrites: Bool = false) {
        state.withLock { state in
            state.failure = onlyWrites ? nil : error
            state.failsToWrite = error
        }
    }

    /// How many calls could have changed something.
    var writes: Int { state.withLock { $0.writes } }

    private var reading: any KeyStore {
        get throws(KeyStoreError) {
            if let failure = state.withLock({ $0.failure }) { throw failure }
            return store
        }
    }

    private var writing: any KeyStore {
        get throws(KeyStoreError) {
            let failure = state.withLock { state in
                state.writes += 1
                return state.failsToWrite
            }
            if let failure { throw failure }
            return store
        }
    }

    func deviceKey(
        id: KeyID, now: Timestamp
    ) throws(KeyStoreError) -> (record: DeviceKeyRecord, key: DeviceKey)? {
        try reading.deviceKey(id: id, now: now)
    }

    func trust(for topic: Topic) throws(KeyStoreError) -> SenderTrust { try reading.trust(for: topic) }

    func generateDeviceKey(name: String, topic: Topic?, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try writing.generateDeviceKey(name: name, topic: topic, now: now)
    }

    func importDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord {
        try writing.importDeviceKey(key, name: name, topic: topic, now: now)
    }

    func deviceKeys() throws(KeyStoreError) -> [DeviceKeyRecord] { try reading.deviceKeys() }

    func deviceKeys(named name: String?) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try reading.deviceKeys(named: name)
    }

    func setDefaultDeviceKey(name: String) throws(KeyStoreError) { try writing.setDefaultDeviceKey(name: name) }

    func rotateDeviceKey(name: String?, now: Timestamp) throws(KeyStoreError) -> DeviceKeyRecord {
        try writing.rotateDeviceKey(name: name, now: now)
    }

    func confirmDeviceKey(
        name: String?, acknowledged: KeyID?, graceSeconds: UInt64, now: Timestamp
    ) throws(KeyStoreError) -> DeviceKeyRecord? {
        try writing.confirmDeviceKey(name: name, acknowledged: acknowledged, graceSeconds: graceSeconds, now: now)
    }

    func purgeDeviceKeys(
        name: String?, now: Timestamp, everything: Bool
    ) throws(KeyStoreError) -> [DeviceKeyRecord] {
        try writing.purgeDeviceKeys(name: name, now: now, everything: everything)
    }

    @discardableResult
    func trustSender(
        name: String, _ key: SenderPublicKey, topic: Topic?, replace: Bool, now: Timestamp
    ) throws(KeyStoreError) -> RegistrationOutcome {
        try writing.trustSender(name: name, key, topic: topic, replace: replace, now: now)
    }

    func trustedSenders() throws(KeyStoreError) -> [TrustedSenderRecord] { try reading.trustedSenders() }

    @discardableResult
    func removeTrustedSender(_ name: String) throws(KeyStoreError) -> Bool { try writing.removeTrustedSender(name) }

    func acceptStatements(
        _ statements: [RotationStatement], topic: Topic, now: Timestamp
    ) throws(KeyStoreError) -> [SenderTrust.Change] {
        try writing.acceptStatements(statements, topic: topic, now: now)
    }

    func settle(
        openedWith publicKey: DevicePublicKey, statements: [RotationStatement], topic: Topic, graceSeconds: UInt64,
        now: Timestamp
    ) throws(KeyStoreError) {
        try writing.settle(
            openedWith: publicKey, statements: statements, topic: topic, graceSeconds: graceSeconds, now: now)
    }

    func purgeEverything() throws(KeyStoreError) { try writing.purgeEverything() }
}
